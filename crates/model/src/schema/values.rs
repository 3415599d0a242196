//! Values that schemas imply.

use super::{Block, NestedBlock, Nesting};
use crate::ty::Type;
use crate::value::{Entries, Value};

impl Block {
    /// The object of which nothing was given: attributes null, collections of blocks empty.
    pub fn empty_value(&self) -> Value {
        let attributes =
            self.attributes.iter().map(|(name, attribute)| (name.clone(), Value::null(attribute.implied_type())));
        let blocks = self.block_types.iter().map(|(name, block)| (name.clone(), block.empty_value()));
        Value::object(attributes.chain(blocks))
    }
}

impl NestedBlock {
    /// What stands for no blocks of this kind.
    pub fn empty_value(&self) -> Value {
        let object = self.block.implied_type();
        match self.nesting {
            Nesting::Single => Value::null(object),
            Nesting::Group => self.block.empty_value(),
            Nesting::Set => Value::set(object, Vec::new()),
            Nesting::List if object.has_dynamic() => Value::tuple(Vec::new()),
            Nesting::List => Value::list(object, Vec::new()),
            Nesting::Map if object.has_dynamic() => Value::empty_object(),
            Nesting::Map => Value::map(object, Entries::default()),
        }
    }

    /// The type of one block.
    pub fn object_type(&self) -> Type {
        self.block.implied_type()
    }
}
