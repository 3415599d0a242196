//! The types that schemas imply.

use std::sync::Arc;

use super::{Attribute, AttributeKind, Block, IdentitySchema, NestedBlock, NestedObject, Nesting};
use crate::ty::{AttributeType, ObjectType, Type};

impl Block {
    /// The type of an object of this schema.
    pub fn implied_type(&self) -> Type {
        let attributes = self.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.implied_type()));
        let blocks = self.block_types.iter().map(|(name, block)| (name.clone(), block.implied_type()));
        Type::object(attributes.chain(blocks))
    }

    /// Whether anything inside must not be shown.
    pub fn contains_sensitive(&self) -> bool {
        self.any_attribute(&Attribute::may_hide)
    }

    /// Whether anything inside goes to the provider and is never stored.
    pub fn contains_write_only(&self) -> bool {
        self.any_attribute(&|attribute| attribute.write_only)
    }

    /// Whether the use of any attribute inside is discouraged.
    pub fn contains_deprecated(&self) -> bool {
        self.deprecated || self.any_attribute(&|attribute| attribute.deprecated)
    }

    fn any_attribute(&self, test: &dyn Fn(&Attribute) -> bool) -> bool {
        self.attributes.values().any(|attribute| attribute.any(test))
            || self.block_types.values().any(|nested| nested.block.any_attribute(test))
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

    /// The type that configuration is converted to: inside nested objects, what need not be set may be left out.
    pub fn config_type(&self) -> Type {
        match &self.ty {
            AttributeKind::Type(ty) => ty.clone(),
            AttributeKind::Nested(nested) => nested.config_type(),
        }
    }

    /// Whether it or anything inside must not be shown.
    pub fn contains_sensitive(&self) -> bool {
        self.any(&Attribute::may_hide)
    }

    fn any(&self, test: &dyn Fn(&Attribute) -> bool) -> bool {
        test(self)
            || match &self.ty {
                AttributeKind::Type(_) => false,
                AttributeKind::Nested(nested) => nested.attributes.values().any(|attribute| attribute.any(test)),
            }
    }
}

impl NestedObject {
    /// The type of one object.
    pub fn object_type(&self) -> Type {
        Type::object(self.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.implied_type())))
    }

    /// The type of the whole attribute. Unlike blocks, objects inside an attribute always have one type.
    pub fn implied_type(&self) -> Type {
        self.nest(self.object_type())
    }

    /// The type that configuration is converted to: what need not be set may be left out.
    pub fn config_type(&self) -> Type {
        let attributes = self.attributes.iter().map(|(name, attribute)| {
            let optional = attribute.optional || attribute.computed;
            (name.clone(), AttributeType { ty: attribute.config_type(), optional })
        });
        self.nest(Type::Object(Arc::new(ObjectType::with_optional(attributes.collect()))))
    }

    fn nest(&self, object: Type) -> Type {
        match self.nesting {
            Nesting::Single | Nesting::Group => object,
            Nesting::List => Type::list(object),
            Nesting::Map => Type::map(object),
            Nesting::Set => Type::set(object),
        }
    }
}

impl IdentitySchema {
    /// The type of an identity.
    pub fn implied_type(&self) -> Type {
        Type::object(self.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.ty.clone())))
    }
}

impl NestedBlock {
    /// The type of all blocks of this kind together. Where `any` is inside, the objects of a list or map may have
    /// different types, so any tuple or object fits.
    pub fn implied_type(&self) -> Type {
        let object = self.block.implied_type();
        match self.nesting {
            Nesting::Single | Nesting::Group => object,
            Nesting::List | Nesting::Map if object.has_dynamic() => Type::Dynamic,
            Nesting::List => Type::list(object),
            Nesting::Map => Type::map(object),
            Nesting::Set => Type::set(object),
        }
    }
}
