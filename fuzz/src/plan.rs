//! Reading plans from files that anybody may have written.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_engine::plan_file;
use groma_model::address::{Provider, ResourceMode};
use groma_model::schema::{Attribute, Block, NestedBlock, Nesting, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;

/// A plan: what can be read can be written, and what was written means the same forever after.
pub(crate) fn plan(data: &[u8]) {
    let Ok(plan) = plan_file::decode(data, &schema) else { return };
    let encoded = plan_file::encode(&plan).expect("what was read can be written");
    let again = plan_file::decode(&encoded, &schema).expect("what was written can be read");
    let twice = plan_file::encode(&again).expect("what was read can be written");
    assert!(twice == encoded, "{plan:?} became {again:?}");
}

/// The schemas that the seeds were made with.
fn schema(_: &Provider, _: ResourceMode, ty: &str) -> Option<Arc<Schema>> {
    let with = |names: &[(&str, Type)]| -> BTreeMap<Str, Attribute> {
        names.iter().map(|(name, ty)| (Str::from(*name), Attribute::of_type(ty.clone()))).collect()
    };
    let mut block = Block { attributes: with(&[("id", Type::String), ("size", Type::Number)]), ..Block::default() };
    let version = match ty {
        "plain_thing" => 0,
        "rich_thing" => {
            block.attributes.extend(with(&[
                ("anything", Type::Dynamic),
                ("tags", Type::map(Type::String)),
                ("names", Type::set(Type::String)),
                ("pairs", Type::list(Type::object([("a", Type::String), ("b", Type::Bool)]))),
            ]));
            let nested = Block { attributes: with(&[("path", Type::String)]), ..Block::default() };
            let disk = NestedBlock { block: nested, nesting: Nesting::List, min_items: 0, max_items: 0 };
            block.block_types.insert("disk".into(), disk);
            3
        }
        _ => return None,
    };
    Some(Arc::new(Schema { version, block }))
}
