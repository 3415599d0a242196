//! For tests here and elsewhere: the schemas of plans that were made up.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::address::{Provider, ResourceMode};
use groma_model::schema::{Attribute, Block, NestedBlock, Nesting, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;

/// The schemas of all changes in such plans, by resource type.
pub fn schema(_: &Provider, _: ResourceMode, ty: &str) -> Option<Arc<Schema>> {
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
