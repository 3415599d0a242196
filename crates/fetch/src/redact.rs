//! Addresses without the secrets that people put into them. Every message that shows an address goes through here.

use url::Url;

const HIDDEN: &str = "redacted";

/// Parameters whose value opens a door.
fn is_secret_parameter(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let exact = ["sshkey", "sig", "signature", "key", "aws_access_key_secret", "aws_access_token"];
    exact.contains(&name.as_str())
        || name.starts_with("x-amz-")
        || name.starts_with("x-goog-")
        || ["token", "secret", "password", "passwd", "credential", "apikey", "api_key"]
            .iter()
            .any(|word| name.contains(word))
}

/// A URL with its password and its secret parameters hidden.
pub fn url(url: &Url) -> String {
    let mut shown = url.clone();
    if shown.password().is_some() {
        let _ = shown.set_password(Some(HIDDEN));
    } else if is_token(shown.username()) {
        // A token as the user name, with nothing behind it, is common with code hosts.
        let _ = shown.set_username(HIDDEN);
    }
    if shown.query().is_some() {
        let query: Vec<String> = shown.query().unwrap_or_default().split('&').map(parameter).collect();
        shown.set_query(Some(&query.join("&")));
    }
    shown.to_string()
}

/// Any text, such as the output of a program, with what looks like a password in a URL hidden.
pub fn text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, behind) = rest.split_at(at + 3);
        shown.push_str(before);
        let end = behind.find(|c: char| c.is_whitespace() || "'\"<>`".contains(c)).unwrap_or(behind.len());
        let (address, after) = behind.split_at(end);
        shown.push_str(&address_text(address));
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// An address as a person wrote it, perhaps in no form that a URL parser takes.
fn address_text(address: &str) -> String {
    let (path, query) = address.split_once('?').map_or((address, None), |(path, query)| (path, Some(query)));
    let authority_end = path.find('/').unwrap_or(path.len());
    let (authority, rest) = path.split_at(authority_end);
    let authority = match authority.rsplit_once('@') {
        None => authority.to_owned(),
        Some((user, host)) => match user.split_once(':') {
            Some((name, _)) => format!("{name}:{HIDDEN}@{host}"),
            None if is_token(user) => format!("{HIDDEN}@{host}"),
            None => authority.to_owned(),
        },
    };
    let query = query.map(|query| query.split('&').map(parameter).collect::<Vec<_>>().join("&"));
    query.map_or_else(|| format!("{authority}{rest}"), |query| format!("{authority}{rest}?{query}"))
}

fn parameter(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() && is_secret_parameter(name) => format!("{name}={HIDDEN}"),
        _ => pair.to_owned(),
    }
}

/// Real user names are short; access tokens are not.
fn is_token(user: &str) -> bool {
    user.len() >= 20
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_addresses_are_hidden() {
        let cases = [
            ("https://user:hunter2@example.com/x", "https://user:redacted@example.com/x"),
            ("https://ghp_0123456789abcdefghij@example.com/x", "https://redacted@example.com/x"),
            ("ssh://git@example.com/x?sshkey=QUJD&ref=v1", "ssh://git@example.com/x?sshkey=redacted&ref=v1"),
            (
                "https://example.com/x?X-Amz-Signature=abc&archive=zip",
                "https://example.com/x?X-Amz-Signature=redacted&archive=zip",
            ),
            ("https://example.com/x?private_token=abc", "https://example.com/x?private_token=redacted"),
            ("https://example.com/plain?ref=main", "https://example.com/plain?ref=main"),
        ];
        for (given, expected) in cases {
            assert_eq!(url(&Url::parse(given).unwrap()), expected);
            let sentence = format!("fatal: unable to access '{given}': nope, see {given}");
            assert_eq!(text(&sentence), format!("fatal: unable to access '{expected}': nope, see {expected}"));
        }
    }

    #[test]
    fn other_text_stays() {
        for same in ["", "nothing here", "a :// b", "git@example.com:x/y.git", "https://"] {
            assert_eq!(text(same), same);
        }
    }
}
