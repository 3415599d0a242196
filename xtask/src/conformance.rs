//! `cargo xtask conformance`: the corpora of `tests/conformance` given to groma and to the real
//! programs, and every difference by name. What is meant to differ is listed in `allowed.toml`.

mod allowed;
mod answers;
mod console;
mod corpus;
mod fmt;
mod init;
mod pool;
mod program;
mod report;
mod scenarios;
mod schemas;
mod scratch;
mod validate;

use anyhow::{Result, bail};

use crate::{peers, product};
use allowed::Allowed;
use answers::Answers;
use program::Program;
use report::Report;

/// Compare groma with real OpenTofu (and Terraform) on the corpora of `tests/conformance`.
///
/// OpenTofu decides. Its answers are kept below the target directory, so only the first run is slow.
/// Where Terraform differs from OpenTofu is told, and counts for nothing.
/// `GROMA_BIN` names a groma to use instead of building one.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only this corpus. Can be repeated.
    #[arg(long, value_enum)]
    suite: Vec<Suite>,
    /// Only cases whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Also list where Terraform differs, and where an error has another summary.
    #[arg(long)]
    verbose: bool,
    /// Leave Terraform out.
    #[arg(long)]
    no_terraform: bool,
}

/// The corpora.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Suite {
    Console,
    Fmt,
    Validate,
    Init,
    /// Needs the plugins that groma has twins of.
    Scenarios,
    /// Needs every plugin of `cargo xtask peers`.
    Schemas,
}

impl Suite {
    const ALL: [Self; 6] = [Self::Console, Self::Fmt, Self::Validate, Self::Init, Self::Scenarios, Self::Schemas];

    fn name(self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::Fmt => "fmt",
            Self::Validate => "validate",
            Self::Init => "init",
            Self::Scenarios => "scenarios",
            Self::Schemas => "schemas",
        }
    }
}

/// The programs that take part.
struct Programs {
    groma: Program,
    tofu: Program,
    terraform: Option<Program>,
}

/// One case of a corpus with what each program made of it, as text that a person can compare.
struct Case {
    /// `suite/name`, the id that `allowed.toml` uses.
    id: String,
    groma: Outcome,
    tofu: Outcome,
    terraform: Option<Outcome>,
}

/// What a program made of a case.
struct Outcome {
    /// What must be equal.
    verdict: String,
    /// Shown when verdicts differ, and compared for information: messages and the like.
    detail: String,
}

/// Runs the corpora that were asked for and fails if any case differs that is not allowed to.
pub(crate) fn run(args: &Args) -> Result<()> {
    let allowed = Allowed::load()?;
    let programs = programs(args)?;
    let mut report = Report::new(args.verbose);
    for suite in Suite::ALL {
        if !args.suite.is_empty() && !args.suite.contains(&suite) {
            continue;
        }
        println!("comparing {} ...", suite.name());
        let mut answers = Answers::load(suite.name())?;
        let filter = args.filter.as_deref().unwrap_or_default();
        let cases = match suite {
            Suite::Console => console::compare(&programs, &mut answers, filter),
            Suite::Fmt => fmt::compare(&programs, &mut answers, filter),
            Suite::Validate => validate::compare(&programs, &mut answers, filter),
            Suite::Init => init::compare(&programs, filter),
            Suite::Scenarios => scenarios::compare(&programs, &allowed, filter),
            Suite::Schemas => schemas::compare(&programs, filter),
        };
        answers.save()?;
        report.suite(suite.name(), &cases?, &allowed);
    }
    scratch::remove_copies()?;
    let failed = report.finish();
    if failed > 0 {
        bail!("{failed} cases differ and are not allowed to (allowed ones: tests/conformance/allowed.toml)");
    }
    Ok(())
}

/// Builds or finds the programs.
fn programs(args: &Args) -> Result<Programs> {
    let tofu = Program::opentofu(peers::tofu()?)?;
    let terraform = if args.no_terraform { None } else { Some(Program::terraform(peers::terraform()?)?) };
    let groma = match std::env::var_os("GROMA_BIN").filter(|value| !value.is_empty()) {
        Some(path) => path.into(),
        None => product::groma()?,
    };
    let groma = Program::groma(groma)?;
    let mut names = vec![&groma, &tofu];
    names.extend(terraform.as_ref());
    for program in names {
        println!("    {} {}", program.name, program.version);
    }
    Ok(Programs { groma, tofu, terraform })
}

/// The platform that we run on, as packages of providers name it.
pub(crate) fn platform() -> String {
    let os = if std::env::consts::OS == "macos" { "darwin" } else { std::env::consts::OS };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{os}_{arch}")
}
