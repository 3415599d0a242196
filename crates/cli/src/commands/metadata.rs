//! `groma metadata functions`: every function with its parameters, for editors.

use std::process::ExitCode;

use groma_lang::func::registry;

use super::Context;
use super::shared::ViewArgs;
use crate::failure::Failure;
use crate::ui::Ui;

/// Show facts about groma for other tools.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show the signatures of all functions.
    Functions {
        /// As JSON; the only form there is.
        #[arg(long)]
        json: bool,

        #[command(flatten)]
        view: ViewArgs,
    },
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let What::Functions { json, view } = args.what;
    let ui = Ui::new(&context.environment, view.no_color);
    if !json {
        let message = "The `groma metadata functions` command requires the `-json` flag.";
        return Err(Failure::Usage(message.to_owned()));
    }
    ui.line(&groma_run::view::functions::functions(registry::core_functions()))?;
    Ok(ExitCode::SUCCESS)
}
