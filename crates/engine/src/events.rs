//! What is going on, for those who show it.

use groma_model::address::{AbsInstance, DeposedKey};
use groma_model::text::Str;
use groma_model::value::Value;

use crate::change::Action;

/// What an object is called outside, where that can be shown: the name of an attribute and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownId {
    /// `id`, or another attribute that tells objects apart.
    pub key: Str,
    /// Its value.
    pub value: String,
}

/// What an object is called outside: its `id`, else its `name`, else the name among its tags. None if none of them is a text that
/// may be shown.
pub fn shown_id(object: &Value) -> Option<ShownId> {
    let text = |path: &[&str]| {
        let mut value = object.clone();
        for name in path {
            if value.marks().is_sensitive() || value.is_null() || !value.is_known() {
                return None;
            }
            value = value.as_entries()?.get(name)?.clone();
        }
        let shown = !value.marks().is_sensitive() && value.is_known() && !value.is_null();
        value.as_str().filter(|text| shown && !text.is_empty()).map(str::to_owned)
    };
    let named = |path: &[&str]| Some(ShownId { key: path.join(".").into(), value: text(path)? });
    named(&["id"])
        .or_else(|| named(&["name"]))
        .or_else(|| named(&["tags", "Name"]))
        .or_else(|| named(&["tags", "name"]))
}

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// An object is being read.
    RefreshStarted(AbsInstance, Option<ShownId>),
    /// It was read.
    RefreshDone(AbsInstance, Option<ShownId>),
    /// An object that exists already is being looked up, by that id.
    ImportStarted(AbsInstance, String),
    /// It was found.
    ImportDone(AbsInstance, String),
    /// A data source is being read, or a change is being carried out.
    ApplyStarted {
        /// Of which instance.
        address: AbsInstance,
        /// Of which of its objects, if not the current one.
        deposed: Option<DeposedKey>,
        /// What.
        action: Action,
        /// The object, if it is there already.
        id: Option<ShownId>,
    },
    /// It was carried out.
    ApplyDone {
        /// Of which instance.
        address: AbsInstance,
        /// Of which of its objects, if not the current one.
        deposed: Option<DeposedKey>,
        /// What.
        action: Action,
        /// The object.
        id: Option<ShownId>,
    },
    /// It failed.
    ApplyFailed {
        /// Of which instance.
        address: AbsInstance,
        /// Of which of its objects, if not the current one.
        deposed: Option<DeposedKey>,
        /// What.
        action: Action,
    },
    /// A planned change is not carried out because something that it needs failed.
    Skipped(Skipped),
    /// A provisioner starts.
    ProvisionStarted(AbsInstance, Str),
    /// It printed a line.
    ProvisionOutput(AbsInstance, Str, String),
    /// It is done.
    ProvisionDone(AbsInstance, Str),
    /// It failed.
    ProvisionFailed(AbsInstance, Str),
    /// An ephemeral resource is opened, renewed or closed.
    EphemeralStarted(AbsInstance, EphemeralAction),
    /// That is done.
    EphemeralDone(AbsInstance, EphemeralAction),
    /// The order to stop was taken in: nothing new begins.
    Stopping,
}

/// A planned change that is not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Of which instance.
    pub address: AbsInstance,
    /// What.
    pub action: Action,
    /// What failed, if that is an object.
    pub because_of: Option<AbsInstance>,
}

/// What is done with an ephemeral resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EphemeralAction {
    /// Its value is fetched.
    Open,
    /// It is kept alive.
    Renew,
    /// It is let go.
    Close,
}

/// Is told what happens. Called from many tasks; must not wait.
pub trait Events: Send + Sync {
    /// Something happened.
    fn tell(&self, event: Event);
}

/// Nobody listens.
pub struct Silence;

impl Events for Silence {
    fn tell(&self, _: Event) {}
}
