//! Replacing what is unknown where that cannot be kept.

use std::convert::Infallible;

use crate::value::Value;

impl Value {
    /// The same value with null for everything unknown. Marks stay.
    pub fn unknown_as_null(&self) -> Value {
        if self.is_wholly_known() {
            return self.clone();
        }
        let result = self.transform::<Infallible>(&mut |_, part| {
            Ok(if part.is_known() { part } else { Value::null(part.ty()).with_marks(part.marks()) })
        });
        match result {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }
}
