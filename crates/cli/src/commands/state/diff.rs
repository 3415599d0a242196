//! `groma state diff`: what two states say differently, without values.

use std::collections::BTreeSet;
use std::process::ExitCode;

use groma_model::diag::Diagnostics;
use groma_run::state_access::{PathOverrides, StateAccess};
use groma_run::state_edit::{self, Difference};
use serde_json::json;

use super::editing::DeskArgs;
use super::restore::earlier;
use crate::commands::Context;
use crate::failure::Failure;

/// Show what has changed between an earlier state and another one, or the current one.
///
/// Names are shown and no values, since any of them may be secret.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// From which: its number in "groma state history".
    #[arg(value_name = "FROM")]
    pub(crate) from: usize,

    /// To which; without it, to the current one.
    #[arg(value_name = "TO")]
    pub(crate) to: Option<usize>,

    #[command(flatten)]
    pub(crate) desk: DeskArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut desk = args.desk.open(context)?;
    let opened = StateAccess::open(&mut desk.session, &PathOverrides::default());
    let compared = opened.and_then(|mut access| compare(&mut access, args.from, args.to));
    let differences = match compared {
        Ok(differences) => differences,
        Err(problems) => return desk.failed(&problems),
    };
    for difference in &differences {
        let (sign, address, attributes) = match difference {
            Difference::Added(address) => ("+", address, BTreeSet::new()),
            Difference::Removed(address) => ("-", address, BTreeSet::new()),
            Difference::Changed(address, attributes) => ("~", address, attributes.clone()),
        };
        let names: Vec<&str> = attributes.iter().map(String::as_str).collect();
        let detail = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        let members = json!({ "type": "difference", "sign": sign, "address": address, "attributes": names });
        desk.announcer.tell(&format!("{sign} {address}{detail}"), members)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(access: &mut StateAccess, from: usize, to: Option<usize>) -> Result<Vec<Difference>, Diagnostics> {
    let from = earlier(access, from)?;
    match to {
        Some(to) => Ok(state_edit::differences(&from, &earlier(access, to)?)),
        None => Ok(state_edit::differences(&from, &access.read()?.as_deref().cloned().unwrap_or_default())),
    }
}
