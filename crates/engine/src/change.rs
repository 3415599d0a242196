//! What is to be done with one object, and why.

use std::sync::Arc;

use groma_model::address::{AbsInstance, ConfigResource, DeposedKey, ProviderInstance};
use groma_model::path::Path;
use groma_model::schema::Schema;
use groma_model::value::Value;
use groma_provider::api::{ImportTarget, Pending, Private};

/// What is to be done with one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Nothing.
    NoOp,
    /// It does not exist yet.
    Create,
    /// A data source is read when the plan is applied.
    Read,
    /// It is changed in place.
    Update,
    /// It is deleted.
    Delete,
    /// It is deleted, then made anew.
    DeleteThenCreate,
    /// A new one is made, then the old one is deleted.
    CreateThenDelete,
    /// It stays, but nobody looks after it any more.
    Forget,
    /// It stays unattended, and a new one is made.
    ForgetThenCreate,
}

impl Action {
    /// Whether another object takes its place.
    pub fn is_replace(self) -> bool {
        matches!(self, Self::DeleteThenCreate | Self::CreateThenDelete | Self::ForgetThenCreate)
    }

    /// Whether a new object is made.
    pub fn creates(self) -> bool {
        self == Self::Create || self.is_replace()
    }

    /// Whether an object is deleted.
    pub fn deletes(self) -> bool {
        matches!(self, Self::Delete | Self::DeleteThenCreate | Self::CreateThenDelete)
    }

    /// As machines are told: the `actions` of a change.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::NoOp => &["no-op"],
            Self::Create => &["create"],
            Self::Read => &["read"],
            Self::Update => &["update"],
            Self::Delete => &["delete"],
            Self::DeleteThenCreate => &["delete", "create"],
            Self::CreateThenDelete => &["create", "delete"],
            Self::Forget => &["forget"],
            Self::ForgetThenCreate => &["forget", "create"],
        }
    }
}

/// Why an action was chosen, where that is not plain from the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// It is marked as damaged.
    ReplaceBecauseTainted,
    /// The user asked for it.
    ReplaceByRequest,
    /// Something that it is bound to changes.
    ReplaceByTriggers,
    /// The provider cannot change it in place.
    ReplaceBecauseCannotUpdate,
    /// No `resource` block is left.
    DeleteBecauseNoResourceConfig,
    /// Its module is not called any more.
    DeleteBecauseNoModule,
    /// It has a key that this kind of repetition does not make.
    DeleteBecauseWrongRepetition,
    /// Its number is beyond `count`.
    DeleteBecauseCountIndex,
    /// Its key is not in `for_each`.
    DeleteBecauseEachKey,
    /// It is not enabled.
    DeleteBecauseEnabledFalse,
    /// It was moved to where nothing is declared.
    DeleteBecauseNoMoveTarget,
    /// Its configuration is not known yet.
    ReadBecauseConfigUnknown,
    /// Something that it depends on changes.
    ReadBecauseDependencyPending,
    /// It belongs to a check.
    ReadBecauseCheckNested,
    /// It is forgotten since its block says that it is not destroyed.
    ForgotBecauseLifecycleDestroyInConfig,
    /// It is forgotten since the state says that it is not destroyed.
    ForgotBecauseLifecycleDestroyInState,
}

impl Reason {
    /// As machines are told: the `action_reason` of a change.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReplaceBecauseTainted => "replace_because_tainted",
            Self::ReplaceByRequest => "replace_by_request",
            Self::ReplaceByTriggers => "replace_by_triggers",
            Self::ReplaceBecauseCannotUpdate => "replace_because_cannot_update",
            Self::DeleteBecauseNoResourceConfig => "delete_because_no_resource_config",
            Self::DeleteBecauseNoModule => "delete_because_no_module",
            Self::DeleteBecauseWrongRepetition => "delete_because_wrong_repetition",
            Self::DeleteBecauseCountIndex => "delete_because_count_index",
            Self::DeleteBecauseEachKey => "delete_because_each_key",
            Self::DeleteBecauseEnabledFalse => "delete_because_enabled_false",
            Self::DeleteBecauseNoMoveTarget => "delete_because_no_move_target",
            Self::ReadBecauseConfigUnknown => "read_because_config_unknown",
            Self::ReadBecauseDependencyPending => "read_because_dependency_pending",
            Self::ReadBecauseCheckNested => "read_because_check_nested",
            Self::ForgotBecauseLifecycleDestroyInConfig => "forgot_because_lifecycle_destroy_in_config",
            Self::ForgotBecauseLifecycleDestroyInState => "forgot_because_lifecycle_destroy_in_state",
        }
    }
}

/// A planned change of one object.
#[derive(Debug, Clone)]
pub struct Change {
    /// Which instance.
    pub address: AbsInstance,
    /// Which of its objects, if not the current one.
    pub deposed: Option<DeposedKey>,
    /// Where the object was before it was moved.
    pub previous_address: Option<AbsInstance>,
    /// Made with which provider configuration.
    pub provider: ProviderInstance,
    /// What.
    pub action: Action,
    /// Why.
    pub reason: Option<Reason>,
    /// As it is, with marks; null if there is none.
    pub before: Value,
    /// As it will be, with marks; null if there will be none.
    pub after: Value,
    /// What of that is sensitive because the configuration says so, whatever the schema says.
    pub configured_sensitive: Vec<Path>,
    /// What identifies it now.
    pub before_identity: Option<Value>,
    /// What will identify it.
    pub after_identity: Option<Value>,
    /// From the provider, for the apply.
    pub private: Private,
    /// Attributes whose change needs a new object.
    pub replace_paths: Vec<Path>,
    /// It exists already and is taken in.
    pub importing: Option<ImportTarget>,
    /// The schema that all of these follow.
    pub schema: Arc<Schema>,
    /// What it depends on, by configuration.
    pub dependencies: Arc<[ConfigResource]>,
    /// Whether a replacement is made first.
    pub create_before_destroy: bool,
    /// The configuration that was written for an object without one.
    pub generated_config: Option<String>,
    /// What else was decided about it, in the order of the decisions.
    pub notes: Vec<Note>,
    /// What it lacks, if it is there and not ready.
    pub not_ready: Option<Pending>,
}

impl Change {
    /// Whether something is made, changed, read or waited for, on which what depends on it has to wait.
    pub fn makes(&self) -> bool {
        let acts = self.action.creates() || matches!(self.action, Action::Update | Action::Read);
        acts || self.only_waits()
    }

    /// Whether nothing is done but to wait until it is ready.
    pub fn only_waits(&self) -> bool {
        self.action == Action::NoOp && self.not_ready.is_some()
    }
}

/// A decision of the planner that neither the action nor its reason tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The configuration differs from the object, and `ignore_changes` says to leave that.
    Ignored(Path),
    /// This entry of `replace_triggered_by` changes.
    TriggeredBy(String),
    /// It is replaced along with an object that it depends on, as a rule wants: which object, which rule.
    TakenAlong(String, String),
    /// Its replacement is made first because this one, which needs it, asks for that.
    MadeFirstFor(ConfigResource),
    /// A rule or the user decided in which order it is replaced: who.
    Ordered(Arc<str>),
    /// It was marked for replacement on the command line.
    Requested,
    /// It is forgotten rather than deleted: `lifecycle.destroy`, a `removed` block or the state says so.
    NotDestroyed,
}
