//! `groma workspace list`: all workspaces.

use std::process::ExitCode;

use groma_run::state::WorkspaceName;
use groma_run::state_access::{PathOverrides, StateAccess};

use crate::commands::Context;
use crate::commands::state::editing::DeskArgs;
use crate::failure::Failure;
use serde_json::json;

/// List the workspaces.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) desk: DeskArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = args.desk.open(context)?;
    let access = match StateAccess::open(&mut desk.session, &PathOverrides::default()) {
        Ok(access) => access,
        Err(problems) => return desk.failed(&problems),
    };
    let names = match access.workspaces() {
        Ok(names) => names,
        Err(problems) => return desk.failed(&problems),
    };
    let current = access.workspace();
    let mark = |name: &WorkspaceName| if name == current { "*" } else { " " };
    let human: Vec<String> = names.iter().map(|name| format!("{} {name}\n", mark(name))).collect();
    let names: Vec<&str> = names.iter().map(WorkspaceName::as_str).collect();
    let more = json!({ "type": "workspace_list", "workspaces": names, "current_workspace": current.as_str() });
    desk.announcer.tell_both(&human.concat(), "list of workspaces", more)?;
    if access.is_overridden() {
        let text = "The active workspace is being overridden using the TF_WORKSPACE environment\nvariable.\n";
        desk.announcer.say_both(&format!("\n\n{text}"), &text.trim_end_matches(".\n").replace('\n', " "))?;
    }
    Ok(ExitCode::SUCCESS)
}
