//! `groma logout`: forgets the token for a host.

use std::process::ExitCode;

use groma_model::span::SourceMap;
use groma_run::online::login::{Logout, Place};

use super::Context;
use super::shared::{JsonArgs, ViewArgs, announcer, online_quietly};
use crate::failure::Failure;

/// Remove the token of a host that `groma login` kept.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The name of the host.
    #[arg(value_name = "HOST")]
    pub(crate) host: String,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let announcer = announcer(context, &args.view, &args.json)?;
    let sources = SourceMap::new();
    let (online, mut diagnostics) = online_quietly(context);
    let logout = if diagnostics.has_errors() { None } else { diagnostics.take(Logout::begin(&online, &args.host)) };
    let Some(logout) = logout else {
        announcer.diagnostics(&diagnostics, &sources)?;
        return Ok(ExitCode::FAILURE);
    };
    let host = logout.host();
    match logout.place() {
        None => {
            announcer.say(&format!("No credentials for {host} are stored.\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        Some(Place::Helper(name)) => announcer.say(&format!(
            "Removing the stored credentials for {host} from the configured\n{name:?} credentials helper.\n"
        ))?,
        Some(Place::File(file)) => announcer.say(&format!(
            "Removing the stored credentials for {host} from the following file:\n    {}\n",
            file.display()
        ))?,
        Some(Place::OtherFile) => {}
    }
    if let Err(problems) = logout.forget() {
        announcer.diagnostics(&problems, &sources)?;
        return Ok(ExitCode::FAILURE);
    }
    let ui = announcer.ui();
    let done = ui.bold(&format!("groma has removed the stored API token for {host}."));
    announcer.say(&format!("{} {done}\n", ui.good("Success!")))?;
    Ok(ExitCode::SUCCESS)
}
