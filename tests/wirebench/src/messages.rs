//! The messages of the bare client, as a code generator would make them.

use std::collections::HashMap;

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Empty {}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DynamicValue {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) msgpack: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) json: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Configure {
    #[prost(string, tag = "1")]
    pub(crate) terraform_version: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) config: Option<DynamicValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Prepare {
    #[prost(message, optional, tag = "1")]
    pub(crate) config: Option<DynamicValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Capabilities {
    #[prost(bool, tag = "1")]
    pub(crate) deferral_allowed: bool,
    #[prost(bool, tag = "2")]
    pub(crate) write_only_attributes_allowed: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Validate {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) config: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub(crate) capabilities: Option<Capabilities>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RawState {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) json: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Upgrade {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(int64, tag = "2")]
    pub(crate) version: i64,
    #[prost(message, optional, tag = "3")]
    pub(crate) raw_state: Option<RawState>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Plan {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) prior_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub(crate) proposed_new_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "4")]
    pub(crate) config: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "5")]
    pub(crate) prior_private: Vec<u8>,
    #[prost(message, optional, tag = "7")]
    pub(crate) capabilities: Option<Capabilities>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Planned {
    #[prost(message, optional, tag = "1")]
    pub(crate) planned_state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) planned_private: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Apply {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) prior_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub(crate) planned_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "4")]
    pub(crate) config: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "5")]
    pub(crate) planned_private: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Applied {
    #[prost(message, optional, tag = "1")]
    pub(crate) new_state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) private: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Read {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) current_state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) private: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Object {
    #[prost(message, optional, tag = "1")]
    pub(crate) new_state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) private: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Schemas {
    #[prost(message, optional, tag = "1")]
    pub(crate) provider: Option<Schema>,
    #[prost(map = "string, message", tag = "2")]
    pub(crate) resources: HashMap<String, Schema>,
    #[prost(map = "string, message", tag = "3")]
    pub(crate) data_sources: HashMap<String, Schema>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Schema {
    #[prost(int64, tag = "1")]
    pub(crate) version: i64,
    #[prost(message, optional, tag = "2")]
    pub(crate) block: Option<Block>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Block {
    #[prost(int64, tag = "1")]
    pub(crate) version: i64,
    #[prost(message, repeated, tag = "2")]
    pub(crate) attributes: Vec<Attribute>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) nested: Vec<NestedBlock>,
    #[prost(string, tag = "4")]
    pub(crate) description: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Attribute {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) kind: Vec<u8>,
    #[prost(string, tag = "3")]
    pub(crate) description: String,
    #[prost(bool, tag = "4")]
    pub(crate) required: bool,
    #[prost(bool, tag = "5")]
    pub(crate) optional: bool,
    #[prost(bool, tag = "6")]
    pub(crate) computed: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct NestedBlock {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) block: Option<Block>,
    #[prost(int32, tag = "3")]
    pub(crate) nesting: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct IdentitySchemas {
    #[prost(map = "string, message", tag = "1")]
    pub(crate) identities: HashMap<String, IdentitySchema>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct IdentitySchema {
    #[prost(int64, tag = "1")]
    pub(crate) version: i64,
}
