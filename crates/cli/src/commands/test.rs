//! `groma test`: runs the test files of a module. What is said about them is in `voices`.

mod voices;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use groma_run::engine::interrupt::{Interrupt, Urgency};
use groma_run::testing::{Settings, TestSuite, junit};

use super::Context;
use super::shared::{JsonArgs, VariableArgs, ViewArgs, provider_access, session};
use crate::failure::Failure;
use crate::signals::{self, Interruption};
use voices::Voices;

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

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut session = session(context, ".".into(), args.variables);
    let mut voices = Voices::open(context, &args.view, &args.json)?;
    let interrupt = listen(&voices);
    let settings = Settings { test_dir: args.test_directory, filter: args.filter, verbose: args.verbose };
    let (access, mut diagnostics) = provider_access(context);
    let mut suite = None;
    if !diagnostics.has_errors() {
        let (opened, found) = TestSuite::open(&mut session, access, &settings);
        suite = opened;
        diagnostics.extend(found);
    }
    voices.diagnostics(&diagnostics, session.sources());
    let Some(suite) = suite else { return voices.end(ExitCode::FAILURE) };
    let (status, reports) = suite.run(&session, &interrupt, &mut voices);
    suite.close();
    if let Some(path) = args.junit_xml {
        let path = context.working_dir.join(path);
        let text = junit::document(&reports, session.sources());
        std::fs::write(&path, text).map_err(|source| Failure::Write { path, source })?;
    }
    // Whoever insisted on stopping was told what is left.
    if interrupt.urgency() == Urgency::Now {
        return voices.end(ExitCode::FAILURE);
    }
    voices.conclusion(status, &reports);
    let passed = status <= groma_run::testing::Status::Pass;
    voices.end(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn listen(voices: &Voices) -> Interrupt {
    let interrupt = Interrupt::default();
    let voices = voices.clone();
    let say = move |which: Interruption| voices.interrupted(which);
    signals::listen(interrupt.clone(), Arc::new(say));
    interrupt
}
