//! Objects that get another address though nobody says so: what identifies something that is to be made is what identifies something that is
//! to be deleted. To delete it and make it anew would lose what is in it, or fail, since both cannot be there at once.

use std::collections::BTreeMap;

use groma_model::address::AbsInstance;
use groma_model::codec::json;
use groma_model::value::Value;

use crate::change::{Action, Change};

/// An object that is the same at another address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Renamed {
    pub(super) from: AbsInstance,
    pub(super) to: AbsInstance,
}

/// Finds them. What could be meant in two ways is meant in none.
pub(super) fn find(changes: &[Change]) -> Vec<Renamed> {
    let goes = |change: &&Change| change.action == Action::Delete && change.deposed.is_none();
    let comes = |change: &&Change| change.action == Action::Create && change.importing.is_none();
    let going = by_identity(changes.iter().filter(goes), |change| change.before_identity.as_ref());
    let coming = by_identity(changes.iter().filter(comes), |change| change.after_identity.as_ref());
    let both = going.iter().filter_map(|(identity, going)| Some((going, coming.get(identity)?)));
    let pairs = both.filter_map(|(going, coming)| match (going.as_slice(), coming.as_slice()) {
        ([from], [to]) => Some(Renamed { from: from.address.clone(), to: to.address.clone() }),
        _ => None,
    });
    pairs.collect()
}

/// Changes by what identifies their objects, of which kind, and for which provider.
fn by_identity<'c>(
    changes: impl Iterator<Item = &'c Change>,
    identity: fn(&Change) -> Option<&Value>,
) -> BTreeMap<(String, String), Vec<&'c Change>> {
    let mut found: BTreeMap<_, Vec<&Change>> = BTreeMap::new();
    for change in changes {
        let identity = identity(change).filter(|identity| !identity.is_null() && identity.is_wholly_known());
        let Some(identity) = identity.and_then(|identity| json::encode_plain(identity).ok()) else { continue };
        let kind = format!("{} {}", change.provider, change.address.instance.resource.ty);
        found.entry((kind, identity)).or_default().push(change);
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::sync::Arc;

    use groma_model::address::{InstanceKey, Module, Provider, ProviderConfig};
    use groma_model::schema::{Block, Schema};
    use groma_model::ty::Type;
    use groma_provider::api::Private;

    use super::*;

    fn change(address: &str, action: Action, identity: Value) -> Change {
        let schema = Arc::new(Schema { version: 0, block: Block::default() });
        let nothing = Value::null(schema.block.implied_type());
        let provider = ProviderConfig::default_in(Module::root(), Provider::builtin("test"));
        let goes = action == Action::Delete;
        Change {
            address: address.parse().unwrap(),
            deposed: None,
            previous_address: None,
            provider: provider.instance(InstanceKey::None),
            action,
            reason: None,
            before: nothing.clone(),
            after: nothing,
            configured_sensitive: Vec::new(),
            before_identity: goes.then(|| identity.clone()),
            after_identity: (!goes).then_some(identity),
            private: Private::default(),
            replace_paths: Vec::new(),
            importing: None,
            schema,
            dependencies: Arc::new([]),
            create_before_destroy: false,
            generated_config: None,
            notes: Vec::new(),
            not_ready: None,
        }
    }

    fn named(name: &str) -> Value {
        Value::object([("name", Value::string(name))])
    }

    fn check(changes: &[Change], expected: &[(&str, &str)]) {
        let found: Vec<(String, String)> =
            find(changes).iter().map(|renamed| (renamed.from.to_string(), renamed.to.to_string())).collect();
        let expected: Vec<(String, String)> =
            expected.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_identified_by_the_same_is_the_same() {
        let gone = change("x_thing.a[\"old\"]", Action::Delete, named("n"));
        let new = change("x_thing.a[\"new\"]", Action::Create, named("n"));
        check(&[new, gone], &[("x_thing.a[\"old\"]", "x_thing.a[\"new\"]")]);
    }

    #[test]
    fn of_another_kind_or_with_another_name_it_is_not() {
        let gone = change("x_thing.a", Action::Delete, named("n"));
        let other_kind = change("x_other.a", Action::Create, named("n"));
        let other_name = change("x_thing.b", Action::Create, named("m"));
        let unknown = change("x_thing.c", Action::Create, Value::object([("name", Value::unknown(Type::String))]));
        let kept = change("x_thing.d", Action::Update, named("n"));
        check(&[gone, other_kind, other_name, unknown, kept], &[]);
    }

    #[test]
    fn what_could_be_either_is_neither() {
        let gone = change("x_thing.a", Action::Delete, named("n"));
        let [one, two] = ["x_thing.b", "x_thing.c"].map(|address| change(address, Action::Create, named("n")));
        check(&[gone, one, two], &[]);
    }
}
