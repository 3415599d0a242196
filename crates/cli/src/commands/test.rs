//! `groma test`: runs the test files of a module.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Context;
use super::shared::{JsonArgs, VariableArgs, ViewArgs};
use crate::failure::Failure;

/// Run the tests of a module.
///
/// Runs the run blocks of .tftest.hcl files in order and checks what they assert. What they create is destroyed afterwards.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run only this test file. Can be given several times.
    #[arg(long, value_name = "FILE")]
    pub(crate) filter: Vec<PathBuf>,

    /// Where test files are, besides the directory of the module.
    #[arg(long, default_value = "tests", value_name = "DIR")]
    pub(crate) test_directory: PathBuf,

    /// Write the results to this file as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit_xml: Option<PathBuf>,

    /// Show the plan or state of each run.
    #[arg(long)]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(_context: &Context, _args: Args) -> Result<ExitCode, Failure> {
    Err(Failure::Usage("groma test is not there yet".to_owned()))
}
