//! An object to try rules on: `sim_box`, with an attribute or block of every kind.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::LazyLock;

use groma_model::address::{AbsInstance, InstanceKey, ModuleInstance, Provider, Resource};
use groma_model::convert::convert;
use groma_model::mark::Mark;
use groma_model::path::Path;
use groma_model::schema::{Attribute, Block, NestedBlock, Nesting, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};
use proptest::prelude::*;

use super::case::{Case, Cause, Neighbours};
use super::path::FieldPath;

/// The schema of `sim_box`.
pub(crate) fn sim_box() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        let optional = |ty: Type| Attribute { optional: true, ..Attribute::of_type(ty) };
        let computed = || Attribute { computed: true, ..Attribute::of_type(Type::String) };
        let attributes = [
            ("name", optional(Type::String)),
            ("zone", optional(Type::String)),
            ("ip", Attribute { computed: true, ..optional(Type::String) }),
            ("size", optional(Type::Number)),
            ("active", optional(Type::Bool)),
            ("labels", optional(Type::map(Type::String))),
            ("ports", optional(Type::list(Type::Number))),
            ("tags", optional(Type::set(Type::String))),
            ("secret", Attribute { sensitive: true, ..optional(Type::String) }),
            ("pin", Attribute { sensitive: true, ..optional(Type::Number) }),
            ("token_wo", Attribute { write_only: true, ..optional(Type::String) }),
            ("blob", optional(Type::Dynamic)),
            ("id", computed()),
            ("arn", computed()),
        ];
        let net = block([("private", optional(Type::Bool))], []);
        let cfg = block([], [("net", nested(net, Nesting::List, 1))]);
        let disk = block([("source", optional(Type::String)), ("mode", optional(Type::String))], []);
        let nic = block([("ip", optional(Type::String))], []);
        let blocks = [
            ("cfg", nested(cfg, Nesting::List, 1)),
            ("disk", nested(disk, Nesting::List, 0)),
            ("nic", nested(nic, Nesting::Set, 0)),
        ];
        Schema { version: 0, block: block(attributes, blocks) }
    });
    &SCHEMA
}

fn block<const A: usize, const B: usize>(
    attributes: [(&str, Attribute); A],
    blocks: [(&str, NestedBlock); B],
) -> Block {
    Block {
        attributes: attributes.into_iter().map(|(name, attribute)| (Str::from(name), attribute)).collect(),
        block_types: blocks.into_iter().map(|(name, block)| (Str::from(name), block)).collect(),
        ..Block::default()
    }
}

fn nested(block: Block, nesting: Nesting, max_items: u64) -> NestedBlock {
    NestedBlock { block, nesting, min_items: 0, max_items }
}

/// A `sim_box` with these attributes and blocks and no others, converted to what the schema says. What the schema calls sensitive has
/// its marks.
pub(crate) fn boxed<const N: usize>(given: [(&str, Value); N]) -> Value {
    let schema = sim_box();
    let ty = schema.block.implied_type();
    let Type::Object(ty) = ty else { unreachable!("a block is an object") };
    let empty = schema.block.empty_value();
    let entries = empty.as_entries().unwrap();
    let values = entries.iter().map(|(name, value)| {
        let given = given.iter().find(|(given, _)| *name == **given);
        let value = given.map_or_else(|| value.clone(), |(_, given)| convert(given, ty.get(name).unwrap()).unwrap());
        (name.clone(), value)
    });
    assert!(given.iter().all(|(name, _)| entries.contains(name)), "sim_box has no such attribute");
    let value = Value::object(values);
    let marks = schema.sensitive_marks(&value);
    value.with_path_marks(&marks)
}

/// Elements of a list, tuple or set.
pub(crate) fn items<V: Into<Value>>(items: impl IntoIterator<Item = V>) -> Value {
    Value::tuple(items.into_iter().map(Into::into).collect())
}

/// Elements of a map, or attributes of an object.
pub(crate) fn fields<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::object(fields)
}

/// `cfg { net { private = … } }`
pub(crate) fn cfg(private: bool) -> Value {
    items([fields([("net", items([fields([("private", private.into())])]))])])
}

/// `disk` blocks with these sources.
pub(crate) fn disks<const N: usize>(sources: [&str; N]) -> Value {
    let disk = |source: &str| fields([("source", source.into()), ("mode", Value::null(Type::String))]);
    Value::list(disk("").ty(), sources.map(disk).into())
}

/// `nic` blocks with these addresses.
pub(crate) fn nics<const N: usize>(addresses: [&str; N]) -> Value {
    let nic = |ip: &str| fields([("ip", ip.into())]);
    Value::set(nic("").ty(), addresses.map(nic).into())
}

/// An object that is to be replaced, with everything that a [`Case`] borrows.
pub(crate) struct Scene {
    pub(crate) address: AbsInstance,
    pub(crate) provider: Provider,
    pub(crate) old: Value,
    pub(crate) upd: Value,
    pub(crate) new: Value,
    pub(crate) config: Value,
    pub(crate) replace_paths: Vec<Path>,
    pub(crate) cause: Cause,
    pub(crate) legacy_type_system: bool,
}

impl Scene {
    /// From old to updated, with a new object that is like the updated one.
    pub(crate) fn change(old: Value, upd: Value) -> Self {
        let new = upd.clone();
        Self::new(old, upd, new)
    }

    /// From old to updated, and the new object. The configuration says what the updated one says.
    pub(crate) fn new(old: Value, upd: Value, new: Value) -> Self {
        Self {
            address: Resource::managed("sim_box", "a").instance(InstanceKey::None).absolute(ModuleInstance::root()),
            provider: Provider::parse_source("example/sim").unwrap(),
            config: upd.clone(),
            old,
            upd,
            new,
            replace_paths: Vec::new(),
            cause: Cause::CannotUpdate,
            legacy_type_system: false,
        }
    }

    /// With these attributes as the reasons why it cannot be changed in place.
    pub(crate) fn because_of<const N: usize>(mut self, names: [&str; N]) -> Self {
        self.replace_paths = names.iter().map(|name| Path::root().attr(*name)).collect();
        self
    }

    /// With another configuration.
    pub(crate) fn configured(mut self, config: Value) -> Self {
        self.config = config;
        self
    }

    /// As rules see it, alone.
    pub(crate) fn case(&self) -> Case<'_> {
        Case {
            address: &self.address,
            provider: &self.provider,
            provider_version: Some("1.2.3"),
            workspace: "default",
            schema: sim_box(),
            old: &self.old,
            upd: &self.upd,
            new: &self.new,
            config: &self.config,
            replace_paths: &self.replace_paths,
            cause: self.cause,
            legacy_type_system: self.legacy_type_system,
            neighbours: None,
        }
    }

    /// As rules see it, among others.
    pub(crate) fn among<'a>(&'a self, neighbours: &'a dyn Neighbours) -> Case<'a> {
        Case { neighbours: Some(neighbours), ..self.case() }
    }
}

/// A path that is written nowhere.
pub(crate) fn path(text: &str) -> FieldPath {
    FieldPath::parse(text, None).unwrap()
}

/// Any value without marks, of tuples and objects, with nulls and unknown parts.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::null(Type::Dynamic)),
        Just(Value::dynamic()),
        any::<bool>().prop_map(Value::bool),
        (0_i64..4).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    composed(leaf)
}

/// Any value without marks that is known in all its parts.
pub(crate) fn any_known_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::null(Type::Dynamic)),
        any::<bool>().prop_map(Value::bool),
        (0_i64..4).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    composed(leaf)
}

/// The same, with tuples for lists and objects for maps: how a value is kept does not matter.
pub(crate) fn by_its_parts(value: &Value) -> Value {
    match value.kind() {
        ValueKind::List(items) | ValueKind::Tuple(items) => {
            Value::tuple(items.iter().map(by_its_parts).collect::<Vec<_>>())
        }
        ValueKind::Map(entries) | ValueKind::Object(entries) => Value::object_of(entries.map_values(by_its_parts)),
        _ => value.clone(),
    }
}

/// What must not be seen.
pub(crate) const CANARY: &str = "hunter2";

/// Any value in which some parts are marked, and in which the [`CANARY`] is in marked parts only.
pub(crate) fn any_marked_value() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![any::<bool>().prop_map(Value::bool), "[ab]{0,2}".prop_map(Value::from)];
    let secret = Just(Value::from(CANARY).mark(Mark::Sensitive));
    let secrets = prop::collection::vec(Just(Value::from(CANARY)), 1..3);
    let list = secrets.clone().prop_map(|items| Value::list(Type::String, items).mark(Mark::Sensitive));
    let map = secrets.prop_map(|items| Value::object([("a", Value::tuple(items))]).mark(Mark::Ephemeral));
    let set =
        "[a-c]".prop_map(|text| Value::set(Type::String, vec![text.into(), Value::from(CANARY).mark(Mark::Sensitive)]));
    composed(prop_oneof![4 => plain, 1 => secret, 1 => list, 1 => map, 1 => set])
}

fn composed(leaf: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::tuple),
            prop::collection::vec("[ab]{0,2}", 0..4).prop_map(Value::strings),
            prop::collection::vec("[ab]{0,2}", 0..4)
                .prop_map(|items| { Value::set(Type::String, items.into_iter().map(Value::from).collect()) }),
            prop::collection::btree_map("[a-c]", inner, 0..4).prop_map(Value::object),
        ]
    })
}
