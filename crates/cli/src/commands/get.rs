//! `groma get`: installs the modules of a configuration, and nothing else.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use groma_run::modules::InstallSettings;

use super::Context;
use super::shared::{JsonArgs, VariableArgs, ViewArgs, announcer, online, session};
use crate::failure::Failure;
use crate::installing::Installing;

/// Install the modules that the configuration calls.
///
/// Modules that are installed already stay as they are, unless -update is given. `groma init` does this, too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Look for newer versions of what is installed already.
    #[arg(long)]
    update: bool,

    /// Where test files are.
    #[arg(long, value_name = "DIR", default_value = "tests")]
    test_directory: PathBuf,

    #[command(flatten)]
    json: JsonArgs,

    #[command(flatten)]
    variables: VariableArgs,

    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let announcer = announcer(context, &args.view, &args.json)?;
    let mut session = session(context, PathBuf::from("."), args.variables);
    let Some(online) = online(context, &announcer, &session)? else { return Ok(ExitCode::FAILURE) };
    let installing = Installing::new(Arc::clone(&announcer), true);
    let test_dir = Some(args.test_directory.as_path());
    let settings = InstallSettings { upgrade: args.update, only_installation_matters: true, test_dir };
    let mut diagnostics = session.install_modules(&online, settings, &installing);
    installing.finish()?;
    diagnostics.sort(session.sources());
    announcer.diagnostics(&diagnostics, session.sources())?;
    Ok(if diagnostics.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
