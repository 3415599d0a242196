//! State: what was made, as Terraform and OpenTofu write it down. Operations are not run here.

pub mod crash;
mod decode;
mod digest;
mod disk;
pub mod encryption;
mod fields;
mod file;
pub mod journal;
mod keeper;
mod ledger;
mod local;
mod lock;
mod store;
mod upgrade;
mod v4;
mod witness;
mod workspace;

use std::collections::BTreeMap;

use groma_model::address::{
    AbsObject, AbsResource, ConfigResource, DeposedKey, InstanceKey, Provider, ProviderConfig, ResourceMode,
};
use groma_model::path::Path;
use groma_model::text::Str;
use groma_model::value::Value;

pub use decode::{DecodeError, decode, decode_bytes};
pub use digest::{Digest, Fingerprint, object_id};
pub use disk::{Disk, DiskFile, RealDisk, replace_whole};
pub use file::{FileError, read_file, write_file};
pub use keeper::{Keeper, PushError, Random, Saved, may_follow, random_id};
pub use ledger::{Ledger, LedgerError, Pacer, Recovered, Run, Stored};
pub use local::{LocalStore, StatePaths};
pub use lock::{LockError, LockInfo, Pause, lock_within};
pub use store::{PlainCodec, StateCodec, StateStore, StoreError, Version};
pub use v4::{EncodeError, Layout, encode};
pub use witness::{Testimony, Witness, WitnessError, WitnessFile};
pub use workspace::{DEFAULT_WORKSPACE, LocalWorkspaces, Selection, WorkspaceError, WorkspaceName};

/// Everything that was made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// Who wrote it last.
    pub tool_version: String,
    /// Counts every change of the content.
    pub serial: u64,
    /// Names the line of states that this one belongs to; never changes.
    pub lineage: String,
    /// The outputs of the root module.
    pub outputs: BTreeMap<Str, OutputState>,
    /// What was made.
    pub resources: BTreeMap<AbsResource, ResourceState>,
    /// What checks said last. None if whoever wrote the state knew no checks.
    pub checks: Option<Vec<CheckResult>>,
}

impl State {
    /// The providers that its resources were made with, each once.
    pub fn providers(&self) -> Vec<&Provider> {
        let mut found: Vec<&Provider> = self.resources.values().map(|resource| &resource.provider.provider).collect();
        found.sort();
        found.dedup();
        found
    }

    /// Whether nothing is in it. What checks said is nothing that was made.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty() && self.resources.is_empty()
    }

    /// Whether another state says the same, whoever wrote it and whichever snapshot it is.
    pub fn same_content(&self, other: &State) -> bool {
        let checks = |state: &State| state.checks.as_ref().is_some_and(|checks| !checks.is_empty());
        self.outputs == other.outputs
            && self.resources == other.resources
            && (self.checks == other.checks || !(checks(self) || checks(other)))
    }

    /// The objects of managed resources, which somebody has to destroy one day.
    pub fn managed_objects(&self) -> Vec<AbsObject> {
        let managed = self.resources.iter().filter(|(address, _)| address.resource.mode == ResourceMode::Managed);
        let mut found = Vec::new();
        for (address, resource) in managed {
            for (key, instance) in &resource.instances {
                let address = address.instance(key.clone());
                found.extend(instance.current.iter().map(|_| address.object(None)));
                found.extend(instance.deposed.keys().map(|key| address.object(Some(key.clone()))));
            }
        }
        found
    }
}

/// The value of an output.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputState {
    /// Its value, without marks.
    pub value: Value,
    /// Whether it must not be shown.
    pub sensitive: bool,
    /// Why its use is discouraged, if it is.
    pub deprecated: Option<Str>,
}

/// A resource and its instances.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceState {
    /// The provider configuration that it was made with.
    pub provider: ProviderConfig,
    /// Its instances.
    pub instances: BTreeMap<InstanceKey, InstanceState>,
}

/// One instance: its object, and those that wait to be deleted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InstanceState {
    /// Which instance of the provider configuration it was made with.
    pub provider_key: InstanceKey,
    /// The object. None if only deposed ones are left.
    pub current: Option<ObjectState>,
    /// Objects that were replaced but not deleted yet.
    pub deposed: BTreeMap<DeposedKey, ObjectState>,
}

impl From<ObjectState> for InstanceState {
    fn from(object: ObjectState) -> Self {
        Self { current: Some(object), ..Self::default() }
    }
}

/// An object as it was last seen.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectState {
    /// Whether it is to be replaced.
    pub status: ObjectStatus,
    /// The version of the schema that the attributes follow.
    pub schema_version: u64,
    /// Its attributes.
    pub attributes: Attributes,
    /// Which of them must not be shown, beyond what the schema says.
    pub sensitive: Vec<Path>,
    /// What the provider keeps with it.
    pub private: Vec<u8>,
    /// What it depends on.
    pub dependencies: Vec<ConfigResource>,
    /// Whether its replacement is created first.
    pub create_before_destroy: bool,
    /// Whether it is forgotten instead of destroyed.
    pub skip_destroy: bool,
    /// What identifies it.
    pub identity: Option<StoredIdentity>,
}

impl ObjectState {
    /// A healthy object with these attributes and nothing else.
    pub fn new(schema_version: u64, attributes: Attributes) -> Self {
        Self {
            status: ObjectStatus::Ready,
            schema_version,
            attributes,
            sensitive: Vec::new(),
            private: Vec::new(),
            dependencies: Vec::new(),
            create_before_destroy: false,
            skip_destroy: false,
            identity: None,
        }
    }
}

/// Whether an object is to be replaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ObjectStatus {
    /// As it should be.
    #[default]
    Ready,
    /// To be replaced.
    Tainted,
}

/// The attributes of an object, as they were stored. Only a provider can bring them to its current schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attributes {
    /// As compact JSON.
    Json(String),
    /// As the flat map of formats before version 4.
    Flat(BTreeMap<String, String>),
}

/// What identifies an object, as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredIdentity {
    /// As compact JSON.
    pub json: String,
    /// The version of the identity schema, where it was written down.
    pub schema_version: Option<u64>,
}

/// What the checks of one object in the configuration said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    /// What was checked.
    pub kind: CheckKind,
    /// Its address in the configuration.
    pub config_address: String,
    /// All in all.
    pub status: CheckStatus,
    /// By instance.
    pub objects: Vec<CheckObject>,
}

/// What the checks of one instance said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckObject {
    /// Its address.
    pub address: String,
    /// All in all.
    pub status: CheckStatus,
    /// What failed.
    pub failures: Vec<String>,
}

/// What has checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckKind {
    /// A resource or data source.
    Resource,
    /// An output.
    Output,
    /// A `check` block.
    Check,
    /// A variable.
    Variable,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckStatus {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// It could not be evaluated.
    Error,
    /// It is not known.
    Unknown,
}
