//! `groma providers mirror`: packages of all providers in a directory, for machines without access to registries.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use groma_model::diag::Diagnostics;
use groma_run::providers::{Event, Observer};

use super::lock::{needed, platforms};
use crate::announce::Announcer;
use crate::commands::Context;
use crate::commands::shared::{JsonArgs, VariableArgs, ViewArgs, announcer, online, session};
use crate::failure::Failure;

/// Put packages of all providers into a directory.
///
/// The directory can be used as a filesystem_mirror, or served as a network_mirror.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to.
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// For which platform, e.g. linux_amd64. Can be given several times.
    #[arg(long, value_name = "OS_ARCH")]
    platform: Vec<String>,

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
    let mut diagnostics = Diagnostics::new();
    let platforms = platforms(&args.platform, &mut diagnostics);
    let needed = needed(&mut session, &mut diagnostics);
    if !diagnostics.has_errors() {
        for provider in needed.keys().filter(|provider| provider.is_builtin()) {
            announcer.say(&format!("- Skipping {} because it is built in to groma", provider.for_display()))?;
        }
        let lines = Lines(Arc::clone(&announcer));
        let dir = context.working_dir.join(&args.dir);
        diagnostics.extend(session.mirror_providers(&online, &needed, &platforms, (&dir, &lines)));
    }
    announcer.diagnostics(&diagnostics, session.sources())?;
    Ok(if diagnostics.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

struct Lines(Arc<Announcer>);

impl Observer for Lines {
    fn observe(&self, event: Event) {
        let line = match &event {
            Event::Selected { provider, version } => {
                format!("- Mirroring {}...\n  - Selected v{version}", provider.for_display())
            }
            Event::FetchBegin { location, .. } => format!("  - Downloading package from {location}..."),
            Event::FetchSuccess { authentication: Some(result), .. } => {
                format!("  - Package authenticated: {}", result.trust())
            }
            _ => return,
        };
        // That nobody listens is found when the end is told.
        let _ = self.0.say(&line);
    }
}
