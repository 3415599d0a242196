//! Patterns of provider addresses, as `include` and `exclude` of the CLI configuration have them.

use groma_model::address::{DEFAULT_HOST, Provider, provider_part};
use thiserror::Error;

const WILDCARD: &str = "*";

/// A pattern such as `registry.example.com/*/*`. A part that is not given matches everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    host: Option<String>,
    namespace: Option<String>,
    ty: Option<String>,
}

/// Several patterns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patterns(pub Vec<Pattern>);

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// Not two or three parts.
    #[error("invalid provider matching pattern {0:?}: must have either two or three slash-separated segments")]
    Segments(String),
    /// A host that is none.
    #[error("invalid hostname in provider matching pattern {pattern:?}: {reason}")]
    Host {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        reason: String,
    },
    /// A type that is none.
    #[error(
        "invalid provider type {part:?} in provider matching pattern {pattern:?}: must either be the wildcard * or a provider type name"
    )]
    Type {
        /// The pattern.
        pattern: String,
        /// The part.
        part: String,
    },
    /// A namespace that is none.
    #[error(
        "invalid registry namespace {part:?} in provider matching pattern {pattern:?}: must either be the wildcard * or a literal namespace"
    )]
    Namespace {
        /// The pattern.
        pattern: String,
        /// The part.
        part: String,
    },
    /// Any host, but not anything on it.
    #[error(
        "invalid provider matching pattern {0:?}: hostname can be a wildcard only if both namespace and provider type are also wildcards"
    )]
    AnyHost(String),
    /// Any namespace, but not anything in it.
    #[error(
        "invalid provider matching pattern {0:?}: namespace can be a wildcard only if the provider type is also a wildcard"
    )]
    AnyNamespace(String),
}

impl Pattern {
    /// Reads `[host/]namespace/type`, where each may be `*`.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, ty) = match parts[..] {
            [namespace, ty] => (None, namespace, ty),
            [host, namespace, ty] => (Some(host), namespace, ty),
            _ => return Err(PatternError::Segments(text.to_owned())),
        };
        let pattern = || text.to_owned();
        let host = match host {
            None => Some(DEFAULT_HOST.to_owned()),
            Some(WILDCARD) => None,
            Some(host) => {
                let bad = |reason: String| PatternError::Host { pattern: pattern(), reason };
                let host = groma_fetch::host::Host::parse(host).map_err(|error| bad(error.to_string()))?;
                Some(host.for_display())
            }
        };
        let ty = name_or_any(ty).ok_or_else(|| PatternError::Type { pattern: pattern(), part: ty.to_owned() })?;
        let namespace = name_or_any(namespace)
            .ok_or_else(|| PatternError::Namespace { pattern: pattern(), part: namespace.to_owned() })?;
        if host.is_none() && (namespace.is_some() || ty.is_some()) {
            return Err(PatternError::AnyHost(pattern()));
        }
        if namespace.is_none() && ty.is_some() {
            return Err(PatternError::AnyNamespace(pattern()));
        }
        Ok(Self { host, namespace, ty })
    }

    /// The pattern that matches one provider.
    pub fn of(provider: &Provider) -> Self {
        Self {
            host: Some(provider.host.to_string()),
            namespace: Some(provider.namespace.to_string()),
            ty: Some(provider.ty.to_string()),
        }
    }

    /// Whether it matches a provider.
    pub fn matches(&self, provider: &Provider) -> bool {
        let fits = |wanted: &Option<String>, given: &str| wanted.as_ref().is_none_or(|wanted| wanted == given);
        fits(&self.host, &provider.host) && fits(&self.namespace, &provider.namespace) && fits(&self.ty, &provider.ty)
    }
}

/// A name in normal form, or nothing for the wildcard. None if it is neither.
#[expect(clippy::option_option, reason = "the outer one is the error, the inner one the wildcard")]
fn name_or_any(text: &str) -> Option<Option<String>> {
    if text == WILDCARD { Some(None) } else { provider_part(text).ok().map(|name| Some(name.to_string())) }
}

impl Patterns {
    /// Reads several.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, PatternError> {
        Ok(Self(texts.iter().map(|text| Pattern::parse(text.as_ref())).collect::<Result<_, _>>()?))
    }

    /// Whether one of them matches.
    pub fn matches(&self, provider: &Provider) -> bool {
        self.0.iter().any(|pattern| pattern.matches(provider))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, provider: &str) -> bool {
        Pattern::parse(pattern).unwrap().matches(&Provider::parse_source(provider).unwrap())
    }

    #[test]
    fn patterns_match_by_part() {
        assert!(matches("*/*/*", "example.com/a/b"));
        assert!(matches("example.com/*/*", "example.com/a/b"));
        assert!(matches("Example.com/A/*", "example.com/a/b"));
        assert!(!matches("example.com/x/*", "example.com/a/b"));
        assert!(matches("hashicorp/*", "hashicorp/null"));
        assert!(!matches("hashicorp/*", "registry.terraform.io/hashicorp/null"));
        assert!(matches("*/*", "a/b"));
        assert!(!matches("*/*", "example.com/a/b"));
        assert!(matches("a/b", "a/b") && !matches("a/b", "a/c"));
    }

    #[test]
    fn bad_patterns_are_named() {
        for bad in ["", "a", "a/b/c/d", "*/a", "*/a/*", "*/*/a", "a/b c", "b_d/*", "http://x/a/b", "under_score/a/b"] {
            assert!(Pattern::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Pattern::parse("*/a"), Err(PatternError::AnyNamespace("*/a".to_owned())));
        assert_eq!(Pattern::parse("*/a/*"), Err(PatternError::AnyHost("*/a/*".to_owned())));
    }
}
