//! Whether a call comes from who has the secret: GitHub and Gitea sign the body, GitLab shows the secret itself. Nothing tells by the time
//! that it takes how much of it was right.

use hmac::{Hmac, KeyInit as _, Mac as _};
use hyper::HeaderMap;
use sha2::Sha256;

/// What has happened there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// There are new commits.
    Push,
    /// A pull request was opened, changed or closed.
    PullRequest,
    /// Something else, which is of no interest.
    Other,
}

/// What is claimed.
enum Claim {
    /// The HMAC of the body.
    Signature(Vec<u8>),
    /// The secret itself.
    Token(Vec<u8>),
}

/// A body that is being checked.
pub(super) struct Check {
    mac: Hmac<Sha256>,
    claim: Claim,
    secret: Vec<u8>,
}

impl Check {
    /// Of what is claimed with these headers. None if nothing is claimed, or if there is no secret: whoever knows nothing could sign with that.
    pub(super) fn new(headers: &HeaderMap, secret: &[u8]) -> Option<Self> {
        let secret = secret.trim_ascii();
        let claim = claim(headers).filter(|_| !secret.is_empty())?;
        let mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
        Some(Self { mac, claim, secret: secret.to_vec() })
    }

    /// More of the body.
    pub(super) fn update(&mut self, part: &[u8]) {
        self.mac.update(part);
    }

    /// Whether it comes from who has the secret.
    pub(super) fn holds(self) -> bool {
        match self.claim {
            Claim::Signature(claimed) => self.mac.verify_slice(&claimed).is_ok(),
            Claim::Token(shown) => same(&self.secret, &shown),
        }
    }
}

/// Compares without telling by the time where they differ: what is compared is made of both.
fn same(one: &[u8], other: &[u8]) -> bool {
    let marked = |bytes: &[u8]| {
        let mut mac = Hmac::<Sha256>::new_from_slice(one).ok()?;
        mac.update(bytes);
        Some(mac)
    };
    let (Some(one), Some(other)) = (marked(one), marked(other)) else { return false };
    one.verify(&other.finalize().into_bytes()).is_ok()
}

fn claim(headers: &HeaderMap) -> Option<Claim> {
    let given = |name: &str| headers.get(name).map(|value| value.as_bytes().trim_ascii());
    let digits = |text: &[u8]| hex::decode(text).ok().map(Claim::Signature);
    if let Some(signed) = given("x-hub-signature-256") {
        return digits(signed.strip_prefix(b"sha256=")?);
    }
    if let Some(signed) = given("x-gitea-signature").or_else(|| given("x-forgejo-signature")) {
        return digits(signed);
    }
    given("x-gitlab-token").map(|token| Claim::Token(token.to_vec()))
}

/// What has happened, by the headers.
pub(super) fn event(headers: &HeaderMap) -> Event {
    let names = ["x-gitea-event", "x-forgejo-event", "x-github-event", "x-gitlab-event"];
    let named = names.iter().find_map(|name| headers.get(*name)?.to_str().ok()).unwrap_or_default();
    match named {
        "push" | "create" | "delete" | "Push Hook" | "Tag Push Hook" => Event::Push,
        "Merge Request Hook" => Event::PullRequest,
        // Gitea has further ones: `pull_request_sync` and the like.
        other if other.starts_with("pull_request") => Event::PullRequest,
        _ => Event::Other,
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderName;

    use super::*;

    fn headers(given: &[(&'static str, &str)]) -> HeaderMap {
        given.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn is_right(given: &[(&'static str, &str)], secret: &str, body: &str) -> bool {
        let Some(mut check) = Check::new(&headers(given), secret.as_bytes()) else { return false };
        // In pieces, as it comes.
        body.as_bytes().chunks(3).for_each(|part| check.update(part));
        check.holds()
    }

    #[test]
    fn github_signs_as_its_documentation_says() {
        // The example of "Validating webhook deliveries".
        let signed = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let given = [("x-hub-signature-256", signed)];
        assert!(is_right(&given, "It's a Secret to Everybody", "Hello, World!"));
        assert!(is_right(&given, "It's a Secret to Everybody\n", "Hello, World!"), "files end with lines");
        assert!(!is_right(&given, "It's a Secret to Everybody", "Hello, World?"));
        assert!(!is_right(&given, "another secret", "Hello, World!"));
        assert!(!is_right(&[("x-hub-signature-256", &signed[7..])], "It's a Secret to Everybody", "Hello, World!"));
        assert!(!is_right(&[("x-hub-signature-256", "sha256=zz")], "It's a Secret to Everybody", "Hello, World!"));
    }

    #[test]
    fn gitea_signs_without_saying_how() {
        let signed = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        for name in ["x-gitea-signature", "x-forgejo-signature"] {
            assert!(is_right(&[(name, signed)], "It's a Secret to Everybody", "Hello, World!"));
            assert!(!is_right(&[(name, "")], "It's a Secret to Everybody", "Hello, World!"));
        }
    }

    #[test]
    fn gitlab_shows_its_token() {
        assert!(is_right(&[("x-gitlab-token", "hunter2")], "hunter2", "{}"));
        for wrong in ["hunter", "hunter22", "", "HUNTER2"] {
            assert!(!is_right(&[("x-gitlab-token", wrong)], "hunter2", "{}"), "{wrong}");
        }
    }

    #[test]
    fn nobody_signs_with_nothing() {
        // The HMAC of nothing with nothing.
        let empty = "sha256=b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad";
        assert!(!is_right(&[("x-hub-signature-256", empty)], "", ""));
        assert!(!is_right(&[("x-gitlab-token", "")], " \n", ""));
        assert!(!is_right(&[], "secret", ""));
    }

    #[test]
    fn events_are_known_by_their_names() {
        for (name, value, expected) in [
            ("x-github-event", "push", Event::Push),
            ("x-github-event", "pull_request", Event::PullRequest),
            ("x-github-event", "ping", Event::Other),
            ("x-gitea-event", "pull_request_sync", Event::PullRequest),
            ("x-gitlab-event", "Push Hook", Event::Push),
            ("x-gitlab-event", "Merge Request Hook", Event::PullRequest),
            ("x-gitlab-event", "Note Hook", Event::Other),
        ] {
            assert_eq!(event(&headers(&[(name, value)])), expected, "{value}");
        }
    }
}
