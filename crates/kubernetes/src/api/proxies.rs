//! Which proxy is on the way to a server: as it is written, or as the environment says (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`).

use std::collections::BTreeMap;
use std::net::IpAddr;

use http::Uri;

/// The proxy for a server; none if the environment names none that can be used.
pub(super) fn for_server(server: &Uri, environment: &BTreeMap<String, String>) -> Option<Uri> {
    let variable = |name: &str| {
        let lower = || environment.get(&name.to_ascii_lowercase());
        environment.get(name).or_else(lower).map(String::as_str).filter(|value| !value.is_empty())
    };
    let host = server.host()?.trim_matches(['[', ']']).to_ascii_lowercase();
    if host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback()) {
        return None;
    }
    if variable("NO_PROXY").is_some_and(|rules| rules.split(',').any(|rule| excepts(rule, &host, server.port_u16()))) {
        return None;
    }
    let name = if server.scheme_str() == Some("http") { "HTTP_PROXY" } else { "HTTPS_PROXY" };
    let proxy = variable(name)?;
    let with_scheme = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    parsed(&with_scheme).ok()
}

/// The proxy that is written there.
pub(super) fn parsed(proxy: &str) -> Result<Uri, String> {
    checked(proxy.parse().map_err(|_| "proxy_url is no URL".to_owned())?)
}

/// A proxy as the client knows it. Whoever it is, it looks up names itself, so the two ways to write socks proxies mean the same. The address
/// is not repeated: it may have a password.
pub(super) fn checked(proxy: Uri) -> Result<Uri, String> {
    let has_password = proxy.authority().is_some_and(|authority| authority.as_str().contains('@'));
    match proxy.scheme_str() {
        Some("http" | "https") => Ok(proxy),
        Some("socks5" | "socks5h") if has_password => {
            Err("the socks proxy is given with a user, and only those can be used that ask for none".to_owned())
        }
        Some("socks5" | "socks5h") => {
            let mut parts = proxy.into_parts();
            parts.scheme = "socks5".parse().ok();
            Uri::from_parts(parts).map_err(|_| "the proxy is no URL".to_owned())
        }
        _ => Err("the proxy is not one of http, https or socks5".to_owned()),
    }
}

/// Whether a rule of `NO_PROXY` is about a host: its name, a domain that it is in, a network that its address is in, or `*`.
fn excepts(rule: &str, host: &str, port: Option<u16>) -> bool {
    let rule = rule.trim().to_ascii_lowercase();
    if rule.is_empty() {
        return false;
    }
    if rule == "*" {
        return true;
    }
    if let Ok(ip) = host.parse::<IpAddr>() {
        return rule.parse() == Ok(ip) || is_in_network(ip, &rule);
    }
    let (name, wanted_port) = match rule.rsplit_once(':') {
        Some((name, digits)) => (name, digits.parse::<u16>().ok()),
        None => (rule.as_str(), None),
    };
    if wanted_port.is_some() && wanted_port != port {
        return false;
    }
    let domain = name.trim_start_matches('*').trim_start_matches('.');
    host == domain || host.strip_suffix(domain).is_some_and(|before| before.ends_with('.'))
}

fn is_in_network(ip: IpAddr, network: &str) -> bool {
    let Some((base, bits)) = network.split_once('/') else { return false };
    let (Ok(base), Ok(bits)) = (base.parse::<IpAddr>(), bits.parse::<u32>()) else { return false };
    match (ip, base) {
        (IpAddr::V4(ip), IpAddr::V4(base)) if bits <= 32 => {
            let shift = 32 - bits;
            ip.to_bits().checked_shr(shift).unwrap_or(0) == base.to_bits().checked_shr(shift).unwrap_or(0)
        }
        (IpAddr::V6(ip), IpAddr::V6(base)) if bits <= 128 => {
            let shift = 128 - bits;
            ip.to_bits().checked_shr(shift).unwrap_or(0) == base.to_bits().checked_shr(shift).unwrap_or(0)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy(server: &'static str, no_proxy: &str) -> Option<String> {
        let environment = [("https_proxy", "proxy.example:3128"), ("NO_PROXY", no_proxy)];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        for_server(&Uri::from_static(server), &environment).map(|proxy| proxy.to_string())
    }

    #[test]
    fn a_server_is_reached_by_the_proxy_of_the_environment() {
        assert_eq!(proxy("https://api.example:6443", "").as_deref(), Some("http://proxy.example:3128/"));
        assert_eq!(proxy("http://api.example", ""), None);
    }

    #[test]
    fn exceptions_are_names_domains_networks_and_ports() {
        for rule in ["api.example", ".example", "*.example", "other, api.example:6443", "*"] {
            assert_eq!(proxy("https://api.example:6443", rule), None, "{rule}");
        }
        for rule in ["example.api", "pi.example", "api.example:443", "10.0.0.0/8"] {
            assert!(proxy("https://api.example:6443", rule).is_some(), "{rule}");
        }
        assert_eq!(proxy("https://10.1.2.3:6443", "10.0.0.0/8"), None);
        assert_eq!(proxy("https://10.1.2.3:6443", "0.0.0.0/0"), None);
        assert!(proxy("https://10.1.2.3:6443", "11.0.0.0/8").is_some());
        assert_eq!(proxy("https://[fd00::1]:6443", "fd00::/8"), None);
    }

    #[test]
    fn proxies_are_http_or_socks() {
        let shown = |proxy: &str| parsed(proxy).map(|proxy| proxy.to_string());
        assert_eq!(shown("http://u:p@proxy:3128").unwrap(), "http://u:p@proxy:3128/");
        assert_eq!(shown("socks5://proxy:1080").unwrap(), "socks5://proxy:1080/");
        assert_eq!(shown("socks5h://proxy:1080").unwrap(), "socks5://proxy:1080/");
        for refused in ["socks4://proxy:1", "socks5://user:s3cret@proxy:1", "no proxy"] {
            let why = parsed(refused).unwrap_err();
            assert!(!why.contains("s3cret") && !why.contains("user:"), "{why}");
        }
    }

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        assert_eq!(proxy("https://127.0.0.1:6443", ""), None);
        assert_eq!(proxy("https://localhost:6443", ""), None);
    }
}
