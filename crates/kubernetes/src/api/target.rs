//! Paths and queries of requests. A name becomes one segment of a path, whatever it is; an empty one would mean all objects.

use std::fmt::Write as _;

use super::Kind;
use crate::failure::{Failure, FailureKind};

/// The path of a group and version.
pub(super) fn of_version(api_version: &str) -> Result<String, Failure> {
    match api_version.split_once('/') {
        None => Ok(format!("/api/{}", segment("apiVersion", api_version)?)),
        Some((group, version)) => {
            Ok(format!("/apis/{}/{}", segment("apiVersion", group)?, segment("apiVersion", version)?))
        }
    }
}

/// The path of the objects of a kind: in a namespace, or everywhere.
pub(super) fn of_kind(kind: &Kind, namespace: Option<&str>) -> Result<String, Failure> {
    let version = of_version(&kind.api_version)?;
    let plural = segment("kind", &kind.plural)?;
    match namespace.filter(|_| kind.namespaced) {
        Some(namespace) => Ok(format!("{version}/namespaces/{}/{plural}", segment("namespace", namespace)?)),
        None => Ok(format!("{version}/{plural}")),
    }
}

/// The path of an object.
pub(super) fn of_object(kind: &Kind, namespace: Option<&str>, name: &str) -> Result<String, Failure> {
    Ok(format!("{}/{}", of_kind(kind, namespace)?, segment("name", name)?))
}

/// With a query.
pub(super) fn with_query(path: &str, query: &[(&str, &str)]) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

fn segment(what: &str, text: &str) -> Result<String, Failure> {
    if text.is_empty() || text == "." || text == ".." || text.contains(['/', '%']) {
        let message = format!("{text:?} is no {what} that an object can have");
        return Err(Failure::new(FailureKind::Invalid, message));
    }
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a text does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    Ok(encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(api_version: &str, plural: &str, namespaced: bool) -> Kind {
        Kind { api_version: api_version.to_owned(), kind: String::new(), plural: plural.to_owned(), namespaced }
    }

    #[test]
    fn objects_have_paths() {
        let path = |kind: Kind, namespace, name| of_object(&kind, namespace, name).expect("a path");
        assert_eq!(path(kind("v1", "configmaps", true), Some("a"), "b"), "/api/v1/namespaces/a/configmaps/b");
        assert_eq!(path(kind("v1", "namespaces", false), Some("a"), "b"), "/api/v1/namespaces/b");
        let roles = kind("rbac.authorization.k8s.io/v1", "clusterroles", false);
        assert_eq!(path(roles, None, "system:x y"), "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:x%20y");
    }

    #[test]
    fn a_name_never_leads_elsewhere() {
        for name in ["", ".", "..", "a/b", "a%2fb"] {
            let failure = of_object(&kind("v1", "secrets", true), Some("a"), name).expect_err("refused");
            assert_eq!(failure.kind, FailureKind::Invalid, "{name}");
            assert!(of_object(&kind("v1", "secrets", true), Some(name), "a").is_err(), "{name}");
        }
    }

    #[test]
    fn queries_are_encoded() {
        let target = with_query("/x", &[("labelSelector", "a=b,c in (d)"), ("limit", "3")]);
        assert_eq!(target, "/x?labelSelector=a%3Db%2Cc+in+%28d%29&limit=3");
        assert_eq!(with_query("/x", &[]), "/x");
    }
}
