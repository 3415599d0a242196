//! Who may do what. The operator reads no Secret of a namespace without Stacks: there it may only say, by a RoleBinding to exactly one
//! ClusterRole, that it works there from now on.

use serde_json::{Value as Json, json};

/// The name of the operator: of its ServiceAccount, its Deployment, and what it may do everywhere.
pub const OPERATOR: &str = "groma-operator";
/// What may be done where there are Stacks. It is bound in each of those namespaces.
pub const RUNNER: &str = "groma-runner";
/// What the operator may do with kinds that Blueprints are about. It is made of all ClusterRoles with the label below.
const BLUEPRINTS: &str = "groma-blueprints";
const FOR_BLUEPRINTS: &str = "groma.dev/aggregate-to-blueprints";

/// Some verbs on some resources of a group.
struct Rule {
    group: &'static str,
    resources: &'static [&'static str],
    /// Only these objects; all if none is named.
    names: &'static [&'static str],
    verbs: &'static [&'static str],
}

const fn rule(group: &'static str, resources: &'static [&'static str], verbs: &'static [&'static str]) -> Rule {
    Rule { group, resources, names: &[], verbs }
}

const READ: &[&str] = &["get", "list", "watch"];
const CHANGE: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];

/// Everywhere: our own kinds, events about them, and the right to begin work in a namespace.
const EVERYWHERE: &[Rule] = &[
    rule("groma.dev", &["stacks", "runs"], CHANGE),
    rule("groma.dev", &["stacks/status", "runs/status", "blueprints/status"], &["get", "patch", "update"]),
    rule("groma.dev", &["stacks/finalizers", "runs/finalizers", "blueprints/finalizers"], &["update"]),
    // They are kept until none of their objects waits for them.
    rule("groma.dev", &["blueprints"], &["get", "list", "patch", "update", "watch"]),
    rule("", &["events"], &["create", "patch"]),
    rule("", &["namespaces"], READ),
    // Where they come from is no secret, and Stacks may have sources in other namespaces if that is allowed.
    rule("source.toolkit.fluxcd.io", &["gitrepositories", "ocirepositories", "buckets"], READ),
    rule("rbac.authorization.k8s.io", &["rolebindings"], &["create"]),
    // The one that it makes has the name of the role.
    Rule {
        group: "rbac.authorization.k8s.io",
        resources: &["rolebindings"],
        names: &[RUNNER],
        verbs: &["delete", "get", "update"],
    },
    Rule { group: "rbac.authorization.k8s.io", resources: &["clusterroles"], names: &[RUNNER], verbs: &["bind"] },
];

/// Where there are Stacks: what goes into them and comes out of them, their states and locks, and their Jobs.
const WITH_STACKS: &[Rule] = &[
    rule("", &["secrets", "configmaps"], CHANGE),
    rule("coordination.k8s.io", &["leases"], CHANGE),
    // They are asked to look for something newer, by an annotation.
    rule("source.toolkit.fluxcd.io", &["gitrepositories", "ocirepositories", "buckets"], &["update"]),
    rule("batch", &["jobs"], &["create", "delete", "get", "list", "watch"]),
    rule("", &["pods", "pods/log"], READ),
    rule("", &["serviceaccounts"], &["create", "get"]),
    rule("", &["events"], &["create", "patch"]),
    rule("groma.dev", &["stacks", "runs"], &["get", "list"]),
    rule("groma.dev", &["runs/status"], &["get", "patch", "update"]),
];

/// In the namespace of the operator: who of several works.
const AT_HOME: &[Rule] = &[rule("coordination.k8s.io", &["leases"], &["create", "get", "patch", "update"])];

/// For people who may look.
const LOOKING: &[Rule] = &[rule("groma.dev", &["stacks", "runs", "blueprints"], READ)];
/// For people who may change things in a namespace. Runs are made by the operator, and people may only cancel them.
const EDITING: &[Rule] = &[
    rule("groma.dev", &["stacks"], &["create", "delete", "deletecollection", "patch", "update"]),
    rule("groma.dev", &["runs"], &["patch", "update"]),
];

fn rules(rules: &[Rule]) -> Json {
    let written = |rule: &Rule| {
        let mut written = json!({"apiGroups": [rule.group], "resources": rule.resources, "verbs": rule.verbs});
        if !rule.names.is_empty() {
            written["resourceNames"] = json!(rule.names);
        }
        written
    };
    rules.iter().map(written).collect()
}

const API: &str = "rbac.authorization.k8s.io/v1";

fn cluster_role(name: &str, labels: Json, given: &[Rule]) -> Json {
    json!({"apiVersion": API, "kind": "ClusterRole", "metadata": {"name": name, "labels": labels}, "rules": rules(given)})
}

/// All of it, for an operator in this namespace.
pub(super) fn objects(namespace: &str) -> Vec<Json> {
    let own = || json!({"app.kubernetes.io/name": "groma"});
    let subjects = json!([{"kind": "ServiceAccount", "name": OPERATOR, "namespace": namespace}]);
    let binding = |role: &str| {
        json!({
            "apiVersion": API,
            "kind": "ClusterRoleBinding",
            "metadata": {"name": role, "labels": own()},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": subjects,
        })
    };
    let for_people = |roles: &[&str]| {
        let mut labels = own();
        for role in roles {
            labels[format!("rbac.authorization.k8s.io/aggregate-to-{role}")] = json!("true");
        }
        labels
    };
    let at_home = json!({"name": OPERATOR, "namespace": namespace, "labels": own()});
    vec![
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": at_home}),
        cluster_role(OPERATOR, own(), EVERYWHERE),
        binding(OPERATOR),
        cluster_role(RUNNER, own(), WITH_STACKS),
        json!({
            "apiVersion": API,
            "kind": "ClusterRole",
            "metadata": {"name": BLUEPRINTS, "labels": own()},
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {FOR_BLUEPRINTS: "true"}}]},
            "rules": [],
        }),
        binding(BLUEPRINTS),
        json!({"apiVersion": API, "kind": "Role", "metadata": at_home, "rules": rules(AT_HOME)}),
        json!({
            "apiVersion": API,
            "kind": "RoleBinding",
            "metadata": at_home,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": OPERATOR},
            "subjects": subjects,
        }),
        cluster_role("groma-view", for_people(&["view", "edit", "admin"]), LOOKING),
        cluster_role("groma-edit", for_people(&["edit", "admin"]), EDITING),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_allowed_by_a_star() {
        for rule in [EVERYWHERE, WITH_STACKS, AT_HOME, LOOKING, EDITING].into_iter().flatten() {
            let words =
                [rule.group].into_iter().chain(rule.resources.iter().chain(rule.verbs).chain(rule.names).copied());
            assert!(words.into_iter().all(|word| !word.contains('*')), "{:?}", rule.resources);
        }
    }

    #[test]
    fn the_operator_sees_no_secrets_everywhere() {
        for resource in ["secrets", "configmaps", "pods"] {
            assert!(!EVERYWHERE.iter().any(|rule| rule.resources.contains(&resource)), "{resource}");
        }
    }

    #[test]
    fn the_operator_gives_away_one_role_and_makes_none() {
        let roles: Vec<&Rule> = EVERYWHERE.iter().filter(|rule| rule.resources.contains(&"clusterroles")).collect();
        assert_eq!(roles.len(), 1);
        assert_eq!((roles[0].names, roles[0].verbs), (&[RUNNER][..], &["bind"][..]));
        for rule in EVERYWHERE.iter().filter(|rule| rule.group == "rbac.authorization.k8s.io") {
            assert!(!rule.verbs.contains(&"escalate"));
            // Bindings of others are left alone. What is made can only be a binding to that role.
            assert!(rule.names == [RUNNER] || rule.verbs == ["create"], "{:?}", rule.verbs);
        }
    }

    #[test]
    fn only_two_roles_are_bound_everywhere() {
        let objects = objects("home");
        let bound: Vec<&str> = objects
            .iter()
            .filter(|object| object["kind"] == "ClusterRoleBinding")
            .filter_map(|object| object["roleRef"]["name"].as_str())
            .collect();
        assert_eq!(bound, [OPERATOR, BLUEPRINTS]);
    }
}
