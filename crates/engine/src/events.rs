//! What is going on, for those who show it.

use groma_model::address::{AbsInstance, DeposedKey};

use crate::change::Action;

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// An object is being read.
    RefreshStarted(AbsInstance),
    /// It was read.
    RefreshDone(AbsInstance),
    /// A data source is being read.
    ReadStarted(AbsInstance),
    /// It was read.
    ReadDone(AbsInstance),
    /// A change is being carried out.
    ApplyStarted {
        /// Of which instance.
        address: AbsInstance,
        /// Of which of its objects, if not the current one.
        deposed: Option<DeposedKey>,
        /// What.
        action: Action,
    },
    /// A change was carried out.
    ApplyDone {
        /// Of which instance.
        address: AbsInstance,
        /// What.
        action: Action,
        /// The object's id, where it has one that can be shown.
        id: Option<String>,
    },
    /// A change failed.
    ApplyFailed {
        /// Of which instance.
        address: AbsInstance,
        /// What.
        action: Action,
    },
}

/// Is told what happens.
pub trait Events: Send + Sync {
    /// Something happened.
    fn tell(&self, event: Event);
}

/// Nobody listens.
pub struct Silence;

impl Events for Silence {
    fn tell(&self, _: Event) {}
}
