//! `groma migrate`: taking over from other tools what they look after.

mod tofu_controller;

use std::process::ExitCode;

use groma_model::span::SourceMap;

use super::Context;
use super::stack::trouble::Trouble;
use crate::failure::Failure;
use crate::ui::Ui;

/// Take over what other tools look after.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    TofuController(tofu_controller::Args),
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let done = match args.what {
        What::TofuController(args) => tofu_controller::run(context, args),
    };
    match done {
        Ok(code) => Ok(code),
        Err(Trouble::Failure(failure)) => Err(failure),
        Err(trouble) => {
            Ui::new(&context.environment, false).diagnostics(&trouble.diagnostic().into(), &SourceMap::new());
            Ok(ExitCode::FAILURE)
        }
    }
}
