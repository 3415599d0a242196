//! List and set attributes of objects that are written as blocks, as old providers expect it to work.

use std::collections::BTreeMap;

use groma_model::schema::{Attribute, AttributeKind, Block as Schema};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_syntax::body::{Body, BodySchema};

/// Whether a schema is of the old kind. Schemas that use what only newer providers can say are taken at their word.
pub fn applies_to(schema: &Schema) -> bool {
    schema.attributes.values().all(is_old) && schema.block_types.values().all(|nested| applies_to(&nested.block))
}

fn is_old(attribute: &Attribute) -> bool {
    let AttributeKind::Type(ty) = &attribute.ty else { return false };
    match ty {
        Type::Tuple(_) | Type::Object(_) => false,
        Type::Map(element) if matches!(**element, Type::Object(_)) => false,
        Type::List(element) | Type::Set(element) | Type::Map(element) => {
            element.element().is_none_or(Type::is_primitive)
        }
        _ => true,
    }
}

/// The attributes that a body does not give as arguments and that may stand in it as blocks, with the schema of one block.
pub fn written(body: &Body, schema: &Schema) -> BTreeMap<Str, Schema> {
    let mut found = BTreeMap::new();
    for (name, attribute) in &schema.attributes {
        let AttributeKind::Type(Type::List(element) | Type::Set(element)) = &attribute.ty else { continue };
        let Type::Object(object) = &**element else { continue };
        let (content, _, _) = body.partial_content(&BodySchema::new().optional(name));
        if content.attr(name).is_some() {
            continue;
        }
        let attributes = object.iter().map(|(name, inner)| {
            let attribute = Attribute { optional: true, ..Attribute::of_type(inner.ty.clone()) };
            (name.clone(), attribute)
        });
        found.insert(name.clone(), Schema { attributes: attributes.collect(), ..Schema::default() });
    }
    found
}
