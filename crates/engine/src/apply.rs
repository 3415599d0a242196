//! Applying: carries a plan out, step by step, and writes down what came of each.

mod driver;
mod ephemeral;
mod generated;
mod instance;
mod logbook;
mod outcome;
mod prepare;
mod provision;
mod record;
mod salvage;

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_lang::load::ModuleTree;
use groma_lang::oracle::SchemaSource;
use groma_lang::walk::{InputValue, Settings};
use groma_model::diag::Diagnostics;
use groma_model::text::Str;
use groma_rules::Rules;
use groma_state::State;

use crate::events::{Events, Skipped};
use crate::interrupt::Interrupt;
use crate::plan::Plan;
use crate::providers::Providers;
use crate::provision::Provisioners;
pub use logbook::{Intended, Logbook, NoLogbook};

/// What is carried out, and with what.
pub struct Request<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The configuration that it was made from.
    pub tree: &'a ModuleTree,
    /// The rules beside it.
    pub rules: &'a Rules,
    /// The values that it was made from.
    pub inputs: &'a BTreeMap<Str, InputValue>,
    /// Files, time, names of directories. The oracle in it is not asked.
    pub settings: Settings<'a>,
    /// Schemas of all providers.
    pub schemas: &'a dyn SchemaSource,
    /// Where providers come from.
    pub providers: Arc<dyn Providers>,
    /// How many calls to providers may be under way.
    pub parallelism: usize,
    /// Who is told how it goes.
    pub events: Arc<dyn Events>,
    /// What runs provisioners.
    pub provisioners: Arc<dyn Provisioners>,
    /// When to stop.
    pub interrupt: Interrupt,
    /// What is done is written down here, before and after.
    pub logbook: Arc<dyn Logbook>,
}

/// What came of a plan.
pub struct Applied {
    /// What there is now.
    pub state: State,
    /// What went wrong.
    pub diagnostics: Diagnostics,
    /// What was planned and not begun, because something that it needs failed.
    pub skipped: Vec<Skipped>,
}

/// Carries a plan out. What was done before an error is in the state.
pub async fn apply(request: Request<'_>) -> Applied {
    driver::run(request).await
}
