//! Objects of a type that a state has, as lists tell them from others.

use std::collections::BTreeSet;

use groma_model::codec::json;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::ListedObject;
use groma_state::{Attributes, ObjectState, State};

/// What objects of a type in a state are known by.
#[derive(Default)]
pub(crate) struct Known {
    /// As JSON, written in one way.
    identities: BTreeSet<String>,
    /// The id, with what a query cannot do without: ids may be told apart only within that.
    ids: BTreeSet<Vec<String>>,
    beside: Vec<Str>,
}

impl Known {
    /// The objects of a type. `beside` is what a query for such objects cannot do without.
    pub(crate) fn of(state: &State, type_name: &Str, identity: Option<&Type>, beside: Vec<Str>) -> Self {
        let resources = state.resources.iter().filter(|(address, _)| {
            address.resource.mode == groma_model::address::ResourceMode::Managed && address.resource.ty == *type_name
        });
        let instances = resources.flat_map(|(_, resource)| resource.instances.values());
        let objects = instances.flat_map(|instance| instance.current.iter().chain(instance.deposed.values()));
        let mut known = Self { beside, ..Self::default() };
        for object in objects {
            let decoded =
                identity.zip(object.identity.as_ref()).and_then(|(ty, stored)| json::decode(&stored.json, ty).ok());
            known.identities.extend(decoded.and_then(|identity| json::encode_plain(&identity).ok()));
            known.ids.extend(known.stored(object));
        }
        known
    }

    /// Whether the state has it.
    pub(crate) fn has(&self, found: &ListedObject) -> bool {
        let identity = json::encode_plain(&found.identity);
        identity.is_ok_and(|identity| self.identities.contains(&identity))
            || found
                .object
                .as_ref()
                .and_then(|object| self.id(&|name| text_of(object, name)))
                .is_some_and(|id| self.ids.contains(&id))
    }

    fn stored(&self, object: &ObjectState) -> Option<Vec<String>> {
        match &object.attributes {
            Attributes::Json(text) => {
                let value = json::decode_implied(text).ok()?;
                self.id(&|name| text_of(&value, name))
            }
            Attributes::Flat(entries) => self.id(&|name| entries.get(name).cloned()),
        }
    }

    fn id(&self, part: &dyn Fn(&str) -> Option<String>) -> Option<Vec<String>> {
        let beside = self.beside.iter().map(|name| part(name).unwrap_or_default());
        Some([part("id")?].into_iter().chain(beside).collect())
    }
}

fn text_of(object: &Value, name: &str) -> Option<String> {
    object.as_entries()?.get(name)?.as_str().map(str::to_owned)
}
