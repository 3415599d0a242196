//! `groma workspace`: several states for one configuration.

mod delete;
mod list;
mod new;
mod select;
mod show;

use std::process::ExitCode;

use groma_model::diag::Diagnostic;
use groma_model::span::SourceMap;

use super::Context;
use super::shared::ViewArgs;
use crate::failure::Failure;
use crate::ui::Ui;

/// Several states for one configuration.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Delete(delete::Args),
    List(list::Args),
    New(new::Args),
    Select(select::Args),
    Show(show::Args),
}

/// `is_env`: whether it was called by its old name, `groma env`.
pub(super) fn run(context: &Context, args: Args, is_env: bool) -> Result<ExitCode, Failure> {
    if is_env {
        warn(context, args.what.view());
    }
    match args.what {
        What::Delete(args) => delete::run(context, args),
        What::List(args) => list::run(context, args),
        What::New(args) => new::run(context, args),
        What::Select(args) => select::run(context, args),
        What::Show(args) => show::run(context, args),
    }
}

impl What {
    fn view(&self) -> &ViewArgs {
        match self {
            What::Delete(args) => &args.view,
            What::List(args) => &args.desk.view,
            What::New(args) => &args.view,
            What::Select(args) => &args.desk.view,
            What::Show(args) => &args.view,
        }
    }
}

/// The old name will go one day.
fn warn(context: &Context, view: &ViewArgs) {
    let detail = "What was called an environment is called a workspace. Use the \"groma workspace\" commands instead; \"groma env\" \
                  will be removed.";
    let warning = Diagnostic::warning("The \"groma env\" family of commands is deprecated", detail);
    Ui::new(&context.environment, view.no_color).diagnostics(&warning.into(), &SourceMap::new());
}
