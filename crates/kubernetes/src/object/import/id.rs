//! Import ids: `context:namespace:apiVersion/Kind:name`, without the namespace for kinds that have none, and without the context for the
//! provider's own connection. Contexts and names may have colons in them, so an id can be read in several ways.

/// One way to read an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ImportId {
    pub(super) context: Option<String>,
    pub(super) namespace: Option<String>,
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
}

/// All ways to read an id, the likelier ones first.
pub(super) fn readings(id: &str) -> Vec<ImportId> {
    let parts: Vec<&str> = id.trim().split(':').collect();
    let mut likely = Vec::new();
    let mut unlikely = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let Some((api_version, kind)) = part.rsplit_once('/') else { continue };
        let (before, name) = (&parts[..at], parts[at + 1..].join(":"));
        let is_kind =
            kind.starts_with(|c: char| c.is_ascii_uppercase()) && kind.chars().all(|c| c.is_ascii_alphanumeric());
        if !is_kind || api_version.is_empty() || name.is_empty() || before.iter().any(|part| part.is_empty()) {
            continue;
        }
        let list = if has_version(api_version) { &mut likely } else { &mut unlikely };
        list.extend(places(before).into_iter().map(|(context, namespace)| ImportId {
            context,
            namespace,
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: name.clone(),
        }));
    }
    likely.extend(unlikely);
    likely
}

/// What may stand before the kind: context and namespace.
fn places(before: &[&str]) -> Vec<(Option<String>, Option<String>)> {
    match before {
        [] => vec![(None, None)],
        [only] => vec![(Some((*only).to_owned()), None), (None, Some((*only).to_owned()))],
        [context @ .., namespace] => {
            vec![(Some(context.join(":")), Some((*namespace).to_owned())), (Some(before.join(":")), None)]
        }
    }
}

/// Whether it ends like an API version does: `v1`, `v2beta1`.
fn has_version(api_version: &str) -> bool {
    let version = api_version.rsplit('/').next().unwrap_or_default();
    version.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(id: &str, expected: &[(&str, &str, &str)]) {
        let shown: Vec<(String, String, String)> = readings(id)
            .into_iter()
            .map(|reading| {
                let rest = format!("{} {} {}", reading.api_version, reading.kind, reading.name);
                (reading.context.unwrap_or_default(), reading.namespace.unwrap_or_default(), rest)
            })
            .collect();
        let expected: Vec<(String, String, String)> =
            expected.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect();
        assert_eq!(shown, expected, "{id}");
    }

    #[test]
    fn an_id_of_the_published_provider_is_read() {
        let rest = "apps/v1 Deployment nginx";
        check("kind:prod:apps/v1/Deployment:nginx", &[("kind", "prod", rest), ("kind:prod", "", rest)]);
        check("kind:v1/Node:n1", &[("kind", "", "v1 Node n1"), ("", "kind", "v1 Node n1")]);
    }

    #[test]
    fn contexts_may_be_arns() {
        let arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
        let rest = "v1 ConfigMap a";
        check(&format!("{arn}:x:v1/ConfigMap:a"), &[(arn, "x", rest), (&format!("{arn}:x"), "", rest)]);
    }

    #[test]
    fn a_part_of_the_context_may_look_like_a_kind() {
        let arn = "arn:aws:eks:eu-west-1:123456789012:cluster/Prod";
        let readings = readings(&format!("{arn}:v1/Node:a"));
        assert_eq!(readings[0].context.as_deref(), Some("arn:aws:eks:eu-west-1:123456789012"));
        assert_eq!(readings[0].namespace.as_deref(), Some("cluster/Prod"));
        assert_eq!(readings[1].context.as_deref(), Some(arn));
        assert_eq!((readings[0].kind.as_str(), readings[0].name.as_str()), ("Node", "a"));
        assert!(readings[2..].iter().all(|reading| reading.kind == "Prod"));
    }

    #[test]
    fn names_may_have_colons() {
        let rest = "rbac.authorization.k8s.io/v1 ClusterRole system:node";
        check("c:rbac.authorization.k8s.io/v1/ClusterRole:system:node", &[("c", "", rest), ("", "c", rest)]);
    }

    #[test]
    fn the_context_may_be_left_out() {
        check("v1/Node:n1", &[("", "", "v1 Node n1")]);
    }

    #[test]
    fn what_is_no_id_has_no_readings() {
        for id in ["", "nginx", "a:b:c", "c:n:Deployment:x", "c:n:v1/Pod:", ":n:v1/Pod:x", "c:n:v1/pods:x"] {
            check(id, &[]);
        }
    }
}
