//! `groma version`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use groma_model::span::SourceMap;
use groma_run::providers::Platform;

use super::Context;
use super::shared::ViewArgs;
use crate::failure::Failure;
use crate::ui::Ui;

/// The language version that we are compatible with; providers and readers of JSON expect one of Terraform's.
pub(crate) const LANGUAGE_VERSION: &str = "1.12.0";

/// Show the version of groma, and of the providers that are selected.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show it as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, args.view.no_color);
    let version = env!("CARGO_PKG_VERSION");
    // What is locked is what was selected last; a lock file that cannot be read is for other commands to complain about.
    let (locks, _) = groma_run::lock_file::load(&mut SourceMap::new(), &context.working_dir);
    let selected: BTreeMap<String, String> =
        locks.iter().map(|lock| (lock.provider.to_string(), lock.version.to_string())).collect();
    let platform = Platform::current().to_string();
    if args.json {
        let json = serde_json::json!({
            "terraform_version": LANGUAGE_VERSION,
            "platform": platform,
            "provider_selections": selected,
            "groma": { "version": version },
        });
        ui.line(&format!("{json:#}"))?;
    } else {
        ui.line(&format!("groma v{version}\non {platform}"))?;
        for (provider, version) in selected {
            ui.line(&format!("+ provider {provider} v{version}"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
