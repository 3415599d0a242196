//! In which order objects are replaced, who decided that, and on what grounds: as a plan keeps it. How it is decided is in `plan::replace`.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use groma_model::address::AbsInstance;
use groma_rules::replace::rule::{Mode, Order};

/// What the user wants of rules about the order of replacements.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplaceOptions {
    /// Whether they are heeded.
    pub mode: Mode,
    /// Who said so.
    pub mode_source: ModeSource,
    /// Orders for single instances, whatever rules say.
    pub orders: BTreeMap<AbsInstance, Order>,
    /// Whether everything is found out about every rule, for somebody who asks. Without it only as much as decides.
    pub in_full: bool,
}

/// Who said whether rules are heeded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ModeSource {
    /// Nobody.
    #[default]
    Default,
    /// A `replace_settings` block.
    Settings,
    /// A variable of the environment.
    Environment,
    /// The command line.
    CommandLine,
}

impl ModeSource {
    /// As machines are told.
    pub fn name(self) -> &'static str {
        match self {
            ModeSource::Default => "default",
            ModeSource::Settings => "settings",
            ModeSource::Environment => "env",
            ModeSource::CommandLine => "cli",
        }
    }
}

/// What was decided about all replacements of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replacement {
    /// For machines: which rules there were, and how they were heeded. Empty if they were not.
    pub rules: String,
    /// What was decided about each object that rules or the user had something to say about.
    pub decisions: BTreeMap<AbsInstance, Decision>,
}

/// What was decided about one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The order.
    pub order: Order,
    /// Everything, for machines.
    pub document: Document,
}

/// A text in JSON that is written when it is first read: most are never.
#[derive(Clone)]
pub struct Document {
    text: OnceLock<String>,
    write: Option<Arc<dyn Fn() -> String + Send + Sync>>,
}

impl Document {
    /// One that is written later.
    pub(crate) fn later(write: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self { text: OnceLock::new(), write: Some(Arc::new(write)) }
    }
}

impl From<String> for Document {
    fn from(text: String) -> Self {
        Self { text: OnceLock::from(text), write: None }
    }
}

impl Deref for Document {
    type Target = str;

    fn deref(&self) -> &str {
        self.text.get_or_init(|| self.write.as_ref().map(|write| write()).unwrap_or_default())
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Document {}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
