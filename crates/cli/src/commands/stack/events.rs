//! `groma stack events`: what happened to a Stack and its Runs.

use std::process::ExitCode;

use groma_operator::objects::Kind;
use jiff::Timestamp;
use kube::api::DynamicObject;
use serde_json::{Value as Json, json};

use super::reach::{ReachArgs, StackName};
use super::table::{age, table};
use super::trouble::Trouble;
use crate::commands::Context;

/// Show what happened to a Stack and its Runs, the newest last.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which Stack: NAME or NAMESPACE/NAME.
    name: StackName,

    /// Say everything as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let (namespace, name) = desk.place(&args.name);
    let kind = Kind::core("Event", "events");
    let mut events = desk.wait(desk.store.list(&kind, Some(&namespace), &[]))?;
    events.retain(|event| is_about(event, &name));
    events.sort_by_key(|event| (when(event), event.metadata.name.clone()));
    if events.is_empty() {
        // Of a Stack that is not there, that is said instead.
        desk.stack(&args.name)?;
        desk.ui.message(&format!("Nothing was told about {namespace}/{name} lately.\n"));
    } else if args.json {
        desk.ui.line(&json!({"apiVersion": "v1", "kind": "List", "items": events}).to_string())?;
    } else {
        let rows: Vec<_> = events.iter().map(|event| row(event, Timestamp::now())).collect();
        desk.show(&table(&["AGE", "TYPE", "REASON", "OBJECT", "MESSAGE"], &rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text<'e>(event: &'e DynamicObject, pointer: &str) -> &'e str {
    event.data.pointer(pointer).and_then(Json::as_str).unwrap_or_default()
}

/// About the Stack, or one of its Runs, whether it is still there or not.
fn is_about(event: &DynamicObject, stack: &str) -> bool {
    let (kind, name) = (text(event, "/involvedObject/kind"), text(event, "/involvedObject/name"));
    let group = text(event, "/involvedObject/apiVersion").split('/').next();
    let number = || name.strip_prefix(stack).and_then(|rest| rest.strip_prefix('-'));
    let is_run =
        || number().is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()));
    group == Some(groma_operator::api::GROUP) && ((kind == "Stack" && name == stack) || (kind == "Run" && is_run()))
}

fn when(event: &DynamicObject) -> Option<Timestamp> {
    let mut told = ["/lastTimestamp", "/eventTime", "/firstTimestamp"].into_iter();
    let told = told.find_map(|field| text(event, field).parse().ok());
    told.or_else(|| event.metadata.creation_timestamp.as_ref().map(|time| time.0))
}

fn row(event: &DynamicObject, now: Timestamp) -> Vec<String> {
    let object = format!("{} {}", text(event, "/involvedObject/kind"), text(event, "/involvedObject/name"));
    let message = text(event, "/message").lines().collect::<Vec<_>>().join(" ");
    vec![age(when(event), now), text(event, "/type").to_owned(), text(event, "/reason").to_owned(), object, message]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: &str, name: &str) -> DynamicObject {
        serde_json::from_value(json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"},
            "involvedObject": {"apiVersion": "groma.dev/v1alpha1", "kind": kind, "name": name},
            "lastTimestamp": "2026-01-01T00:00:00Z", "type": "Normal", "reason": "RunStarted", "message": "a\nb",
        }))
        .unwrap()
    }

    #[test]
    fn events_of_runs_belong_to_their_stack() {
        for (kind, name, expected) in [
            ("Stack", "app", true),
            ("Stack", "app-1", false),
            ("Run", "app-12", true),
            ("Run", "app-web-1", false),
            ("Run", "app-", false),
            ("Pod", "app", false),
        ] {
            assert_eq!(is_about(&event(kind, name), "app"), expected, "{kind} {name}");
        }
        let row = row(&event("Run", "app-1"), "2026-01-01T00:01:00Z".parse().unwrap());
        assert_eq!(row, ["60s", "Normal", "RunStarted", "Run app-1", "a b"]);
    }
}
