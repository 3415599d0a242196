//! `groma doctor`: looks at the state with all that belongs to it, and mends what it is told to.

use std::process::ExitCode;

use groma_model::address::AbsInstance;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::state_access::doctor::{self, Finding, Treatment};
use groma_run::state_access::{PathOverrides, StateAccess};
use serde_json::json;

use super::Context;
use super::state::editing::{Desk, DeskArgs};
use crate::failure::Failure;

/// Look for what is wrong with the state: locks, unfinished runs, damaged files, objects that nobody knows.
///
/// Nothing is changed unless an option says so. Exits with 1 if something is left that needs somebody.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Store what unfinished runs have done, as far as their journals can be read.
    #[arg(long)]
    pub(crate) repair: bool,

    /// Go on from the state that is there, though it is not the one that was stored last.
    #[arg(long)]
    pub(crate) accept_state: bool,

    /// This object was looked for and does not exist, though a run may have created it.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) not_created: Vec<String>,

    #[command(flatten)]
    pub(crate) desk: DeskArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = args.desk.clone().open(context)?;
    let examined = treatment(&args).and_then(|treatment| {
        let mut access = StateAccess::open(&mut desk.session, &PathOverrides::default())?;
        let done = doctor::treat(&mut access, &treatment)?;
        Ok((done, doctor::examine(&mut access)))
    });
    let (done, findings) = match examined {
        Ok(examined) => examined,
        Err(problems) => return desk.failed(&problems),
    };
    for line in done {
        desk.announcer.say(&line)?;
    }
    for finding in &findings {
        show(&desk, finding)?;
    }
    if findings.is_empty() {
        let headline = desk.announcer.ui().good("Nothing is wrong with the state.");
        desk.announcer.say(&headline)?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

fn treatment(args: &Args) -> Result<Treatment, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut not_created = Vec::new();
    for text in &args.not_created {
        match text.parse::<AbsInstance>() {
            Ok(address) => not_created.push(address),
            Err(problem) => {
                let detail = format!("{text:?} is not the address of an instance: {problem}.");
                problems.push(Diagnostic::error("Invalid address", detail));
            }
        }
    }
    let treatment = Treatment { repair: args.repair, accept_state: args.accept_state, not_created };
    if problems.has_errors() { Err(problems) } else { Ok(treatment) }
}

fn show(desk: &Desk, finding: &Finding) -> Result<(), Failure> {
    let remedy = finding.remedy.as_ref().map(|remedy| format!("\n  {remedy}")).unwrap_or_default();
    let text = format!("- {}{remedy}", finding.text);
    let members = json!({
        "type": "finding",
        "kind": finding.kind.name(),
        "address": finding.address,
        "text": finding.text,
        "remedy": finding.remedy,
    });
    desk.announcer.tell(&text, members)
}
