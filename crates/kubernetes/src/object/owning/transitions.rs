//! What others did to fields of ours since we wrote them last, and what we are about to do to theirs. One warning per kind and object.

use std::collections::{BTreeMap, BTreeSet};

use groma_model::diag::Diagnostic;

use super::fields::Map;
use crate::manifest::ObjectRef;
use crate::object::naming::shown;
use crate::ownership::{MANAGER, SEED_MANAGER};

/// How many fields are named in one warning.
const MOST_NAMED: usize = 20;

/// What is known about who owns what.
pub(crate) struct Ownership<'o> {
    /// When we wrote the object last.
    pub(crate) baseline: &'o Map,
    /// Now.
    pub(crate) now: &'o Map,
    /// What we are about to send.
    pub(crate) sent: &'o BTreeSet<String>,
    /// Whether the configuration has changed since then.
    pub(crate) config_changed: bool,
    /// Whether a field is left to others on purpose.
    pub(crate) is_ignored: &'o dyn Fn(&str) -> bool,
}

/// Fields and who has them now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Transitions {
    /// Taken from us behind our back, and taken back now.
    pub(crate) drifted: BTreeMap<String, String>,
    /// Not ours until now.
    pub(crate) taken: BTreeMap<String, String>,
    /// Taken from us, and overwritten with something new now.
    pub(crate) overwritten: BTreeMap<String, String>,
    /// Taken from us, and not asked for any more: they stay as the others want them.
    pub(crate) given_up: BTreeMap<String, String>,
}

/// What changes hands.
pub(crate) fn transitions(ownership: &Ownership<'_>) -> Transitions {
    let mut found = Transitions::default();
    for (place, who) in ownership.now {
        if who == MANAGER || who == SEED_MANAGER {
            continue;
        }
        let was_ours = ownership.baseline.get(place).is_some_and(|before| before == MANAGER);
        let list = match (was_ours, ownership.sent.contains(place), ownership.config_changed) {
            (true, true, false) => &mut found.drifted,
            (true, true, true) => &mut found.overwritten,
            (false, true, true) => &mut found.taken,
            // Whoever takes a field out of the manifest expects it to go, unless it is left to others on purpose.
            (true, false, _) if !(ownership.is_ignored)(place) => &mut found.given_up,
            _ => continue,
        };
        list.insert(place.clone(), who.clone());
    }
    found
}

impl Transitions {
    /// As warnings. The object is part of the summary, since some tools show only the first warning of each summary.
    pub(crate) fn warnings(&self, reference: &ObjectRef) -> Vec<Diagnostic> {
        let object = shown(reference);
        let tell = |fields: &BTreeMap<String, String>, summary: &str, what: &str| {
            (!fields.is_empty()).then(|| {
                let listed = listed(fields, "now owned by");
                let detail =
                    format!("{what}\n{listed}\n\nIf that is theirs to decide, put the fields into ignore_fields.");
                Diagnostic::warning(format!("{summary}: {object}"), detail)
            })
        };
        [
            tell(
                &self.drifted,
                "Fields were changed by others",
                "Since the last apply others have taken these fields. This apply takes them back:",
            ),
            tell(
                &self.overwritten,
                "Changes of others are overwritten",
                "Others have taken these fields since the last apply, and the configuration has changed as well. This \
                 apply overwrites what they wrote:",
            ),
            tell(
                &self.taken,
                "Fields are taken from others",
                "These fields are owned by others. This apply takes them over:",
            ),
            tell(
                &self.given_up,
                "Fields stay with others",
                "These fields were managed here. Others have taken them since the last apply, and the manifest does not have \
                 them any more, so they are not removed and stay as the others want them:",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn listed(fields: &BTreeMap<String, String>, owned_by: &str) -> String {
    let mut lines: Vec<String> =
        fields.iter().take(MOST_NAMED).map(|(place, who)| format!("  - {place} ({owned_by} {who})")).collect();
    if fields.len() > MOST_NAMED {
        lines.push(format!("  - and {} more", fields.len() - MOST_NAMED));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(&str, &str)]) -> Map {
        entries.iter().map(|(place, who)| ((*place).to_owned(), (*who).to_owned())).collect()
    }

    fn found(baseline: &[(&str, &str)], now: &[(&str, &str)], sent: &[&str], config_changed: bool) -> Transitions {
        let sent = sent.iter().map(|place| (*place).to_owned()).collect();
        let is_ignored = |place: &str| place == "ignored";
        let (baseline, now) = (map(baseline), map(now));
        transitions(&Ownership { baseline: &baseline, now: &now, sent: &sent, config_changed, is_ignored: &is_ignored })
    }

    #[test]
    fn a_field_that_was_ours_has_drifted() {
        let found = found(&[("a", MANAGER)], &[("a", "hpa")], &["a"], false);
        assert_eq!(found, Transitions { drifted: map(&[("a", "hpa")]), ..Transitions::default() });
    }

    #[test]
    fn a_field_that_we_gave_up_stays_with_whoever_took_it() {
        for config_changed in [false, true] {
            let baseline = [("a", MANAGER), ("b", "other"), ("ignored", MANAGER)];
            let found = found(&baseline, &[("a", "hpa"), ("b", "hpa"), ("ignored", "hpa")], &[], config_changed);
            assert_eq!(found, Transitions { given_up: map(&[("a", "hpa")]), ..Transitions::default() });
        }
    }

    #[test]
    fn a_field_that_was_ours_is_overwritten_when_the_configuration_changes_too() {
        let found = found(&[("a", MANAGER)], &[("a", "hpa")], &["a"], true);
        assert_eq!(found, Transitions { overwritten: map(&[("a", "hpa")]), ..Transitions::default() });
    }

    #[test]
    fn a_field_of_others_is_taken_when_the_configuration_begins_to_send_it() {
        let found = found(&[], &[("a", "kubectl")], &["a"], true);
        assert_eq!(found, Transitions { taken: map(&[("a", "kubectl")]), ..Transitions::default() });
    }

    #[test]
    fn nothing_is_said_about_what_is_ours_or_not_sent_or_known() {
        for who in [MANAGER, SEED_MANAGER] {
            assert_eq!(found(&[("a", MANAGER)], &[("a", who)], &["a"], true), Transitions::default());
        }
        assert_eq!(found(&[], &[("a", "hpa")], &[], false), Transitions::default());
        assert_eq!(found(&[("a", "hpa")], &[("a", "hpa")], &["a"], false), Transitions::default());
    }

    #[test]
    fn a_field_that_was_left_to_others_is_taken_when_it_is_no_longer() {
        let found = found(&[("a", "hpa")], &[("a", "hpa")], &["a"], true);
        assert_eq!(found, Transitions { taken: map(&[("a", "hpa")]), ..Transitions::default() });
    }

    #[test]
    fn each_kind_is_one_warning_that_names_the_object() {
        let reference = ObjectRef {
            api_version: "apps/v1".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: Some("a".to_owned()),
            name: "x".to_owned(),
        };
        let now: Vec<(String, &str)> = (0..30).map(|at| (format!("spec.f{at:02}"), "hpa")).collect();
        let now: Vec<(&str, &str)> = now.iter().map(|(place, who)| (place.as_str(), *who)).collect();
        let baseline: Vec<(&str, &str)> = now.iter().map(|(place, _)| (*place, MANAGER)).collect();
        let sent: Vec<&str> = now.iter().map(|(place, _)| *place).collect();
        let warnings = found(&baseline, &now, &sent, false).warnings(&reference);
        assert_eq!(warnings.len(), 1);
        assert_eq!(warnings[0].summary, "Fields were changed by others: Deployment \"a/x\"");
        assert!(warnings[0].detail.contains("spec.f00 (now owned by hpa)"));
        assert!(warnings[0].detail.contains("and 10 more"));
    }
}
