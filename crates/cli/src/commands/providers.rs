//! `groma providers`: which providers the configuration needs and who says so; `lock`, `mirror` and `schema` below it.

mod lock;
mod mirror;
mod schema;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::diag::Diagnostic;
use groma_run::providers::requirements::{self, ModuleRequirements};

use super::Context;
use super::shared::{VariableArgs, ViewArgs, session};
use crate::failure::Failure;
use crate::ui::Ui;

/// Show the providers that the configuration needs.
///
/// Prints the tree of modules with the providers that each of them needs.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,

    /// Where test files are.
    #[arg(long, value_name = "DIR", default_value = "tests", hide = true)]
    test_directory: PathBuf,

    #[command(flatten)]
    variables: VariableArgs,

    #[command(flatten)]
    view: ViewArgs,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Lock(lock::Args),
    Mirror(mirror::Args),
    Schema(schema::Args),
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    match args.what {
        Some(What::Lock(args)) => lock::run(context, args),
        Some(What::Mirror(args)) => mirror::run(context, args),
        Some(What::Schema(args)) => schema::run(context, args),
        None => show(context, args),
    }
}

fn show(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, args.view.no_color);
    let mut session = session(context, PathBuf::from("."), args.variables);
    if session.is_empty() {
        let dir = context.working_dir.display();
        let detail = format!("The directory {dir} contains no configuration files.");
        ui.diagnostics(&Diagnostic::error("No configuration files", detail).into(), session.sources());
        return Ok(ExitCode::FAILURE);
    }
    let loaded = session.load();
    let mut diagnostics = loaded.diagnostics;
    let tree = loaded.tree.filter(|_| !diagnostics.has_errors());
    if let Some(tree) = tree {
        let (needed, problems) = requirements::by_module(&tree.root);
        diagnostics.extend(problems);
        let state = session.state_providers();
        if !diagnostics.has_errors()
            && let Ok(state) = &state
        {
            ui.line("\nProviders required by configuration:")?;
            ui.line(&format!(".\n{}", branches(&needed, "")))?;
            if !state.is_empty() {
                ui.line("Providers required by state:\n")?;
            }
            for provider in state {
                ui.line(&format!("    provider[{provider}]\n"))?;
            }
        }
        diagnostics.extend(state.err().unwrap_or_default());
    }
    ui.diagnostics(&diagnostics, session.sources());
    Ok(if diagnostics.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The lines below a module.
fn branches(needed: &ModuleRequirements, indent: &str) -> String {
    let mut text = String::new();
    let count = needed.providers.len() + needed.children.len();
    let corner = |at: usize| if at + 1 == count { ("└── ", "    ") } else { ("├── ", "│   ") };
    for (at, (provider, constraints)) in needed.providers.iter().enumerate() {
        let constraints = constraints.canonical();
        let space = if constraints.is_empty() { "" } else { " " };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{indent}{}provider[{provider}]{space}{constraints}", corner(at).0);
    }
    for (at, (name, child)) in needed.children.iter().enumerate() {
        let (branch, below) = corner(needed.providers.len() + at);
        let _ = write!(text, "{indent}{branch}module.{name}\n{}", branches(child, &format!("{indent}{below}")));
    }
    text
}
