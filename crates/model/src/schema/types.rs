//! The types that schemas imply.

use super::{Attribute, AttributeKind, Block, NestedBlock, NestedObject, Nesting};
use crate::ty::Type;

impl Block {
    /// The type of an object of this schema.
    pub fn implied_type(&self) -> Type {
        let attributes = self.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.implied_type()));
        let blocks = self.block_types.iter().map(|(name, block)| (name.clone(), block.implied_type()));
        Type::object(attributes.chain(blocks))
    }

    /// Whether anything inside must not be shown.
    pub fn contains_sensitive(&self) -> bool {
        self.attributes.values().any(Attribute::contains_sensitive)
            || self.block_types.values().any(|nested| nested.block.contains_sensitive())
    }
}

impl Attribute {
    /// The type of its values.
    pub fn implied_type(&self) -> Type {
        match &self.ty {
            AttributeKind::Type(ty) => ty.without_optional(),
            AttributeKind::Nested(nested) => nested.implied_type(),
        }
    }

    /// Whether it or anything inside must not be shown.
    pub fn contains_sensitive(&self) -> bool {
        self.sensitive
            || match &self.ty {
                AttributeKind::Type(_) => false,
                AttributeKind::Nested(nested) => nested.attributes.values().any(Attribute::contains_sensitive),
            }
    }
}

impl NestedObject {
    /// The type of one object.
    pub fn object_type(&self) -> Type {
        Type::object(self.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.implied_type())))
    }

    /// The type of the whole attribute.
    pub fn implied_type(&self) -> Type {
        collected(self.object_type(), self.nesting)
    }
}

impl NestedBlock {
    /// The type of all blocks of this kind together.
    pub fn implied_type(&self) -> Type {
        collected(self.block.implied_type(), self.nesting)
    }
}

/// Collections of objects whose type is not fully known have no one element type, so any tuple or object fits.
fn collected(object: Type, nesting: Nesting) -> Type {
    match nesting {
        Nesting::Single | Nesting::Group => object,
        Nesting::List | Nesting::Map if object.has_dynamic() => Type::Dynamic,
        Nesting::List => Type::list(object),
        Nesting::Map => Type::map(object),
        Nesting::Set => Type::set(object),
    }
}
