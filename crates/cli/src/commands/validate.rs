//! `groma validate`: checks a configuration without touching anything outside.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_run::view;

use super::Context;
use super::shared::{VariableArgs, ViewArgs, provider_access, session};
use crate::failure::Failure;
use crate::ui::Ui;

/// Check whether the configuration is valid.
///
/// Reads the configuration files of a directory and checks that they are syntactically valid and make sense together, whatever
/// the values of variables and whatever exists already. Talks to nobody.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory of the root module.
    #[arg(default_value = ".", value_name = "DIR")]
    dir: PathBuf,

    /// Show the result as JSON.
    #[arg(long)]
    json: bool,

    /// Write the result as JSON to this file, too.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    json_into: Option<PathBuf>,

    /// Leave test files out.
    #[arg(long)]
    no_tests: bool,

    /// Where test files are, besides the directory of the module.
    #[arg(long, value_name = "DIR", default_value = "tests")]
    test_directory: PathBuf,

    #[command(flatten)]
    variables: VariableArgs,

    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, args.view.no_color);
    let mut session = session(context, args.dir, args.variables);
    let tests = Some(args.test_directory.as_path()).filter(|_| !args.no_tests);
    let diagnostics = session.validate(tests, || provider_access(context));
    let failed = diagnostics.has_errors();
    let json = || {
        let json = view::validate::validate(&diagnostics, session.sources());
        serde_json::to_string_pretty(&json).map_err(|error| Failure::Terminal(error.into()))
    };
    if let Some(path) = args.json_into {
        let path = context.working_dir.join(path);
        std::fs::write(&path, format!("{}\n", json()?)).map_err(|source| Failure::Write { path, source })?;
    }
    if args.json {
        ui.line(&json()?)?;
    } else {
        ui.diagnostics(&diagnostics, session.sources());
        let verdict = match (failed, diagnostics.is_empty()) {
            (true, _) => "",
            (false, true) => "Success! The configuration is valid.\n",
            (false, false) => {
                "Success! The configuration is valid, but there were some validation warnings as shown above.\n"
            }
        };
        ui.out(verdict)?;
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
