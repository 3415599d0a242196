//! `groma stack unlock`: who holds the lock of a state, and taking it away.

use std::fmt::Write as _;
use std::process::ExitCode;

use groma_operator::api::stack::Stack;
use groma_operator::objects::{Kind, Place};
use groma_operator::serve::standalone::Layout;
use jiff::Timestamp;
use kube::api::DynamicObject;
use serde_json::Value as Json;

use super::reach::{Desk, ReachArgs, StackName};
use super::table::age;
use super::trouble::Trouble;
use crate::commands::Context;

/// Who holds a lock says so in this annotation.
const LOCK_INFO: &str = "app.terraform.io/lock-info";
/// What else a holder leaves there.
const MARKS: [&str; 3] = [LOCK_INFO, "groma.dev/renewing", "groma.dev/replaced"];
/// What a Lease has only while somebody holds it.
const HELD: [&str; 4] = ["holderIdentity", "leaseDurationSeconds", "acquireTime", "renewTime"];

/// Say who holds the lock of the state of a Stack, and take it away with --force.
///
/// Only locks that were left behind should be taken away: if somebody still works with the state, both will overwrite each other.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which Stack: NAME or NAMESPACE/NAME.
    name: StackName,

    /// The id of the lock that is taken away.
    #[arg(value_name = "LOCK_ID", requires = "force")]
    lock: Option<String>,

    /// Take the lock away.
    #[arg(long, requires = "lock")]
    force: bool,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let stack = desk.stack(&args.name)?;
    if let Some(alone) = &desk.alone {
        return in_files(&desk, &alone.layout, &stack, args.lock.as_deref());
    }
    let place = lease(&stack)?;
    let found = desk.wait(desk.store.get(&place))?;
    let Some((lease, holder)) = found.and_then(|lease| holder(&lease).map(|holder| (lease, holder))) else {
        desk.ui.message("Nobody holds the lock of this state.\n");
        return Ok(ExitCode::SUCCESS);
    };
    let Some(lock) = &args.lock else {
        desk.show(&held(&lease, &holder, Timestamp::now()))?;
        return Ok(ExitCode::SUCCESS);
    };
    desk.change(&place, |lease| {
        // Somebody else may hold it by now.
        let holder = self::holder(lease).unwrap_or_default();
        if holder != *lock {
            let detail = format!("The lock {lock:?} is not there. The one that is has the id {holder:?}.");
            return Err(Trouble::Refused("Another lock", detail));
        }
        release(lease);
        Ok(())
    })?;
    desk.ui.message(&format!("The lock {lock} of {place} was taken away.\n"));
    Ok(ExitCode::SUCCESS)
}

/// The lock of a state in a file. Of who has died the system has taken it away; who lives gives it back itself.
fn in_files(desk: &Desk, layout: &Layout, stack: &Stack, lock: Option<&str>) -> Result<ExitCode, Trouble> {
    if let Some(backend) = &stack.spec.backend {
        return Err(elsewhere(&backend.kind));
    }
    let name = |text: &Option<String>| text.clone().unwrap_or_default();
    let folder = layout.states().join(name(&stack.metadata.namespace)).join(name(&stack.metadata.name));
    let folder = match stack.spec.workspace.as_deref() {
        None | Some("default") => folder,
        Some(workspace) => folder.join("workspaces").join(workspace),
    };
    let Ok(text) = std::fs::read_to_string(folder.join(".terraform.tfstate.lock.info")) else {
        desk.ui.message("Nobody holds the lock of this state.\n");
        return Ok(ExitCode::SUCCESS);
    };
    let info: Json = serde_json::from_str(&text).unwrap_or_default();
    let id = info["ID"].as_str().unwrap_or_default();
    if let Some(lock) = lock {
        let detail = format!(
            "The lock {lock:?} cannot be taken away: it is held by a process that is alive, or is none. \"groma stack cancel\" ends the \
             Run that holds it; of a process that has died, the system has taken it away already."
        );
        return Err(Trouble::Refused("Locks of files go with their processes", detail));
    }
    let mut told = format!("ID:         {id}\n");
    for title in ["Who", "Operation", "Created"] {
        if let Some(value) = info[title].as_str().filter(|value| !value.is_empty()) {
            // Writing to a string does not fail.
            let _ = writeln!(told, "{:<12}{value}", format!("{title}:"));
        }
    }
    desk.show(&told)?;
    Ok(ExitCode::SUCCESS)
}

fn elsewhere(kind: &str) -> Trouble {
    let detail = format!(
        "The state of this Stack is kept by the backend {kind:?}. Its lock is taken away with \"groma force-unlock\", in a directory with that \
         backend."
    );
    Trouble::Refused("The lock is kept elsewhere", detail)
}

/// The Lease that a state in a cluster is locked by.
fn lease(stack: &Stack) -> Result<Place, Trouble> {
    let here = stack.metadata.namespace.clone().unwrap_or_default();
    let given = |name: &str, otherwise: &str| {
        let backend = stack.spec.backend.as_ref();
        let text = backend.and_then(|backend| backend.config.get(name)?.0.as_str());
        text.unwrap_or(otherwise).to_owned()
    };
    let (suffix, namespace) = match stack.spec.backend.as_ref().map(|backend| backend.kind.as_str()) {
        None => (groma_operator::stack::wanted::state_suffix(stack), here),
        Some("kubernetes") => (given("secret_suffix", ""), given("namespace", "default")),
        Some(kind) => return Err(elsewhere(kind)),
    };
    let kind = Kind {
        group: "coordination.k8s.io".to_owned(),
        version: "v1".to_owned(),
        kind: "Lease".to_owned(),
        plural: "leases".to_owned(),
    };
    let workspace = stack.spec.workspace.as_deref().unwrap_or("default");
    Ok(Place::new(kind, &namespace, &format!("lock-tfstate-{workspace}-{suffix}")))
}

fn holder(lease: &DynamicObject) -> Option<String> {
    let holder = lease.data.pointer("/spec/holderIdentity")?.as_str()?;
    (!holder.is_empty()).then(|| holder.to_owned())
}

/// As the other tools leave it.
fn release(lease: &mut DynamicObject) {
    if let Some(spec) = lease.data.get_mut("spec").and_then(Json::as_object_mut) {
        spec.retain(|name, _| !HELD.contains(&name.as_str()));
    }
    if let Some(annotations) = &mut lease.metadata.annotations {
        annotations.retain(|name, _| !MARKS.contains(&name.as_str()));
    }
}

fn held(lease: &DynamicObject, holder: &str, now: Timestamp) -> String {
    let info = lease.metadata.annotations.as_ref().and_then(|annotations| annotations.get(LOCK_INFO));
    let info: Json = info.and_then(|info| serde_json::from_str(info).ok()).unwrap_or_default();
    let mut text = format!("ID:         {holder}\n");
    for (title, field) in [("Who", "Who"), ("Operation", "Operation"), ("Version", "Version"), ("Since", "Created")] {
        if let Some(value) = info.get(field).and_then(Json::as_str).filter(|value| !value.is_empty()) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{:<12}{value}", format!("{title}:"));
        }
    }
    let renewed = lease.data.pointer("/spec/renewTime").and_then(Json::as_str).and_then(|text| text.parse().ok());
    if let Some(renewed) = renewed {
        let _ = writeln!(text, "Renewed:    {} ago", age(Some(renewed), now));
    }
    let _ = writeln!(text, "\nIf nobody works with it any more, add \"{holder} --force\" to take the lock away.");
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lease_of(spec: Json) -> Result<String, String> {
        let mut stack = Stack::new("app", serde_json::from_value(spec).unwrap());
        stack.metadata.namespace = Some("team".to_owned());
        lease(&stack).map(|place| place.to_string()).map_err(|problem| problem.to_string())
    }

    #[test]
    fn the_lock_is_where_the_state_is() {
        let source = json!({"inline": {}});
        assert_eq!(lease_of(json!({"source": source})).unwrap(), "Lease team/lock-tfstate-default-app");
        assert_eq!(lease_of(json!({"source": source, "workspace": "w"})).unwrap(), "Lease team/lock-tfstate-w-app");
        let backend = json!({"kind": "kubernetes", "config": {"secret_suffix": "s", "namespace": "n"}});
        assert_eq!(lease_of(json!({"source": source, "backend": backend})).unwrap(), "Lease n/lock-tfstate-default-s");
        assert!(lease_of(json!({"source": source, "backend": {"kind": "s3"}})).unwrap_err().contains("force-unlock"));
    }

    #[test]
    fn what_is_released_is_held_by_nobody() {
        let mut lease: DynamicObject = serde_json::from_value(json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "l", "annotations": {LOCK_INFO: "{\"Who\":\"me@here\"}", "other": "x"}},
            "spec": {"holderIdentity": "id-1", "renewTime": "2026-01-01T00:00:00.000000Z", "leaseTransitions": 3},
        }))
        .unwrap();
        let told = held(&lease, "id-1", "2026-01-01T00:05:00Z".parse().unwrap());
        assert!(told.contains("Who:        me@here\n") && told.contains("Renewed:    5m ago\n"), "{told}");
        release(&mut lease);
        assert_eq!(holder(&lease), None);
        assert_eq!(lease.data["spec"], json!({"leaseTransitions": 3}));
        assert_eq!(lease.metadata.annotations.unwrap().into_keys().collect::<Vec<_>>(), ["other"]);
    }
}
