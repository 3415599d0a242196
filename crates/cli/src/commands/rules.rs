//! `groma rules`: the rules about the order of replacements that hold here, what is wrong with them, and what they say.

mod docs;
mod lint;
mod list;
mod test;

use std::process::ExitCode;

use groma_run::rules::{Documented, ReplaceRules};

use super::Context;
use crate::failure::Failure;

/// Rules about the order of replacements.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    List(list::Args),
    Lint(lint::Args),
    Docs(docs::Args),
    Test(test::Args),
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    match args.what {
        What::List(args) => list::run(context, args),
        What::Lint(args) => lint::run(context, args),
        What::Docs(args) => docs::run(context, args),
        What::Test(args) => test::run(context, args),
    }
}

/// Everything that holds: the rules of the modules, then those of the catalogue.
pub(super) fn documented(rules: &ReplaceRules) -> Vec<Documented<'_>> {
    let own = rules.rules().iter().map(|rule| Documented::by_user(rule));
    let catalogue = rules.catalogue.map(|_| Documented::catalogue()).unwrap_or_default();
    own.chain(catalogue).collect()
}
