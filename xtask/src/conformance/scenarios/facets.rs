//! What is compared of a step: its parts by name, free of what differs from run to run.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::canon::{self, Tokens};
use super::script::Scenario;

/// The parts of one step, by name.
pub(super) type Facets = BTreeMap<String, Value>;

/// The parts of every step that one program played.
pub(super) fn of(scenario: &Scenario, records: &[Value]) -> Vec<Facets> {
    let mut tokens = Tokens::default();
    let records = with_counted_serials(records);
    let steps = records.iter().enumerate();
    steps.map(|(index, record)| step(scenario, &mut tokens, index + 1, record)).collect()
}

/// Serials as what each step has added. How often a state is saved during an apply depends on how long that takes: there it only
/// counts whether the serial has grown.
fn with_counted_serials(records: &[Value]) -> Vec<Value> {
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    let mut records = records.to_vec();
    for record in &mut records {
        let is_apply = record.get("apply").is_some();
        for (path, state) in record["states"].as_object_mut().into_iter().flatten() {
            let Some(serial) = state["serial"].as_i64() else { continue };
            let added = serial - last.insert(path.clone(), serial).unwrap_or_default();
            state["serial"] = if is_apply { added.signum() } else { added }.into();
        }
    }
    records
}

fn step(scenario: &Scenario, tokens: &mut Tokens, number: usize, record: &Value) -> Facets {
    register_known(scenario, tokens, number, record);
    let mut facets = Facets::new();
    let mut add = |name: &str, value: &Value| {
        let value = tokens.apply(&canon::keyed(value), &format!("{number}.{name}"));
        facets.insert(name.to_owned(), value);
    };
    if let Some(planned) = record["planned"].as_object() {
        for (name, value) in plan_parts(planned) {
            add(&format!("plan.{name}"), &value);
        }
    }
    for (name, part) in [("states", "state"), ("shown", "show"), ("outputs", "outputs"), ("world", "world")] {
        if let Some(value) = record.get(name) {
            add(part, &without(value, &["terraform_version"]));
        }
    }
    for name in ["plan", "apply"] {
        if let Some(said) = record.get(name) {
            add(name, &verdict(said));
            add(&format!("{name}.stream"), &stream(said));
        }
    }
    if let Some(answered) = record.get("run") {
        add("run", &neutral_answer(answered));
    }
    if let Some(next) = record.get("next") {
        add("next", &verdict(next));
        add("next.stream", &stream(next));
    }
    // What happens at the same time does so in any order.
    for (name, value) in facets.iter_mut().filter(|(name, _)| name.ends_with(".stream")) {
        *value = count_events(value, scenario.ordered && name == "apply.stream");
    }
    facets
}

/// What another command answered, without warnings among the rest and without the program's name.
fn neutral_answer(answered: &Value) -> Value {
    let mut answered = answered.clone();
    if let Some(lines) = answered["output"].as_array_mut() {
        lines.retain(|line| line.as_str().is_none_or(|line| !line.is_empty() && !line.starts_with(['╷', '│', '╵'])));
    }
    for problem in answered["problems"].as_array_mut().into_iter().flatten() {
        *problem = problem.as_str().unwrap_or_default().replace("OpenTofu", "groma").into();
    }
    answered
}

/// Events as texts with how often each was told; those that tell what happens may keep their order.
fn count_events(events: &Value, keep_order: bool) -> Value {
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    let mut in_order = Vec::new();
    for event in events.as_array().into_iter().flatten() {
        if keep_order && event.get("hook").is_some() {
            in_order.push(canon::line(event));
        } else {
            *counted.entry(canon::line(event)).or_default() += 1;
        }
    }
    json!({ "events": counted, "in order": in_order })
}

/// Identifiers that only their place tells from other text: keys of deposed objects, and what the scenario names.
fn register_known(scenario: &Scenario, tokens: &mut Tokens, number: usize, record: &Value) {
    for state in record["states"].as_object().into_iter().flatten().map(|(_, state)| state) {
        for resource in state["resources"].as_array().into_iter().flatten() {
            let kind = resource["type"].as_str().unwrap_or_default();
            let address = format!("{kind}.{}", resource["name"].as_str().unwrap_or_default());
            for instance in resource["instances"].as_array().into_iter().flatten() {
                if let Some(key) = instance["deposed"].as_str() {
                    tokens.register(key, &format!("deposed of {address} in step {number}"));
                }
                let key = instance.get("index_key").map(|key| format!("[{key}]")).unwrap_or_default();
                let volatile = scenario.volatile.iter().filter(|(named, _)| named == kind);
                for name in volatile.flat_map(|(_, names)| names) {
                    let value = &instance["attributes"][name];
                    let name = format!("{address}{key}.{name} in step {number}");
                    register_all(tokens, value, &name);
                }
            }
        }
    }
}

fn register_all(tokens: &mut Tokens, value: &Value, name: &str) {
    match value {
        Value::String(text) => tokens.register(text, name),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                register_all(tokens, item, &format!("{name}[{index}]"));
            }
        }
        _ => {}
    }
}

/// The parts of a plan. What only says when and by whom it was made is left out.
fn plan_parts(planned: &Map<String, Value>) -> BTreeMap<String, Value> {
    let names = [
        ("resource_changes", "changes"),
        ("resource_drift", "drift"),
        ("output_changes", "outputs"),
        ("relevant_attributes", "relevant"),
        ("planned_values", "values"),
        ("prior_state", "prior"),
    ];
    let mut parts = BTreeMap::new();
    for (key, value) in planned {
        // What groma adds stands under its own name.
        if ["terraform_version", "timestamp", "groma", "stderr", "no JSON"].contains(&key.as_str()) {
            continue;
        }
        let name = names.iter().find(|(long, _)| long == key).map_or(key.as_str(), |(_, short)| short);
        let mut value = without(value, &["terraform_version"]);
        if name == "relevant" {
            sort(&mut value);
        }
        if let ("changes" | "drift", Some(changes)) = (name, value.as_array_mut()) {
            // A set, told in any order.
            changes.iter_mut().filter_map(|change| change["change"].get_mut("replace_paths")).for_each(sort);
        }
        parts.insert(name.to_owned(), value);
    }
    parts
}

fn sort(value: &mut Value) {
    if let Value::Array(items) = value {
        items.sort_by_cached_key(canon::line);
    }
}

/// A document without some keys at any depth of objects that hold states.
fn without(value: &Value, keys: &[&str]) -> Value {
    let Value::Object(entries) = value else { return value.clone() };
    let kept = entries.iter().filter(|(key, _)| !keys.contains(&key.as_str()));
    Value::Object(kept.map(|(key, value)| (key.clone(), without(value, keys))).collect())
}

/// Where the oracle names no place for a message, any place is right.
pub(super) fn forgive_places(ours: &mut Value, theirs: &Value) {
    if let Value::Object(entries) = ours {
        for (key, value) in entries {
            forgive_places(value, &theirs[key]);
        }
        let Some(Value::Array(found)) = ours.get_mut("diagnostics") else { return };
        let expected: Vec<&str> =
            theirs["diagnostics"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for text in found.iter_mut() {
            let told = text.as_str().unwrap_or_default();
            let (message, _) = told.rsplit_once(" at ").unwrap_or((told, ""));
            let without = format!("{message} at -");
            if !expected.contains(&told) && expected.contains(&without.as_str()) {
                *text = Value::String(without);
            }
        }
        sort(&mut ours["diagnostics"]);
        if let Some(found) = ours["diagnostics"].as_array_mut() {
            found.dedup();
        }
    }
}

/// That something failed may be told where the oracle's stream leaves that out.
pub(super) fn forgive_failures(ours: &mut Value, theirs: &Value) {
    let Some(events) = ours.get_mut("events").and_then(Value::as_object_mut) else { return };
    events.retain(|event, _| !event.contains("type: \"apply_errored\"") || theirs["events"].get(event).is_some());
}

/// Exit code and diagnostics. Neither their order nor how often each is told counts.
fn verdict(said: &Value) -> Value {
    let mut found: Vec<Value> = said["diagnostics"].as_array().into_iter().flatten().map(brief).collect();
    found.sort_by_key(ToString::to_string);
    found.dedup();
    json!({ "exit": said["exit"], "diagnostics": found, "noise": said["noise"] })
}

/// Severity, summary and place, on one line. A cycle is shown without its members, whose order is not fixed.
fn brief(found: &Value) -> Value {
    let text = |key: &str| found[key].as_str().unwrap_or("?").to_owned();
    let mut summary = text("summary").replace("OpenTofu", "groma");
    if summary.starts_with("Cycle: ") {
        "Cycle".clone_into(&mut summary);
    }
    Value::String(format!("{} {} at {}", text("severity"), summary, text("place")))
}

/// The events of a stream without times.
fn stream(said: &Value) -> Value {
    let mut events: Vec<Value> = Vec::new();
    for event in said["events"].as_array().into_iter().flatten() {
        let mut event = event.clone();
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        if kind.ends_with("_progress") {
            continue;
        }
        if let Some(entries) = event.as_object_mut() {
            for key in ["@timestamp", "@module", "@level"] {
                entries.remove(key);
            }
            for key in ["hook", "change"] {
                let resource = entries.get_mut(key).and_then(|part| part.get_mut("resource"));
                if let Some(resource) = resource {
                    shorten(resource);
                }
            }
            if let Some(hook) = entries.get_mut("hook").and_then(Value::as_object_mut) {
                hook.remove("elapsed_seconds");
            }
        }
        if let Some(message) = event["@message"].as_str() {
            event["@message"] = Value::String(without_duration(message));
        }
        events.push(event);
    }
    Value::Array(events)
}

/// What follows from the address is left out where it does follow.
fn shorten(resource: &mut Value) {
    let text = |key: &str| resource[key].as_str().unwrap_or_default();
    let local = format!("{}.{}", text("resource_type"), text("resource_name"));
    let follows = text("addr").ends_with(text("resource"))
        && text("addr").starts_with(text("module"))
        && text("resource").contains(&local)
        && text("resource_type").starts_with(text("implied_provider"))
        && resource.get("resource_key").is_some();
    if follows {
        *resource = resource["addr"].clone();
    }
}

/// `complete after 3s [...]` without how long it took.
fn without_duration(message: &str) -> String {
    let Some((before, after)) = message.split_once(" after ") else { return message.to_owned() };
    let rest = after.trim_start_matches(|character: char| character.is_ascii_digit() || "hms".contains(character));
    format!("{before} after -{rest}")
}

/// What the oracle did, in lines that a scenario can expect.
pub(super) fn summary(record: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for name in ["plan", "apply", "run"] {
        let said = &record[name];
        if let Some(code) = said["exit"].as_i64() {
            lines.push(format!("{name} exit {code}"));
        }
        for found in said["diagnostics"].as_array().into_iter().flatten() {
            lines.push(format!("{name} {}", brief(found).as_str().unwrap_or_default()));
        }
        for problem in said["problems"].as_array().into_iter().flatten() {
            lines.push(format!("{name} {}", problem.as_str().unwrap_or_default()));
        }
    }
    let planned = &record["planned"];
    for (list, word) in [("resource_changes", "change"), ("resource_drift", "drift")] {
        for change in planned[list].as_array().into_iter().flatten() {
            lines.push(change_line(word, change));
        }
    }
    for (name, change) in planned["output_changes"].as_object().into_iter().flatten() {
        lines.push(format!("output {name} {}", actions(change)));
    }
    for check in planned["checks"].as_array().into_iter().flatten() {
        let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
        lines.push(format!("check {} {}", text(&check["address"]["to_display"]), text(&check["status"])));
    }
    if let Some(code) = record["next"]["exit"].as_i64() {
        lines.push(format!("next exit {code}"));
    }
    lines
}

fn change_line(word: &str, change: &Value) -> String {
    let text = |key: &str| change[key].as_str().unwrap_or_default();
    let mut line = format!("{word} {} {}", text("address"), actions(&change["change"]));
    if change.get("deposed").is_some() {
        line.push_str(" deposed");
    }
    if let Some(reason) = change["action_reason"].as_str() {
        line.extend([" ", reason]);
    }
    if let Some(previous) = change["previous_address"].as_str() {
        line.extend([" from ", previous]);
    }
    if change["change"].get("importing").is_some() {
        line.push_str(" importing");
    }
    line
}

fn actions(change: &Value) -> String {
    let actions = change["actions"].as_array().into_iter().flatten().filter_map(Value::as_str);
    actions.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serials_count_by_step() {
        let state = |serial: i64| json!({ "s.tfstate": { "serial": serial } });
        let records = [
            json!({ "apply": {}, "states": state(3) }),
            json!({ "run": {}, "states": state(5) }),
            json!({ "apply": {}, "states": state(5) }),
        ];
        let counted = with_counted_serials(&records);
        let serials: Vec<_> = counted.iter().map(|record| record["states"]["s.tfstate"]["serial"].clone()).collect();
        assert_eq!(serials, [1, 2, 0]);
    }

    #[test]
    fn diagnostics_are_a_set() {
        let found = json!({ "severity": "error", "summary": "No", "place": "m.tf:1" });
        let said = json!({ "exit": 1, "diagnostics": [found, found], "noise": [] });
        assert_eq!(verdict(&said)["diagnostics"], json!(["error No at m.tf:1"]));
    }

    #[test]
    fn a_place_may_be_named_where_the_oracle_names_none() {
        let mut ours = json!({ "diagnostics": ["error A at m.tf:1", "error A at m.tf:2", "error B at -"] });
        let theirs = json!({ "diagnostics": ["error A at -", "error B at m.tf:3"] });
        forgive_places(&mut ours, &theirs);
        assert_eq!(ours["diagnostics"], json!(["error A at -", "error B at -"]));
    }

    #[test]
    fn durations_do_not_count() {
        assert_eq!(without_duration("a: Creation complete after 1m3s [id=x]"), "a: Creation complete after - [id=x]");
        assert_eq!(without_duration("Plan: 1 to add"), "Plan: 1 to add");
    }

    #[test]
    fn a_summary_names_actions_and_reasons() {
        let record = json!({ "plan": { "exit": 0, "diagnostics": [] }, "planned": { "resource_changes": [
            { "address": "a.b", "change": { "actions": ["delete", "create"] }, "action_reason": "replace_because_tainted" }] } });
        assert_eq!(summary(&record), ["plan exit 0", "change a.b delete,create replace_because_tainted"]);
    }
}
