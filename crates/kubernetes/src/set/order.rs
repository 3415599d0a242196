//! In which order the objects of a set are made: by wave, and within a wave by what others need.

use crate::Json;
use crate::manifest::{ObjectRef, group_of};
use crate::object::claim::annotation;

/// Says the wave of an object: a whole number, 0 if it is not there. Lower waves come first.
pub(super) const WAVE: &str = "groma.dev/wave";

/// What an object is to others, in the order of making.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// What others are in.
    Namespaces,
    /// What others are.
    Definitions,
    /// What others may, and as whom they run.
    Accounts,
    /// What others read when they start.
    Settings,
    /// All the rest.
    Everything,
    /// What could refuse the others.
    Webhooks,
}

/// When an object is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    pub(super) wave: i64,
    pub(super) phase: Phase,
}

/// When an object is made; or what is wrong with its wave.
pub(super) fn turn(reference: &ObjectRef, body: &Json) -> Result<Turn, String> {
    let wave = match annotation(body, WAVE) {
        None => 0,
        Some(text) => text.trim().parse().map_err(|_| text.to_owned())?,
    };
    Ok(Turn { wave, phase: phase(reference) })
}

/// What an object is to others.
pub(super) fn phase(reference: &ObjectRef) -> Phase {
    match (group_of(&reference.api_version), reference.kind.as_str()) {
        ("", "Namespace") => Phase::Namespaces,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Phase::Definitions,
        ("", "ServiceAccount" | "ResourceQuota" | "LimitRange")
        | ("rbac.authorization.k8s.io", _)
        | ("scheduling.k8s.io", "PriorityClass")
        | ("storage.k8s.io", "StorageClass") => Phase::Accounts,
        ("", "ConfigMap" | "Secret" | "PersistentVolume" | "PersistentVolumeClaim") => Phase::Settings,
        ("admissionregistration.k8s.io", _) => Phase::Webhooks,
        _ => Phase::Everything,
    }
}

/// Items in groups of the same turn, in the order of making. Within a group they keep their order.
pub(super) fn groups<T>(items: Vec<(Turn, T)>) -> Vec<(Turn, Vec<T>)> {
    let mut items = items;
    items.sort_by_key(|(turn, _)| *turn);
    let mut groups: Vec<(Turn, Vec<T>)> = Vec::new();
    for (turn, item) in items {
        match groups.last_mut() {
            Some((last, group)) if *last == turn => group.push(item),
            _ => groups.push((turn, vec![item])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn named(api_version: &str, kind: &str) -> ObjectRef {
        ObjectRef { api_version: api_version.to_owned(), kind: kind.to_owned(), namespace: None, name: "x".to_owned() }
    }

    fn of(api_version: &str, kind: &str, wave: Option<&str>) -> (Turn, String) {
        let body = wave.map_or_else(|| json!({}), |wave| json!({"metadata": {"annotations": {WAVE: wave}}}));
        (turn(&named(api_version, kind), &body).unwrap(), kind.to_owned())
    }

    #[test]
    fn what_others_need_comes_first() {
        let items = vec![
            of("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", None),
            of("apps/v1", "Deployment", None),
            of("v1", "Secret", None),
            of("rbac.authorization.k8s.io/v1", "ClusterRole", None),
            of("apiextensions.k8s.io/v1", "CustomResourceDefinition", None),
            of("v1", "Namespace", None),
            of("v1", "ServiceAccount", None),
        ];
        let kinds: Vec<String> = groups(items).into_iter().map(|(_, kinds)| kinds.join(" ")).collect();
        let expected = [
            "Namespace",
            "CustomResourceDefinition",
            "ClusterRole ServiceAccount",
            "Secret",
            "Deployment",
            "ValidatingWebhookConfiguration",
        ];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn waves_come_before_kinds() {
        let items = vec![
            of("v1", "Namespace", Some("1")),
            of("apps/v1", "Deployment", None),
            of("batch/v1", "Job", Some(" -5 ")),
        ];
        let kinds: Vec<String> = groups(items).into_iter().map(|(_, kinds)| kinds.join(" ")).collect();
        assert_eq!(kinds, ["Job", "Deployment", "Namespace"]);
    }

    #[test]
    fn a_wave_is_a_whole_number() {
        let body = json!({"metadata": {"annotations": {WAVE: "first"}}});
        assert_eq!(turn(&named("v1", "Pod"), &body), Err("first".to_owned()));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_turns_rise(waves in proptest::collection::vec(-3_i64..3, 0..20)) {
            let items: Vec<(Turn, usize)> = waves
                .iter()
                .enumerate()
                .map(|(at, wave)| (Turn { wave: *wave, phase: Phase::Everything }, at))
                .collect();
            let groups = groups(items);
            prop_assert!(groups.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let mut all: Vec<usize> = groups.into_iter().flat_map(|(_, items)| items).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..waves.len()).collect::<Vec<_>>());
        }
    }
}
