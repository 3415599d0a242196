//! Planning: what must be done so that the world is as configured. Changes nothing.

pub mod check;
pub(crate) mod data;
pub(crate) mod dependencies;
mod driver;
pub mod generate;
pub(crate) mod ignore;
pub(crate) mod instance;
pub mod listing;
mod moves;
mod nodes;
mod orphans;
mod pending;
pub(crate) mod provider_use;
mod relevant;
mod renamed;
mod replace;
mod requires_replace;
mod result;
mod selection;

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_lang::load::ModuleTree;
use groma_lang::oracle::SchemaSource;
use groma_lang::walk::{InputValue, Settings};
use groma_model::address::{AbsInstance, Provider, Target};
use groma_model::diag::Diagnostics;
use groma_model::path::Path;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_rules::Rules;
use groma_state::State;

use crate::change::{Action, Change};
use crate::checks::CheckReport;
use crate::events::Events;
use crate::execution::Execution;
use crate::interrupt::Interrupt;
use crate::plan::listing::Listing;
use crate::providers::Providers;
use crate::replacement::{ReplaceOptions, Replacement};

/// What a plan is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// To make the world as configured.
    #[default]
    Normal,
    /// To take everything down.
    Destroy,
    /// To write down what changed outside.
    RefreshOnly,
}

/// How to plan.
#[derive(Debug, Clone)]
pub struct Options {
    /// What for.
    pub mode: Mode,
    /// Whether objects are read anew.
    pub refresh: bool,
    /// Only these and what they need. Empty for everything.
    pub targets: Vec<Target>,
    /// Everything but these and what needs them.
    pub excludes: Vec<Target>,
    /// Instances that are replaced in any case.
    pub replace: Vec<AbsInstance>,
    /// How many calls to providers may be under way.
    pub parallelism: usize,
    /// What is wanted of rules about the order of replacements.
    pub replacement: ReplaceOptions,
    /// Whether configuration is written for what is imported to where none is. Without it that is an error.
    pub generate_config: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::Normal,
            refresh: true,
            targets: Vec::new(),
            excludes: Vec::new(),
            replace: Vec::new(),
            parallelism: 10,
            generate_config: false,
            replacement: ReplaceOptions::default(),
        }
    }
}

/// What a plan is made from.
pub struct Request<'a> {
    /// The configuration.
    pub tree: &'a ModuleTree,
    /// The rules beside it.
    pub rules: &'a Rules,
    /// Values for the variables of the root.
    pub inputs: &'a BTreeMap<Str, InputValue>,
    /// Files, time, names of directories. The oracle in it is not asked.
    pub settings: Settings<'a>,
    /// Schemas of all providers.
    pub schemas: &'a dyn SchemaSource,
    /// Where providers come from.
    pub providers: Arc<dyn Providers>,
    /// What there is, as last seen.
    pub state: &'a State,
    /// How to plan.
    pub options: &'a Options,
    /// Who is told how it goes.
    pub events: Arc<dyn Events>,
    /// When to stop.
    pub interrupt: Interrupt,
    /// Versions of providers, as far as they are known.
    pub provider_versions: &'a BTreeMap<Provider, String>,
    /// What is listed besides. None if nobody wants to know what there is.
    pub listing: Option<Arc<Listing>>,
}

/// A change of an output of the root module.
#[derive(Debug, Clone)]
pub struct OutputChange {
    /// What.
    pub action: Action,
    /// As it is, with marks; null if there is none.
    pub before: Value,
    /// As it will be, with marks; null if there will be none.
    pub after: Value,
    /// Whether it must not be shown.
    pub sensitive: bool,
}

/// What is to be done, and on what grounds.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What it is for.
    pub mode: Mode,
    /// All objects that were looked at, in the order of their addresses.
    pub changes: Vec<Change>,
    /// What changed outside since the last run, in the order of the addresses.
    pub drift: Vec<Change>,
    /// The outputs of the root module.
    pub outputs: BTreeMap<Str, OutputChange>,
    /// What there was when the last run ended, moved to today's addresses.
    pub previous_state: State,
    /// What there is.
    pub prior_state: State,
    /// Data sources that were read, with marks.
    pub data: BTreeMap<AbsInstance, Value>,
    /// In which order it is carried out.
    pub execution: Execution,
    /// What conditions said.
    pub checks: Vec<CheckReport>,
    /// In which order objects are replaced, and why.
    pub replacement: Replacement,
    /// Attributes that the changes were worked out from.
    pub relevant: Vec<RelevantAttribute>,
    /// How it was made.
    pub options: Options,
    /// Whether it is incomplete because there were errors. It can be looked at, not applied.
    pub errored: bool,
}

/// An attribute that a change was worked out from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelevantAttribute {
    /// Of which resource or instance, as it is written: `module.a.type.name`, `type.name[0]`.
    pub resource: String,
    /// Where in it.
    pub attribute: Path,
}

impl Plan {
    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        let moved = |change: &Change| change.previous_address.as_ref().is_some_and(|from| *from != change.address);
        let idle = |change: &Change| change.action == Action::NoOp && change.not_ready.is_none();
        self.changes.iter().all(|change| idle(change) && change.importing.is_none() && !moved(change))
            && self.outputs.values().all(|output| output.action == Action::NoOp)
            && (self.mode != Mode::RefreshOnly || self.previous_state == self.prior_state)
    }
}

/// Makes a plan. Where there are errors it is incomplete, or there is none at all.
pub async fn plan(request: Request<'_>) -> (Option<Plan>, Diagnostics) {
    let (plan, found) = driver::run(&request, &[]).await;
    let renamed = plan.as_ref().map(|plan| renamed::find(&plan.changes)).unwrap_or_default();
    if renamed.is_empty() {
        return (plan, found);
    }
    // With that everything looks different.
    driver::run(&request, &renamed).await
}
