//! `groma state replace-provider`: objects get another provider.

use std::process::ExitCode;

use groma_model::address::{AbsResource, Provider};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::engine::interrupt::Interrupt;
use groma_run::state_edit;

use super::editing::{Done, EditArgs, Lock, overrides};
use crate::announce::Announcer;
use crate::commands::Context;
use crate::failure::Failure;
use crate::prompt::{Prompt, Question};
use serde_json::json;

/// Let another provider manage what one managed so far.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The provider so far.
    #[arg(value_name = "FROM")]
    pub(crate) from: String,

    /// The provider from now on.
    #[arg(value_name = "TO")]
    pub(crate) to: String,

    /// Do not ask.
    #[arg(long)]
    pub(crate) auto_approve: bool,

    #[command(flatten)]
    pub(crate) edit: EditArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = args.edit.desk(context)?;
    if args.edit.json.json && !args.auto_approve {
        let detail = "Nobody can be asked when everything is said as JSON. Give -auto-approve with -json.";
        return desk.refuse(Diagnostic::error("Invalid usage", detail));
    }
    let (from, to) = match state_edit::provider_arguments(&args.from, &args.to) {
        Ok(providers) => providers,
        Err(problems) => return desk.failed(&problems),
    };
    let access = desk.open_edited(&overrides(args.edit.paths));
    desk.edit(access, Lock::new("state-replace-provider", &args.edit.lock), |state, announcer| {
        let resources = state_edit::resources_of_provider(state, &from);
        if resources.is_empty() {
            return Ok(Done { lines: vec!["No matching resources found.".to_owned()], ..Done::default() });
        }
        let agreed = overview(announcer, (&from, &to), &resources)
            .and_then(|()| Ok(args.auto_approve || approved(announcer)?))
            .map_err(|failure| Diagnostics::from(Diagnostic::error("Error asking for approval", failure.chain())))?;
        if !agreed {
            return Ok(Done { lines: vec!["Cancelled replacing providers.".to_owned()], ..Done::default() });
        }
        state_edit::replace_provider(state, &from, &to);
        let line = format!("Successfully replaced provider for {} resources.", resources.len());
        Ok(Done { save: true, lines: vec![line], ..Done::default() })
    })
}

/// What is about to happen.
fn overview(
    announcer: &Announcer,
    (from, to): (&Provider, &Provider),
    resources: &[AbsResource],
) -> Result<(), Failure> {
    let count = resources.len();
    let names: Vec<String> = resources.iter().map(ToString::to_string).collect();
    let list: Vec<String> = names.iter().map(|name| format!("  {name}")).collect();
    let human = format!(
        "groma will perform the following actions:\n\n  ~ Updating provider:\n    - {from}\n    + {to}\n\n{} {count} \
         resources:\n\n{}",
        announcer.ui().bold("Changing"),
        list.join("\n")
    );
    let plain = format!("groma will replace provider from {from} to {to} for {count} resources");
    let more = json!({
        "type": "replace_provider",
        "from": from.to_string(),
        "to": to.to_string(),
        "resources": names,
    });
    announcer.tell_both(&human, &plain, more)
}

fn approved(announcer: &Announcer) -> Result<bool, Failure> {
    let question = Question {
        query: "\nDo you want to make these changes?",
        description: "Only 'yes' will be accepted to continue.",
        secret: false,
    };
    let answer = Prompt::new(*announcer.ui(), Interrupt::default()).ask(&question);
    Ok(answer.map_err(|problem| Failure::Usage(problem.to_string()))? == "yes")
}
