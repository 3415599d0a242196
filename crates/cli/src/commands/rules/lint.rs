//! `groma rules lint`: what is wrong with the rules here, and what is probably not meant.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::commands::Context;
use crate::commands::shared::{VariableArgs, ViewArgs, provider_access, session};
use crate::failure::Failure;
use crate::ui::Ui;

/// Check the files of rules.
///
/// Says what is wrong with them, as "groma validate" does, and gives hints about rules that are correct and probably not what was meant.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Fail if there is anything to say.
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    variables: VariableArgs,

    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, args.view.no_color);
    let mut session = session(context, PathBuf::from("."), args.variables);
    let found = session.lint_rules(|| provider_access(context));
    ui.diagnostics(&found, session.sources());
    if found.has_errors() || (args.strict && !found.is_empty()) {
        return Ok(ExitCode::FAILURE);
    }
    if found.is_empty() {
        ui.line("The rules are in order.")?;
    }
    Ok(ExitCode::SUCCESS)
}
