//! What an address stands for in a state.

use groma_model::address::{AbsInstance, AbsResource, Target};
use groma_model::codec::json::Json;
use groma_model::diag::Diagnostic;
use groma_state::{Attributes, InstanceState, ObjectState, ResourceState, State};

use super::address_error;

/// All instances, in the order of their addresses.
pub fn all_instances(state: &State) -> Vec<AbsInstance> {
    state.resources.iter().flat_map(|(address, resource)| instances_of(address, resource)).collect()
}

fn instances_of<'s>(
    address: &'s AbsResource,
    resource: &'s ResourceState,
) -> impl Iterator<Item = AbsInstance> + use<'s> {
    resource.instances.keys().map(|key| address.instance(key.clone()))
}

/// The instance at an address.
pub fn find_instance<'s>(state: &'s State, address: &AbsInstance) -> Option<&'s InstanceState> {
    state.resources.get(&address.resource())?.instances.get(address.key())
}

/// The instances that an address of a module, a resource or an instance stands for. None at all is an error.
pub fn find_instances(state: &State, text: &str) -> Result<Vec<AbsInstance>, Diagnostic> {
    let target: Target = text.parse().map_err(|error| address_error(text, &error))?;
    let found = matching(state, &target);
    if found.is_empty() { Err(unknown(&target)) } else { Ok(found) }
}

/// The instances that are selected.
pub(super) fn matching(state: &State, target: &Target) -> Vec<AbsInstance> {
    match target {
        Target::Module(module) => {
            let inside = state.resources.iter().filter(|(address, _)| module.selects(&address.module));
            inside.flat_map(|(address, resource)| instances_of(address, resource)).collect()
        }
        Target::Resource(address) => {
            let resource = state.resources.get(address);
            resource.into_iter().flat_map(|resource| instances_of(address, resource)).collect()
        }
        Target::Instance(address) => find_instance(state, address).map(|_| address.clone()).into_iter().collect(),
    }
}

fn unknown(target: &Target) -> Diagnostic {
    let (summary, what) = match target {
        Target::Module(_) => ("Unknown module", "module at"),
        Target::Resource(_) => ("Unknown resource", "resource"),
        Target::Instance(_) => ("Unknown resource instance", "resource instance"),
    };
    let detail = format!(
        "The current state contains no {what} {target}. What was just added to the configuration is in the state once it was \
         applied with \"groma apply\"."
    );
    Diagnostic::error(summary, detail)
}

/// The attribute `id` of an object, where it is a text.
pub fn object_id(object: &ObjectState) -> Option<String> {
    match &object.attributes {
        Attributes::Flat(entries) => entries.get("id").cloned(),
        Attributes::Json(text) => match Json::parse(text).ok()?.get("id")? {
            Json::String(id) => Some(id.to_string()),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{shown, state};
    use super::*;

    fn found(text: &str) -> Result<String, String> {
        let state =
            state(&["a.x", "a.y[0]", "a.y[1]", "module.m.a.x", "module.m.module.n[\"k\"].a.x", "module.c[0].a.x"]);
        find_instances(&state, text).map(|found| shown(&found)).map_err(|error| error.summary)
    }

    #[test]
    fn addresses_select_what_is_in_the_state() {
        assert_eq!(found("a.y").unwrap(), "a.y[0] a.y[1]");
        assert_eq!(found("a.y[1]").unwrap(), "a.y[1]");
        assert_eq!(found("module.m").unwrap(), "module.m.a.x module.m.module.n[\"k\"].a.x");
        // Without a key: all instances of the call.
        assert_eq!(found("module.c").unwrap(), "module.c[0].a.x");
        assert_eq!(found("module.m.module.n").unwrap(), "module.m.module.n[\"k\"].a.x");
    }

    #[test]
    fn what_is_not_there_is_named_by_its_kind() {
        assert_eq!(found("a.z").unwrap_err(), "Unknown resource");
        assert_eq!(found("a.y[7]").unwrap_err(), "Unknown resource instance");
        assert_eq!(found("module.z").unwrap_err(), "Unknown module");
        assert_eq!(found("a").unwrap_err(), "Invalid address");
    }

    #[test]
    fn ids_are_texts() {
        let id = |json: &str| object_id(&ObjectState::new(0, Attributes::Json(json.to_owned())));
        assert_eq!(id("{\"id\":\"x\"}").as_deref(), Some("x"));
        assert_eq!(id("{\"id\":3}"), None);
        assert_eq!(id("{}"), None);
        let flat = Attributes::Flat([("id".to_owned(), "y".to_owned())].into());
        assert_eq!(object_id(&ObjectState::new(0, flat)).as_deref(), Some("y"));
    }
}
