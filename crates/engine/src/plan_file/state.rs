//! States. The second state of a plan is written as what differs from the first, since mostly nothing does.

use std::collections::BTreeMap;

use groma_model::address::AbsResource;
use groma_state::{
    Attributes, CheckKind, CheckObject, CheckResult, CheckStatus, InstanceState, ObjectState, ObjectStatus,
    OutputState, ResourceState, State, StoredIdentity,
};

use super::read::{Reader, stored_lists};
use super::write::Writer;
use super::{PlanFileError, Stored, stored_enum, stored_struct};

stored_enum! {
    ObjectStatus { 0 => Ready, 1 => Tainted }
    Attributes { 0 => Json(text), 1 => Flat(entries) }
    CheckKind { 0 => Resource, 1 => Output, 2 => Check, 3 => Variable }
    CheckStatus { 0 => Pass, 1 => Fail, 2 => Error, 3 => Unknown }
}

stored_struct! {
    State { tool_version, serial, lineage, outputs, resources, checks }
    OutputState { value, sensitive, deprecated }
    ResourceState { provider, instances }
    InstanceState { provider_key, current, deposed }
    ObjectState {
        status, schema_version, attributes, sensitive, private, dependencies, create_before_destroy, skip_destroy, identity,
    }
    StoredIdentity { json, schema_version }
    CheckResult { kind, config_address, status, objects }
    CheckObject { address, status, failures }
}

stored_lists!(CheckResult, CheckObject, String);

/// A state that is mostly like another.
pub(super) fn write_like(state: &State, like: &State, out: &mut Writer) -> Result<(), PlanFileError> {
    let State { tool_version, serial, lineage, outputs, resources, checks } = state;
    tool_version.write(out)?;
    serial.write(out)?;
    lineage.write(out)?;
    (outputs == &like.outputs).write(out)?;
    if outputs != &like.outputs {
        outputs.write(out)?;
    }
    checks.write(out)?;
    out.size(resources.len());
    for (address, resource) in resources {
        address.write(out)?;
        let same = like.resources.get(address) == Some(resource);
        same.write(out)?;
        if !same {
            resource.write(out)?;
        }
    }
    Ok(())
}

pub(super) fn read_like(like: &State, input: &mut Reader<'_>) -> Result<State, PlanFileError> {
    let (tool_version, serial, lineage) = (Stored::read(input)?, Stored::read(input)?, Stored::read(input)?);
    let outputs = if bool::read(input)? { like.outputs.clone() } else { Stored::read(input)? };
    let checks = Stored::read(input)?;
    // Each address occurs once, so nothing is copied twice.
    let resource = |input: &mut Reader<'_>, address: &AbsResource| {
        if !bool::read(input)? {
            return ResourceState::read(input);
        }
        let same = like.resources.get(address).cloned();
        same.ok_or_else(|| input.malformed(format!("{address} was not there before")))
    };
    let resources: BTreeMap<AbsResource, ResourceState> = input.map(resource)?;
    Ok(State { tool_version, serial, lineage, outputs, resources, checks })
}
