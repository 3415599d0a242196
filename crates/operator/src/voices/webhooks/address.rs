//! Addresses of webhooks, as they may be written. Where connections may lead is for `groma-network`.

use reqwest::Url;

/// Reads an address. Credentials have no place in it: it is shown.
pub(super) fn check_url(text: &str) -> Result<Url, String> {
    let url: Url = text.parse().map_err(|problem| format!("it is no address: {problem}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err("it must start with https:// or http://, and name a host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it must not have a user or a password in it; use secretRef or clientCertificate".to_owned());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_only_where() {
        assert!(check_url("https://policy.example/check?x=1").is_ok());
        assert!(check_url("http://policy.team.svc:8080").is_ok());
        for wrong in ["ftp://x", "https://", "https://me:secret@policy.example", "file:///etc/passwd", "policy"] {
            let said = check_url(wrong).unwrap_err();
            assert!(!said.contains("secret@"), "{said}");
        }
    }
}
