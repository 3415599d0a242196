//! `groma stack restore-state`: puts a state of a Stack back that the operator has kept.

use std::process::ExitCode;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;
use groma_operator::api::names;
use groma_operator::api::stack::Stack;
use groma_operator::runs::versions::{self, Version};
use groma_run::backend::{BackendWishes, PathOverrides};
use groma_run::session::{Session, Start};
use groma_run::state_access::{LockWish, StateAccess};
use jiff::Timestamp;
use serde_json::json;

use super::reach::{Desk, ReachArgs, StackName, annotate};
use super::table::{age, table};
use super::trouble::Trouble;
use crate::commands::Context;

/// Put a state of a Stack back that was kept: the last one, or the one with a serial.
///
/// The operator keeps the last three states that runs have left. What is put back is the successor of whatever is there, and a run is asked
/// for. No object is changed by this: only what is known of them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which Stack: NAME or NAMESPACE/NAME.
    name: StackName,

    /// The serial of the state. The last one that was kept if nothing is said.
    serial: Option<u64>,

    /// Show what is kept, and change nothing.
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let stack = desk.stack(&args.name)?;
    let kept = desk.wait(versions::list(&*desk.store, &stack))?;
    if args.list {
        desk.show(&shown(&kept, Timestamp::now()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let version = chosen(&kept, args.serial)?;
    let bytes = desk.wait(versions::load(&*desk.store, &stack, version));
    let bytes = bytes.map_err(|problem| Trouble::Refused("State cannot be restored", format!("{problem}.")))?;
    let serial = match put_back(&desk, &stack, &bytes) {
        Ok(serial) => serial,
        Err(problems) => {
            desk.ui.diagnostics(&problems, &SourceMap::new());
            return Ok(ExitCode::FAILURE);
        }
    };
    let wanted = Timestamp::now().to_string();
    let (namespace, name) = desk.change_stack(&args.name, |object| {
        annotate(object, names::REQUESTED_AT, &wanted);
        Ok(())
    })?;
    desk.ui.message(&format!(
        "The state of {namespace}/{name} is as it was with serial {}; it has serial {serial} now. A run is asked for.\n",
        version.serial
    ));
    Ok(ExitCode::SUCCESS)
}

fn chosen(kept: &[Version], serial: Option<u64>) -> Result<&Version, Trouble> {
    let found = match serial {
        None => kept.last(),
        Some(serial) => kept.iter().rfind(|version| version.serial == serial),
    };
    found.ok_or_else(|| {
        let serials: Vec<String> = kept.iter().map(|version| version.serial.to_string()).collect();
        let detail = match (serial, serials.is_empty()) {
            (_, true) => "No state of this Stack was kept: none of its runs has made anything yet, or its state is kept elsewhere."
                .to_owned(),
            (Some(serial), false) => format!("None with serial {serial} was kept; there are {}.", serials.join(", ")),
            (None, false) => String::new(),
        };
        Trouble::Refused("No such state", detail)
    })
}

fn shown(kept: &[Version], now: Timestamp) -> String {
    if kept.is_empty() {
        return "No state was kept.\n".to_owned();
    }
    let row = |version: &Version| vec![version.serial.to_string(), age(version.at, now), version.name.clone()];
    table(&["SERIAL", "AGE", "SECRET"], &kept.iter().map(row).collect::<Vec<_>>())
}

/// Stores the state where the Stack has it, under its lock. Gives its serial.
fn put_back(desk: &Desk, stack: &Stack, bytes: &[u8]) -> Result<u64, Diagnostics> {
    let failed = |problem: &dyn std::fmt::Display| {
        Diagnostics::from(Diagnostic::error("State cannot be restored", format!("{problem}.")))
    };
    let directory = tempfile::tempdir().map_err(|problem| failed(&problem))?;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let name = text(&stack.metadata.name);
    let namespace = text(&stack.metadata.namespace);
    let backend = if let Some(alone) = &desk.alone {
        let own = alone.layout.states().join(&namespace).join(&name);
        json!({ "local": { "path": own.join("terraform.tfstate"), "workspace_dir": own.join("workspaces") } })
    } else {
        let mut backend = desk.backend.clone();
        backend.insert("secret_suffix".to_owned(), json!(name));
        backend.insert("namespace".to_owned(), json!(namespace));
        backend.insert("labels".to_owned(), json!({ names::KEPT_FOR: name }));
        json!({ "kubernetes": backend })
    };
    let root = json!({ "terraform": { "backend": backend } });
    std::fs::write(directory.path().join("main.tf.json"), root.to_string()).map_err(|problem| failed(&problem))?;
    let workspace = Some(stack.spec.workspace.clone().unwrap_or_else(|| "default".to_owned()));
    let mut session = Session::new(Start { workspace, ..Start::in_directory(directory.path().to_owned()) });
    let (root, problems) = session.load_root();
    if problems.has_errors() {
        return Err(problems);
    }
    let wishes = BackendWishes { reconfigure: true, ..BackendWishes::default() };
    if let (None, problems) = session.init_backend(&root, wishes, None) {
        return Err(problems);
    }
    let mut access = StateAccess::open(&mut session, &PathOverrides::default())?;
    let state = access.decode(bytes, "the state that was kept")?;
    access.lock("state-restore", LockWish::default())?;
    let restored = access.restore(&state);
    let mut problems = access.unlock();
    match restored {
        Ok(serial) if !problems.has_errors() => Ok(serial),
        Ok(_) => Err(problems),
        Err(found) => {
            problems.extend(found);
            Err(problems)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(serial: u64) -> Version {
        Version { name: format!("app-state-{serial}"), serial, at: None }
    }

    #[test]
    fn the_last_one_is_meant_unless_somebody_says_which() {
        let kept = [version(3), version(4)];
        assert_eq!(chosen(&kept, None).unwrap().serial, 4);
        assert_eq!(chosen(&kept, Some(3)).unwrap().serial, 3);
        assert!(chosen(&kept, Some(9)).unwrap_err().to_string().contains("there are 3, 4"));
        assert!(chosen(&[], None).unwrap_err().to_string().contains("No state of this Stack was kept"));
    }
}
