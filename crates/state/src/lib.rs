//! State: what was made, as Terraform and OpenTofu write it down. Operations are not run here.
//!
//! So far this holds what the thin slice needs: managed resources of the version 4 format. What it cannot hold it refuses to
//! read, so that nothing is lost by writing it back.

mod file;
mod pretty;
mod v4;

use std::collections::BTreeMap;

use groma_model::address::{AbsResource, ConfigResource, InstanceKey, ProviderConfig};

pub use file::{FileError, read_file, write_file};
pub use v4::{DecodeError, decode, encode};

/// Everything that was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// Who wrote it last.
    pub tool_version: String,
    /// Counts every change of the content.
    pub serial: u64,
    /// Names the line of states that this one belongs to; never changes.
    pub lineage: String,
    /// What was made.
    pub resources: BTreeMap<AbsResource, ResourceState>,
}

/// A resource and its instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceState {
    /// The provider configuration that it was made with.
    pub provider: ProviderConfig,
    /// Its instances.
    pub instances: BTreeMap<InstanceKey, ObjectState>,
}

/// An object as it was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectState {
    /// The version of the schema that the attributes follow.
    pub schema_version: i64,
    /// Its attributes, as JSON.
    pub attributes: String,
    /// What the provider keeps with it.
    pub private: Vec<u8>,
    /// What it depends on.
    pub dependencies: Vec<ConfigResource>,
}
