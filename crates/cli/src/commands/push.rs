//! `groma push`: was for a service that is gone. Refused, with the reason.

use std::process::ExitCode;

use groma_model::diag::Diagnostic;
use groma_model::span::SourceMap;

use super::Context;
use crate::ui::Ui;

/// Refused: it was for a service that is gone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Anything.
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> ExitCode {
    let refused = args.arguments.iter().any(|argument| argument.trim_start_matches('-') == "no-color");
    let detail =
        "This command pushed configurations to Terraform Enterprise legacy (v1), which has reached its end of life.";
    let diagnostic = Diagnostic::error("Command \"groma push\" is no longer supported", detail);
    Ui::new(&context.environment, refused).diagnostics(&diagnostic.into(), &SourceMap::new());
    ExitCode::FAILURE
}
