//! `groma graph`: what depends on what.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Context;
use super::shared::{VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Show what depends on what, as a graph.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to draw.
    #[arg(long = "type", value_name = "plan|plan-refresh-only|plan-destroy|apply")]
    pub(crate) kind: Option<String>,

    /// Draw what this saved plan does.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,

    /// Colour what goes round in circles.
    #[arg(long)]
    pub(crate) draw_cycles: bool,

    /// Does nothing any more.
    #[arg(long, hide = true, allow_hyphen_values = true, value_name = "N")]
    pub(crate) module_depth: Option<i64>,

    /// Show everything.
    #[arg(long)]
    pub(crate) verbose: bool,

    /// How to draw: dot, mermaid or svg.
    #[arg(long, default_value = "dot", value_name = "FORMAT")]
    pub(crate) format: String,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma graph is not there yet".to_owned()))
}
