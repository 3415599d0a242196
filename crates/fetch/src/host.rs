//! Names of hosts that offer services: the form in which they are compared, and the one that people read.

use std::fmt;

use thiserror::Error;

/// A host, perhaps with a port, in the form that is compared and sent (lower case, punycode, no `:443`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host {
    ascii: String,
}

/// Why a text is no host.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HostError {
    /// A whole URL was given.
    #[error("need just a hostname and optional port number, not a full URL")]
    IsUrl,
    /// Nothing was given.
    #[error("empty string is not a valid hostname")]
    Empty,
    /// Two dots follow each other.
    #[error("hostname contains empty label (two consecutive periods)")]
    EmptyLabel,
    /// Punycode is for machines; accepting both forms would let one host hide behind two spellings.
    #[error("hostname label {0:?} specified in punycode format; service hostnames must be given in unicode")]
    Punycode(String),
    /// The port is no port.
    #[error("{0}")]
    Port(&'static str),
    /// The name breaks the rules for international names.
    #[error("{0:?} is not a valid hostname")]
    Invalid(String),
}

impl Host {
    /// Reads what a person wrote: unicode, any case, perhaps a port.
    pub fn parse(given: &str) -> Result<Self, HostError> {
        let (name, port) = split_port(given)?;
        if name.is_empty() {
            return Err(HostError::Empty);
        }
        let labels: Vec<&str> = name.strip_suffix('.').unwrap_or(name).split('.').collect();
        if labels.iter().any(|label| label.is_empty()) {
            return Err(HostError::EmptyLabel);
        }
        if let Some(label) = labels.iter().find(|label| label.starts_with("xn--")) {
            return Err(HostError::Punycode((*label).to_owned()));
        }
        Self::from_parts(name, port)
    }

    /// Reads a name that may be in punycode already, as environment variables and URLs have it.
    pub fn parse_lenient(given: &str) -> Result<Self, HostError> {
        let (name, port) = split_port(given)?;
        if name.is_empty() {
            return Err(HostError::Empty);
        }
        Self::from_parts(name, port)
    }

    /// The host of a URL, with its port unless that is the usual one for https.
    pub fn of_url(url: &url::Url) -> Option<Self> {
        let name = url.host_str()?;
        let port = url.port_or_known_default().filter(|port| *port != 443);
        Some(Self { ascii: with_port(name, port) })
    }

    fn from_parts(name: &str, port: Option<u16>) -> Result<Self, HostError> {
        let ascii = idna::domain_to_ascii_cow(name.as_bytes(), idna::AsciiDenyList::STD3)
            .map_err(|_| HostError::Invalid(name.to_owned()))?;
        let hyphen_at_edge = ascii.split('.').any(|label| label.starts_with('-') || label.ends_with('-'));
        if hyphen_at_edge || ascii.len() > 253 {
            return Err(HostError::Invalid(name.to_owned()));
        }
        Ok(Self { ascii: with_port(&ascii, port) })
    }

    /// The form for comparing and for sending.
    pub fn as_str(&self) -> &str {
        &self.ascii
    }

    /// The form for people.
    pub fn for_display(&self) -> String {
        let (name, port) = self.ascii.split_once(':').map_or((self.ascii.as_str(), None), |(n, p)| (n, Some(p)));
        let (unicode, _) = idna::domain_to_unicode(name);
        port.map_or(unicode.clone(), |port| format!("{unicode}:{port}"))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.for_display())
    }
}

fn with_port(name: &str, port: Option<u16>) -> String {
    port.map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

fn split_port(given: &str) -> Result<(&str, Option<u16>), HostError> {
    let Some((name, port)) = given.split_once(':') else { return Ok((given, None)) };
    if port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit()) {
        let is_url = name.eq_ignore_ascii_case("https") || name.eq_ignore_ascii_case("http");
        return Err(if is_url {
            HostError::IsUrl
        } else {
            HostError::Port("port portion contains non-digit characters")
        });
    }
    let port = port.parse::<u16>().map_err(|_| HostError::Port("port number is greater than 65535"))?;
    Ok((name, Some(port).filter(|port| *port != 443)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<String, HostError> {
        Host::parse(text).map(|host| host.as_str().to_owned())
    }

    #[test]
    fn hosts_are_compared_in_one_form() {
        assert_eq!(parsed("Example.COM").unwrap(), "example.com");
        assert_eq!(parsed("example.com:443").unwrap(), "example.com");
        assert_eq!(parsed("example.com:08080").unwrap(), "example.com:8080");
        assert_eq!(parsed("Испытание.com").unwrap(), "xn--80akhbyknj4f.com");
        assert_eq!(parsed("localhost").unwrap(), "localhost");
        assert_eq!(Host::parse("Испытание.com:81").unwrap().for_display(), "испытание.com:81");
    }

    #[test]
    fn what_is_no_host_is_told_why() {
        assert_eq!(parsed(""), Err(HostError::Empty));
        assert_eq!(parsed("https://example.com"), Err(HostError::IsUrl));
        assert_eq!(parsed("a..b"), Err(HostError::EmptyLabel));
        assert!(matches!(parsed("xn--80akhbyknj4f.com"), Err(HostError::Punycode(_))));
        assert!(matches!(parsed("example.com:99999"), Err(HostError::Port(_))));
        assert!(matches!(parsed("example.com:1a"), Err(HostError::Port(_))));
        for bad in ["a b.com", "a/b", "under_score.com", "-a.com", "a@b.com", "a%b"] {
            assert!(matches!(parsed(bad), Err(HostError::Invalid(_))), "{bad}");
        }
    }

    #[test]
    fn a_url_has_a_host_with_its_port() {
        let of = |text: &str| Host::of_url(&url::Url::parse(text).unwrap()).unwrap().as_str().to_owned();
        assert_eq!(of("https://example.com/x"), "example.com");
        assert_eq!(of("https://example.com:8443/x"), "example.com:8443");
        assert_eq!(of("http://example.com/x"), "example.com:80");
    }
}
