//! What is stored of an object that was written.

use groma_kit::{Call, Failed, Object};
use groma_model::diag::Diagnostic;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::{NotReady, Patience};
use std::time::Duration;

use super::fields::{Map, managers, map_of, map_value, projected};
use super::naming::{reference_value, shown};
use super::write::{Unwritten, is_unanswered};
use crate::Json;
use crate::ignore::Ignored;
use crate::manifest::ObjectRef;
use crate::ownership::MANAGER;
use crate::private::{
    self, ANNOTATIONS_LOST, IMPORTED, OWNERSHIP_BASELINE, PENDING_PROJECTION, PLANNED_FOR, STALE_READ,
};
use crate::provider::Host;

/// How long and how often an object is looked for that may have been made.
const PATIENCE: Patience = Patience { timeout: Duration::from_mins(2), interval: Duration::from_secs(5) };
/// How many differences are named.
const MOST_NAMED: usize = 10;

/// What was written, and where.
pub(super) struct Written<'w> {
    pub(super) id: &'w str,
    pub(super) reference: &'w ObjectRef,
    pub(super) cluster_uid: Option<&'w str>,
    pub(super) ignored: &'w Ignored,
}

impl Written<'_> {
    /// Completes a plan with what has become of it.
    pub(super) fn record(&self, planned: &mut Object, live: &Json, call: &mut Call) {
        self.name(planned);
        let actual = projected(live, MANAGER, self.ignored, self.id);
        let (agreed, differences) = agreed(&planned.get("managed_state_projection"), &actual);
        planned.set("managed_state_projection", map_value(&agreed));
        if !differences.is_empty() {
            call.diagnostics.push(not_as_planned(self.reference, &differences));
        }
        let who = managers(live);
        if map_of(planned, "managed_fields").is_none() {
            planned.set("managed_fields", map_value(&who));
        }
        let baseline: Json = who.into_iter().collect();
        private::change(&mut call.private, |kept| {
            kept.put(OWNERSHIP_BASELINE, &baseline);
            for flag in [PENDING_PROJECTION, IMPORTED, STALE_READ, ANNOTATIONS_LOST, PLANNED_FOR] {
                kept.clear(flag);
            }
        });
    }

    /// What is stored of an object that may be there, or is there in part: enough to find it again.
    pub(super) fn in_doubt(
        &self,
        mut planned: Object,
        unwritten: &Unwritten,
        host: Host,
        call: &mut Call,
    ) -> Result<Object, Failed> {
        self.name(&mut planned);
        for name in ["managed_state_projection", "managed_fields"] {
            let known = agreed(&planned.get(name), &Map::new()).0;
            planned.set(name, map_value(&known));
        }
        private::change(&mut call.private, |kept| {
            kept.set(PENDING_PROJECTION, true);
            kept.clear(PLANNED_FOR);
        });
        let failure = &unwritten.failure;
        let wrong = failure.diagnostic("create", self.reference);
        if host == Host::Other {
            return Err(Failed { diagnostics: wrong.into(), object: Some(planned) });
        }
        call.diagnostics.push(wrong);
        call.not_ready = Some(NotReady {
            waiting_for: "its state to be read back".to_owned(),
            last_seen: Some(failure.to_string()),
            patience: is_unanswered(failure).then_some(PATIENCE),
        });
        Ok(planned)
    }

    fn name(&self, planned: &mut Object) {
        if planned.is_unknown("id") {
            planned.set("id", Value::string(self.id));
        }
        if !planned.is_wholly_known("object_ref") {
            planned.set("object_ref", reference_value(self.reference));
        }
        if planned.is_unknown("cluster_uid") {
            planned.set("cluster_uid", self.cluster_uid.map_or_else(|| Value::null(Type::String), Value::string));
        }
    }
}

/// What was planned where that was known, and what has become of it elsewhere; and where the two differ. What was approved is stored, and
/// the next read shows what the server has made of it.
fn agreed(planned: &Value, actual: &Map) -> (Map, Vec<String>) {
    let entries = match planned.as_entries() {
        Some(entries) if planned.is_known() && !planned.is_null() => entries,
        _ => return (actual.clone(), Vec::new()),
    };
    let mut agreed = Map::new();
    let mut differences = Vec::new();
    for (place, value) in entries.iter() {
        let now = actual.get(place.as_str());
        let text = value.as_str().map(str::to_owned).or_else(|| now.cloned()).unwrap_or_default();
        if now != Some(&text) {
            differences.push(place.to_string());
        }
        agreed.insert(place.to_string(), text);
    }
    differences.extend(actual.keys().filter(|place| !agreed.contains_key(*place)).cloned());
    (agreed, differences)
}

fn not_as_planned(reference: &ObjectRef, differences: &[String]) -> Diagnostic {
    let object = shown(reference);
    let named: Vec<&str> = differences.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = differences.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let detail = format!(
        "The server has made something else of {object} than it said while planning: {}{more}. The next plan shows how it is \
         now. Webhooks that change objects, and others who write at the same time, can be the reason.",
        named.join(", ")
    );
    Diagnostic::warning(format!("Object is not as planned: {object}"), detail)
}

#[cfg(test)]
mod tests {
    use groma_model::value::Entries;

    use super::*;

    fn map(entries: &[(&str, &str)]) -> Map {
        entries.iter().map(|(place, text)| ((*place).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn what_was_planned_is_kept_and_differences_are_told() {
        let planned = map_value(&map(&[("a", "1"), ("b", "2")]));
        let actual = map(&[("a", "1"), ("b", "3"), ("c", "4")]);
        let (agreed, differences) = agreed(&planned, &actual);
        assert_eq!(agreed, map(&[("a", "1"), ("b", "2")]));
        assert_eq!(differences, ["b", "c"]);
    }

    #[test]
    fn what_was_left_open_is_filled_in() {
        let open: Entries =
            [("data.a", Value::unknown(Type::String)), ("kind", Value::string("Secret"))].into_iter().collect();
        let actual = map(&[("data.a", "sha256:x"), ("kind", "Secret")]);
        assert_eq!(agreed(&Value::map(Type::String, open), &actual), (actual.clone(), Vec::new()));
        let unknown = Value::unknown(Type::map(Type::String));
        assert_eq!(agreed(&unknown, &actual), (actual, Vec::new()));
    }
}
