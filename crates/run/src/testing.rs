//! Running test files: each run block plans or applies a module and judges what came of it. Everything that was made is taken down
//! again, and nothing of the states and backends that people work with is touched: states live in memory.
//!
//! Start with [`TestSuite::open`]. What is shown of it is decided by an [`Observer`].

mod assertions;
mod cleanup;
mod compose;
mod failures;
pub mod junit;
mod literal;
mod mock;
mod open;
mod operations;
mod prepare;
mod runner;
#[cfg(test)]
mod tests;
mod values;
mod variables;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use groma_engine::interrupt::{Interrupt, Urgency};
use groma_engine::plan::Plan;
use groma_engine::provision::Provisioners;
use groma_lang::config::test_file::TestFile;
use groma_lang::load::ModuleTree;
use groma_lang::walk::InputValue;
use groma_model::address::{AbsInstance, DeposedKey};
use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_state::State;

use crate::operate::providers::BookProviders;
use crate::providers::{ProviderAccess, ProviderBook};
use crate::session::Session;
use runner::FileRunner;
use variables::Globals;

/// How a run, a file or everything went. Later ones are worse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It was not begun.
    #[default]
    Pending,
    /// It was left out.
    Skip,
    /// Everything is as asserted.
    Pass,
    /// An assertion does not hold.
    Fail,
    /// It could not be carried through.
    Error,
}

impl Status {
    /// For machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Skip => "skip",
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
        }
    }

    /// For people, who are told what went wrong besides.
    pub fn word(self) -> &'static str {
        if self == Self::Error { "fail" } else { self.name() }
    }
}

/// What is to be tested.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where test files are, besides the directory of the module.
    pub test_dir: PathBuf,
    /// Only these files. Empty for all.
    pub filter: Vec<PathBuf>,
    /// Whether plans and states are kept to be shown.
    pub verbose: bool,
}

/// What came of a file.
#[derive(Debug, Default)]
pub struct FileReport {
    /// Its path, as users see it.
    pub name: String,
    /// All in all.
    pub status: Status,
    /// Its runs, in order.
    pub runs: Vec<RunReport>,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct RunReport {
    /// Its name.
    pub name: String,
    /// How it went.
    pub status: Status,
    /// What was found.
    pub diagnostics: Diagnostics,
    /// What it planned or made, if that is to be shown.
    pub shown: Option<Shown>,
    /// How long it took.
    pub took: Duration,
}

/// What a run planned or made.
#[derive(Debug)]
pub enum Shown {
    /// A plan.
    Plan(Box<ShownPlan>),
    /// What there is after it was applied.
    State(Arc<State>),
}

/// A plan, with what it was made from.
#[derive(Debug)]
pub struct ShownPlan {
    /// The plan.
    pub plan: Plan,
    /// The configuration.
    pub tree: ModuleTree,
    /// The values of its variables.
    pub inputs: BTreeMap<Str, InputValue>,
    /// When it was made.
    pub time: (i64, u32),
}

/// An object that is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOver {
    /// Its address.
    pub address: AbsInstance,
    /// Which of its objects, if not the current one.
    pub deposed: Option<DeposedKey>,
}

/// What came of taking down what a file had made with one module.
#[derive(Debug)]
pub struct CleanUp<'a> {
    /// The file.
    pub file: &'a str,
    /// The run that changed it last.
    pub run: &'a str,
    /// What was found.
    pub diagnostics: Diagnostics,
    /// What is still there.
    pub left: Vec<LeftOver>,
    /// Where it is written down, if something is left.
    pub saved_to: Option<PathBuf>,
}

/// What there was when somebody insisted on stopping at once.
#[derive(Debug)]
pub struct Abandoned<'a> {
    /// The file.
    pub file: &'a str,
    /// The run that was under way, and the module that it works with unless that is the one under test.
    pub run: (&'a str, Option<&'a str>),
    /// What was made with the module under test.
    pub main: Vec<LeftOver>,
    /// What was made with other modules: by the run that did so last, with the source of the module.
    pub others: Vec<(String, String, Vec<LeftOver>)>,
    /// What was being made.
    pub planned: Vec<AbsInstance>,
}

impl Abandoned<'_> {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.main.is_empty() && self.others.iter().all(|(_, _, left)| left.is_empty()) && self.planned.is_empty()
    }
}

/// What is needed to show what is told.
#[derive(Clone, Copy)]
pub struct Stand<'a> {
    /// The texts.
    pub sources: &'a SourceMap,
    /// The providers and their schemas.
    pub book: &'a ProviderBook,
}

/// Is told how it goes.
pub trait Observer {
    /// It begins with these files; nothing has been done yet.
    fn begun(&mut self, files: &[FileReport]);

    /// All runs of a file are done.
    fn file(&mut self, stand: Stand<'_>, file: &FileReport);

    /// What was made with one module was taken down, as far as possible.
    fn cleaned_up(&mut self, stand: Stand<'_>, cleanup: &CleanUp<'_>);

    /// Everything was let go of.
    fn abandoned(&mut self, abandoned: &Abandoned<'_>);
}

/// A module under test, with the values that are given to its variables from outside.
struct UnderTest {
    tree: ModuleTree,
    globals: Globals,
}

/// A test file with the modules that its runs name.
struct LoadedFile {
    name: String,
    file: TestFile,
    /// By run. None for the module under test.
    modules: Vec<Option<Arc<UnderTest>>>,
}

/// The tests of a module, ready to be run.
pub struct TestSuite {
    access: ProviderAccess,
    main: UnderTest,
    files: Vec<LoadedFile>,
    providers: Arc<BookProviders>,
    provisioners: Arc<dyn Provisioners>,
    verbose: bool,
}

impl TestSuite {
    /// Reads a module and its tests, and finds the providers.
    pub fn open(
        session: &mut Session,
        access: ProviderAccess,
        settings: &Settings,
    ) -> (Option<TestSuite>, Diagnostics) {
        open::open(session, access, settings)
    }

    /// Runs all tests. The reports come in the order of the files' names.
    pub fn run(
        &self,
        session: &Session,
        interrupt: &Interrupt,
        observer: &mut dyn Observer,
    ) -> (Status, Vec<FileReport>) {
        let pending = |file: &LoadedFile| FileReport {
            name: file.name.clone(),
            status: Status::Pending,
            runs: file
                .file
                .runs
                .iter()
                .map(|run| RunReport { name: run.name.to_string(), ..RunReport::default() })
                .collect(),
        };
        let mut reports: Vec<FileReport> = self.files.iter().map(pending).collect();
        observer.begun(&reports);
        let mut status = Status::Pass;
        for (file, report) in self.files.iter().zip(&mut reports) {
            if interrupt.urgency() == Urgency::Now {
                break;
            }
            let mut runner = FileRunner::new(self, session, file, interrupt);
            runner.run(report, observer);
            runner.clean_up(observer);
            status = status.max(report.status);
        }
        (status, reports)
    }

    /// The providers and their schemas.
    pub fn book(&self) -> &ProviderBook {
        self.providers.book()
    }

    /// Ends the providers.
    pub fn close(self) {
        self.providers.book().close(&self.access.online);
    }
}
