//! What is known of objects of tofu-controller, and how it is written. Nothing here talks to a cluster.

use std::fmt::Write as _;

use groma_operator::api::run::{Phase, PlanCounts, Run};
use groma_operator::api::stack::Stack;
use groma_operator::terraform::Standing;
use groma_operator::terraform::rival::Rival;
use groma_operator::terraform::state::Found;
use serde::Serialize;
use serde_json::Value as Json;

/// An object.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    pub(super) namespace: String,
    pub(super) name: String,
    /// Whether groma looks after it already.
    pub(super) is_ours: bool,
    /// Fields that mean the same.
    pub(super) same: Vec<String>,
    pub(super) differs: Vec<String>,
    pub(super) not_honoured: Vec<String>,
    /// Why it cannot be looked after.
    pub(super) problems: Vec<String>,
    pub(super) state: String,
    pub(super) plan: Plan,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Outcome>,
}

/// What came of handing it over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Outcome {
    pub(super) is_done: bool,
    pub(super) what: String,
}

/// What a plan does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "what")]
pub(super) enum Plan {
    /// Nobody knows, because of this.
    Unknown(String),
    /// It is being made.
    UnderWay,
    NoChanges,
    Changes(String),
    Failed(String),
}

impl Entry {
    pub(super) fn new(namespace: String, name: String, standing: Standing) -> Self {
        Self {
            namespace,
            name,
            is_ours: standing == Standing::Ours,
            same: Vec::new(),
            differs: Vec::new(),
            not_honoured: Vec::new(),
            problems: Vec::new(),
            state: String::new(),
            plan: Plan::Unknown(String::new()),
            outcome: None,
        }
    }

    pub(super) fn unreadable(namespace: String, name: String, problem: String) -> Self {
        Self { problems: vec![problem], ..Self::new(namespace, name, Standing::Theirs) }
    }

    /// What came of it, if it is not handed over now.
    pub(super) fn decided(&self, accept_changes: bool) -> Option<Outcome> {
        let not = |what: String| Some(Outcome { is_done: false, what });
        if self.is_ours {
            return Some(Outcome { is_done: true, what: "groma looks after it already".to_owned() });
        }
        if !self.problems.is_empty() {
            return not("not handed over: groma could not look after it".to_owned());
        }
        match &self.plan {
            Plan::NoChanges => None,
            Plan::Changes(_) if accept_changes => None,
            Plan::Changes(what) => not(format!(
                "not handed over: its plan changes something ({what}); -accept-changes hands it over even so"
            )),
            Plan::Failed(why) => not(format!("not handed over: its plan could not be made: {why}")),
            Plan::UnderWay => not("not handed over: its plan is being made".to_owned()),
            Plan::Unknown(why) => not(format!("not handed over: its plan is not known: {why}")),
        }
    }
}

/// The fields of an object that nothing else is said about.
pub(super) fn same(spec: &Json, entry: &Entry) -> Vec<String> {
    let told = [&entry.differs, &entry.not_honoured, &entry.problems];
    let is_told = |field: &str| {
        let start = format!("spec.{field}");
        let is_it = |text: &String| text.strip_prefix(&start).is_some_and(|rest| rest.starts_with(['.', '[', ':']));
        told.iter().any(|list| list.iter().any(is_it))
    };
    let fields = spec.as_object().into_iter().flat_map(|fields| fields.keys());
    fields.filter(|field| !is_told(field)).cloned().collect()
}

/// What is known of a state.
pub(super) fn state(found: &Found) -> String {
    match found {
        Found::Nothing => "there is none yet".to_owned(),
        Found::Elsewhere(kind) => format!("kept by the backend {kind:?}, and used where it is"),
        Found::Unreadable(why) => format!("cannot be read: {why}"),
        Found::There(known) => {
            format!("can be read: {} objects, serial {}, lineage {}", known.entries.len(), known.serial, known.lineage)
        }
    }
}

/// What the plan of a Stack does.
pub(super) fn plan(stack: &Stack, run: Option<&Run>) -> Plan {
    let conditions = stack.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    let ready = conditions.iter().find(|known| known.kind == "Ready");
    if let Some(invalid) = ready.filter(|ready| ready.reason == "InvalidSpec") {
        return Plan::Failed(invalid.message.clone());
    }
    let Some(status) = run.and_then(|run| run.status.as_ref()) else { return Plan::UnderWay };
    match status.phase {
        Phase::Failed => Plan::Failed(status.message.clone()),
        Phase::Succeeded | Phase::AwaitingApproval => {
            let PlanCounts { add, change, destroy, import, forget } = status.planned.unwrap_or_default();
            if status.message.starts_with("No changes") || status.approval.is_some() {
                return Plan::NoChanges;
            }
            let mut what = format!("{add} to add, {change} to change, {destroy} to destroy");
            if import + forget > 0 {
                // Writing to a string does not fail.
                let _ = write!(what, ", {import} to import, {forget} to forget");
            }
            Plan::Changes(what)
        }
        _ => Plan::UnderWay,
    }
}

/// The report, for people.
pub(super) fn text(entries: &[Entry], rival: Option<&Rival>) -> String {
    let mut text = match rival {
        Some(rival) => {
            format!("tofu-controller is at work: {} holds its lease in {}.\n", rival.holder, rival.namespace)
        }
        None => "tofu-controller is not at work.\n".to_owned(),
    };
    if entries.is_empty() {
        text.push_str("There are no Terraform objects.\n");
    }
    for entry in entries {
        let whose = if entry.is_ours { "groma" } else { "tofu-controller" };
        let _ = writeln!(text, "\n{}/{} ({whose})", entry.namespace, entry.name);
        let plan = match &entry.plan {
            Plan::Unknown(why) => format!("not known: {why}"),
            Plan::UnderWay => "being made".to_owned(),
            Plan::NoChanges => "no changes".to_owned(),
            Plan::Changes(what) => what.clone(),
            Plan::Failed(why) => format!("failed: {why}"),
        };
        let _ = writeln!(text, "  same:          {}", entry.same.join(", "));
        let lists = [("differs", &entry.differs), ("not honoured", &entry.not_honoured), ("wrong", &entry.problems)];
        for (title, list) in lists {
            for told in list {
                let _ = writeln!(text, "  {:<14} {told}", format!("{title}:"));
            }
        }
        if !entry.state.is_empty() {
            let _ = writeln!(text, "  state:         {}", entry.state);
        }
        let _ = writeln!(text, "  plan:          {plan}");
        if let Some(outcome) = &entry.outcome {
            let _ = writeln!(text, "  result:        {}", outcome.what);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(plan: Plan) -> Entry {
        Entry { plan, ..Entry::new("team".to_owned(), "app".to_owned(), Standing::Theirs) }
    }

    #[test]
    fn only_what_changes_nothing_is_handed_over_by_itself() {
        assert_eq!(entry(Plan::NoChanges).decided(false), None);
        let changes = entry(Plan::Changes("1 to add".to_owned()));
        let refused = changes.decided(false).unwrap();
        assert!(!refused.is_done && refused.what.contains("-accept-changes"), "{refused:?}");
        assert_eq!(changes.decided(true), None);
        for plan in [Plan::UnderWay, Plan::Failed("x".to_owned()), Plan::Unknown("x".to_owned())] {
            assert!(entry(plan).decided(true).is_some_and(|outcome| !outcome.is_done));
        }
        let mut wrong = entry(Plan::NoChanges);
        wrong.problems.push("spec.cloud: no".to_owned());
        assert!(wrong.decided(true).is_some_and(|outcome| !outcome.is_done));
        let ours = Entry::new("team".to_owned(), "app".to_owned(), Standing::Ours);
        assert!(ours.decided(false).is_some_and(|outcome| outcome.is_done));
    }

    #[test]
    fn what_nothing_is_said_about_is_the_same() {
        let mut entry = entry(Plan::NoChanges);
        entry.differs.push("spec.varsFrom[0].varsKeys: x".to_owned());
        entry.not_honoured.push("spec.planOnlyNot: y".to_owned());
        let spec = json!({"interval": "1m", "varsFrom": [], "planOnly": true});
        assert_eq!(same(&spec, &entry), ["interval", "planOnly"]);
    }

    #[test]
    fn a_report_says_what_is_known() {
        let mut entry = entry(Plan::NoChanges);
        entry.same.push("interval".to_owned());
        entry.differs.push("spec.upgradeOnInit: x".to_owned());
        entry.state = "can be read: 1 objects, serial 2, lineage l".to_owned();
        let shown = text(&[entry], None);
        let expected = "tofu-controller is not at work.\n\nteam/app (tofu-controller)\n  same:          interval\n  differs:       \
                        spec.upgradeOnInit: x\n  state:         can be read: 1 objects, serial 2, lineage l\n  plan:          no changes\n";
        assert_eq!(shown, expected);
    }
}
