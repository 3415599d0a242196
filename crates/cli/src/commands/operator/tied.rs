//! `groma operator tied`: becomes a program that ends with the operator. Not for people.

use groma_engines::become_ordered;

use crate::commands::Context;
use crate::failure::Failure;

/// Become a program that ends with the operator.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(super) fn run(context: &Context, _: &Args) -> Failure {
    Failure::Terminal(become_ordered(&context.environment.all))
}
