//! `groma version`.

use std::process::ExitCode;

use super::Context;
use super::shared::ViewArgs;
use crate::failure::Failure;
use crate::ui::Ui;

/// The language version that we are compatible with; providers and readers of JSON expect one of Terraform's.
pub(crate) const LANGUAGE_VERSION: &str = "1.12.0";

/// Show the version of groma.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show it as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(args.view.no_color || context.environment.no_color);
    let version = env!("CARGO_PKG_VERSION");
    let platform = format!("{}_{}", std::env::consts::OS, architecture());
    if args.json {
        let json = serde_json::json!({
            "terraform_version": LANGUAGE_VERSION,
            "platform": platform,
            "provider_selections": {},
            "groma": { "version": version },
        });
        ui.line(&format!("{json:#}"))?;
    } else {
        ui.line(&format!("groma v{version}\non {platform}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The processor as provider packages name it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    }
}
