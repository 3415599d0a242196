//! What is planned: the mode, and which resources.

use std::path::{Path, PathBuf};

use groma_model::address::{AbsInstance, AddressError, ResourceMode, Target};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_run::engine::plan::{Mode, Options};
use groma_run::session::Session;

use super::replacing::ReplaceArgs;
use super::{InputArgs, JsonArgs, LockArgs, PathArgs, SensitiveArgs, VariableArgs, ViewArgs};

/// What everything that plans can be told.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PlanningArgs {
    #[command(flatten)]
    pub(crate) operation: OperationArgs,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) paths: PathArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) sensitive: SensitiveArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// How many things are done at the same time if nothing else is said.
const DEFAULT_PARALLELISM: usize = 10;

/// How to plan.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct OperationArgs {
    /// Plan to destroy everything that this configuration manages.
    #[arg(long)]
    pub(crate) destroy: bool,

    /// Only check whether objects still are as the state says, and plan to update the state.
    #[arg(long)]
    pub(crate) refresh_only: bool,

    /// Whether objects are looked at before planning.
    #[arg(long, value_name = "BOOL", default_value = "true", default_missing_value = "true", num_args = 0..=1,
          require_equals = true, action = clap::ArgAction::Set, value_parser = super::go_bool)]
    pub(crate) refresh: bool,

    /// Replace this resource instance, even if nothing else asks for it. Can be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<String>,

    #[command(flatten)]
    pub(crate) replacing: ReplaceArgs,

    /// Plan only this module, resource or resource instance and what it depends on. Can be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<String>,

    /// Like -target, with one address per line of a file.
    #[arg(long, value_name = "FILE")]
    pub(crate) target_file: Vec<PathBuf>,

    /// Leave out this module, resource or resource instance and what depends on it. Can be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) exclude: Vec<String>,

    /// Like -exclude, with one address per line of a file.
    #[arg(long, value_name = "FILE")]
    pub(crate) exclude_file: Vec<PathBuf>,

    /// How many things are done at the same time.
    #[arg(long, value_name = "N", default_value_t = 10, allow_hyphen_values = true)]
    pub(crate) parallelism: i64,
}

impl OperationArgs {
    /// What the flags ask for together. Files of addresses are taken in as sources, so that mistakes in them have a place.
    pub(crate) fn options(&self, session: &mut Session) -> Result<Options, Diagnostics> {
        let mut diagnostics = Diagnostics::new();
        let (targets, excludes) = self.selection(session, &mut diagnostics);
        let replace = self.replace.iter().filter_map(|text| diagnostics.take(instance("replace", text))).collect();
        let replacement = diagnostics.take(self.replacing.options(&session.start().environment)).unwrap_or_default();
        let mode = diagnostics.take(self.mode()).unwrap_or_default();
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        if mode != Mode::Normal && !self.replace.is_empty() {
            return Err(no_replacement().into());
        }
        let parallelism = self.parallelism()?;
        let refresh = self.refresh;
        Ok(Options { mode, refresh, targets, excludes, replace, parallelism, replacement, ..Options::default() })
    }

    /// How much is done at the same time; 0 leaves it to us.
    pub(crate) fn parallelism(&self) -> Result<usize, Diagnostics> {
        parallelism(self.parallelism)
    }

    /// Flags that say how to plan, which a saved plan leaves no room for.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let lists = [
            ("-target", self.target.is_empty()),
            ("-target-file", self.target_file.is_empty()),
            ("-exclude", self.exclude.is_empty()),
            ("-exclude-file", self.exclude_file.is_empty()),
            ("-replace", self.replace.is_empty()),
            ("-destroy", !self.destroy),
            ("-refresh-only", !self.refresh_only),
            ("-refresh=false", self.refresh),
        ];
        lists.into_iter().chain(self.replacing.given()).filter(|(_, absent)| !absent).map(|(name, _)| name).collect()
    }

    fn selection(&self, session: &mut Session, diagnostics: &mut Diagnostics) -> (Vec<Target>, Vec<Target>) {
        let targeting = !self.target.is_empty() || !self.target_file.is_empty();
        let excluding = !self.exclude.is_empty() || !self.exclude_file.is_empty();
        if targeting && excluding {
            let detail = "The target and exclude planning options are mutually-exclusive. Each plan must use either only the \
                          target options or only the exclude options.";
            diagnostics.push(Diagnostic::error("Invalid combination of arguments", detail));
            return (Vec::new(), Vec::new());
        }
        let mut read = |flag: &str, direct: &[String], files: &[PathBuf]| {
            let mut found: Vec<Target> =
                direct.iter().filter_map(|text| diagnostics.take(target(flag, text))).collect();
            for file in files {
                found.extend(targets_in_file(session, file, diagnostics));
            }
            found
        };
        let targets = read("target", &self.target, &self.target_file);
        (targets, read("exclude", &self.exclude, &self.exclude_file))
    }

    fn mode(&self) -> Result<Mode, Diagnostics> {
        match (self.destroy, self.refresh_only) {
            (true, true) => {
                let detail = "The -destroy and -refresh-only options are mutually-exclusive.";
                Err(Diagnostic::error("Incompatible plan mode options", detail).into())
            }
            (true, false) => Ok(Mode::Destroy),
            (false, true) if !self.refresh => {
                let detail = "It doesn't make sense to use -refresh-only at the same time as -refresh=false, because groma \
                              would have nothing to do.";
                Err(Diagnostic::error("Incompatible refresh options", detail).into())
            }
            (false, true) => Ok(Mode::RefreshOnly),
            (false, false) => Ok(Mode::Normal),
        }
    }
}

/// Only what stays can be replaced.
pub(crate) fn no_replacement() -> Diagnostic {
    let detail = "Forcing resource instance replacement (with -replace=...) is allowed only in normal planning mode.";
    Diagnostic::error("Unsupported plan mode", detail)
}

/// Reads the value of `-parallelism`; 0 leaves it to us.
pub(crate) fn parallelism(given: i64) -> Result<usize, Diagnostics> {
    match usize::try_from(given) {
        Ok(0) => Ok(DEFAULT_PARALLELISM),
        Ok(number) => Ok(number),
        Err(_) => {
            let detail = format!("The parallelism must be a positive value. Not {given}.");
            Err(Diagnostic::error("Invalid parallelism value", detail).into())
        }
    }
}

fn target(flag: &str, text: &str) -> Result<Target, Diagnostics> {
    text.parse()
        .map_err(|problem: AddressError| Diagnostic::error(format!("Invalid {flag} {text:?}"), problem.detail).into())
}

/// An instance of a managed resource that a flag names.
pub(super) fn instance(flag: &str, text: &str) -> Result<AbsInstance, Diagnostics> {
    let refused = |detail: String| Diagnostic::error(format!("Invalid force-replace address {text:?}"), detail);
    let instance: AbsInstance = text.parse().map_err(|problem: AddressError| refused(problem.detail))?;
    if instance.instance.resource.mode != ResourceMode::Managed {
        return Err(refused(format!("Only managed resources can be used with the -{flag}=... option.")).into());
    }
    Ok(instance)
}

/// One address per line. What begins with `#` is a comment.
fn targets_in_file(session: &mut Session, path: &Path, diagnostics: &mut Diagnostics) -> Vec<Target> {
    let name = path.display().to_string();
    let text = match std::fs::read_to_string(session.start().working_dir.join(path)) {
        Ok(text) => text,
        Err(problem) => {
            let detail = "Addresses cannot be read from a file that is not there or cannot be opened.";
            diagnostics.push(Diagnostic::error(format!("Could not read {name}: {problem}"), detail));
            return Vec::new();
        }
    };
    let file = session.add_source(&name, &text);
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let address = line.trim();
        if !address.is_empty() && !address.starts_with('#') {
            match address.parse() {
                Ok(target) => found.push(target),
                Err(AddressError { summary, detail, .. }) => {
                    let begin = start + (line.len() - line.trim_start().len());
                    let place = Span::new(file, begin, begin + address.len());
                    diagnostics.push(Diagnostic::error(summary, detail).at(place));
                }
            }
        }
        start += line.len();
    }
    found
}
