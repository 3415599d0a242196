//! `groma providers schema`: everything that the providers of a configuration understand, as JSON.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::diag::Diagnostics;

use crate::commands::Context;
use crate::commands::shared::{VariableArgs, ViewArgs, provider_access, session};
use crate::failure::Failure;
use crate::ui::Ui;

/// Show the schemas of all providers that the configuration uses.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// As JSON; the only form there is.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    variables: VariableArgs,

    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, args.view.no_color);
    if !args.json {
        let message = "The `groma providers schema` command requires the `-json` flag.";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut session = session(context, PathBuf::from("."), args.variables);
    let (access, mut diagnostics) = provider_access(context);
    let text = if diagnostics.has_errors() { Err(Diagnostics::new()) } else { session.schemas_json(&access) };
    let text = diagnostics.take(text);
    ui.diagnostics(&diagnostics, session.sources());
    match text.filter(|_| !diagnostics.has_errors()) {
        Some(text) => ui.line(&text).map(|()| ExitCode::SUCCESS),
        None => Ok(ExitCode::FAILURE),
    }
}
