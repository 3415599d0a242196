//! One change of a plan, as `resource_changes`, `resource_drift` and `output_changes` list it.

use std::time::{Duration, UNIX_EPOCH};

use groma_engine::change::{Action, Change, Reason};
use groma_engine::plan::OutputChange;
use groma_engine::replacement::Decision;
use groma_model::address::{AbsInstance, DeposedKey, ResourceMode};
use groma_model::value::Value;
use groma_provider::api::{ImportTarget, Pending};
use serde::ser::{Serialize, Serializer};
use serde_json::json;

use super::stream::timestamp;
use super::value::{Known, PathSteps, Plain, Shape, index, sensitive, unknown};

/// How machines are told which kind of resource it is.
pub(super) fn mode_name(mode: ResourceMode) -> &'static str {
    match mode {
        ResourceMode::Managed => "managed",
        ResourceMode::Data => "data",
        ResourceMode::Ephemeral => "ephemeral",
    }
}

/// Whether machines are told of a change. That data sources are dropped from the state is nobody's business.
pub(super) fn is_shown(change: &Change) -> bool {
    !(change.address.instance.resource.mode == ResourceMode::Data && change.action == Action::Delete)
}

/// An entry of `resource_changes` or `resource_drift`, made when it is written.
pub(super) struct ResourceChange<'p> {
    pub(super) change: &'p Change,
    /// What was decided about the order of its replacement.
    pub(super) decision: Option<&'p Decision>,
}

#[derive(serde::Serialize)]
struct ResourceChangeJson<'p> {
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_address: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    module_address: String,
    mode: &'static str,
    #[serde(rename = "type")]
    ty: &'p str,
    name: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<serde_json::Value>,
    provider_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    deposed: Option<&'p str>,
    change: ChangeJson<'p>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groma: Option<serde_json::Value>,
}

#[derive(serde::Serialize)]
struct ChangeJson<'p> {
    actions: &'static [&'static str],
    before: Plain<'p>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Known<'p>>,
    after_unknown: Shape<'p>,
    before_sensitive: Shape<'p>,
    after_sensitive: Shape<'p>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replace_paths: Vec<PathSteps<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    importing: Option<ImportingJson<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_config: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before_identity: Option<Plain<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_identity: Option<Plain<'p>>,
}

/// What only we know about an object: what it lacks.
pub(super) fn not_ready(pending: &Pending) -> serde_json::Value {
    let mut json = json!({ "waiting_for": pending.waiting_for });
    if let Some(seen) = &pending.last_seen {
        json["last_seen"] = seen.as_str().into();
    }
    if let Some(since) = pending.since.and_then(|since| u64::try_from(since).ok()) {
        json["since"] = timestamp(UNIX_EPOCH + Duration::from_secs(since)).into();
    }
    json["said_by"] = pending.by.name().into();
    json!({ "not_ready": json })
}

/// How an object that exists is found.
#[derive(serde::Serialize)]
pub(super) struct ImportingJson<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<Plain<'p>>,
}

impl<'p> From<&'p ImportTarget> for ImportingJson<'p> {
    fn from(target: &'p ImportTarget) -> Self {
        match target {
            ImportTarget::Id(id) => Self { id: Some(id.as_str()).filter(|id| !id.is_empty()), identity: None },
            ImportTarget::Identity(identity) => Self { id: None, identity: Some(Plain(identity)) },
        }
    }
}

/// Where the object was, if it was somewhere else.
pub(super) fn previous_address(change: &Change) -> Option<&AbsInstance> {
    change.previous_address.as_ref().filter(|from| **from != change.address)
}

impl ResourceChange<'_> {
    /// What only we know.
    fn own(&self) -> Option<serde_json::Value> {
        let mut own = self.change.not_ready.as_ref().map(not_ready);
        let decision = self.decision.and_then(|decision| serde_json::from_str(&decision.document).ok());
        if let Some(decision) = decision {
            let decision: serde_json::Value = decision;
            own.get_or_insert_with(|| json!({}))["replace_order"] = decision;
        }
        own
    }
}

impl Serialize for ResourceChange<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { change, .. } = self;
        let resource = &change.address.instance.resource;
        let block = &change.schema.block;
        let is_wholly_known = change.after.is_wholly_known();
        let json = ResourceChangeJson {
            address: change.address.to_string(),
            previous_address: previous_address(change).map(ToString::to_string),
            module_address: change.address.module.to_string(),
            mode: mode_name(resource.mode),
            ty: &resource.ty,
            name: &resource.name,
            index: index(change.address.key()),
            provider_name: change.provider.config.provider.to_string(),
            deposed: change.deposed.as_ref().map(DeposedKey::as_str),
            change: ChangeJson {
                actions: change.action.names(),
                before: Plain(&change.before),
                after: change.after.is_known().then_some(Known(&change.after)),
                after_unknown: if is_wholly_known { Shape::Entries(Vec::new()) } else { unknown(&change.after) },
                before_sensitive: sensitive(&change.before, block),
                after_sensitive: sensitive(&change.after, block),
                replace_paths: change.replace_paths.iter().map(PathSteps).collect(),
                importing: change.importing.as_ref().map(ImportingJson::from),
                generated_config: change.generated_config.as_deref().filter(|text| !text.is_empty()),
                before_identity: identity(change.before_identity.as_ref()),
                after_identity: identity(change.after_identity.as_ref()),
            },
            action_reason: change.reason.map(Reason::name),
            groma: self.own(),
        };
        json.serialize(serializer)
    }
}

/// An identity that is there.
pub(super) fn identity(identity: Option<&Value>) -> Option<Plain<'_>> {
    identity.filter(|identity| !identity.is_null() && identity.is_known()).map(Plain)
}

/// An entry of `output_changes`.
pub(super) struct OutputChangeView<'p>(pub(super) &'p OutputChange);

impl Serialize for OutputChangeView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(change) = self;
        // All that is known about an output is whether it is or was sensitive.
        let sensitive = || if change.sensitive { Shape::Yes } else { Shape::No };
        let is_wholly_known = change.after.is_wholly_known();
        let json = ChangeJson {
            actions: change.action.names(),
            before: Plain(&change.before),
            after: change.after.is_known().then_some(Known(&change.after)),
            after_unknown: if is_wholly_known { Shape::No } else { unknown(&change.after) },
            before_sensitive: sensitive(),
            after_sensitive: sensitive(),
            replace_paths: Vec::new(),
            importing: None,
            generated_config: None,
            before_identity: None,
            after_identity: None,
        };
        json.serialize(serializer)
    }
}
