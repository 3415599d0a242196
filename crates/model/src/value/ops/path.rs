//! Following a path into a value.

use super::OpError;
use crate::path::{Path, PathKey, PathStep};
use crate::value::Value;

impl Value {
    /// What is at a path. Marks on the way join the result.
    pub fn apply_path(&self, path: &Path) -> Result<Value, OpError> {
        path.steps().iter().try_fold(self.clone(), |value, step| value.apply_step(step))
    }

    /// What is one step further.
    pub fn apply_step(&self, step: &PathStep) -> Result<Value, OpError> {
        match step {
            PathStep::Attr(name) => self.get_attr(name),
            PathStep::Index(PathKey::Number(number)) => self.index(&Value::number(number.clone())),
            PathStep::Index(PathKey::String(key)) => self.index(&Value::string(key.clone())),
            PathStep::Element(element) => {
                if self.is_null() {
                    return Err(OpError::IndexNull);
                }
                let (present, marks) = self.has_element(element).unmark();
                match present.as_bool() {
                    Some(true) => Ok((**element).clone().with_marks(&marks)),
                    Some(false) => Err(OpError::NoSuchElement),
                    None => Ok(Value::unknown(element.ty()).with_marks(&marks)),
                }
            }
        }
    }
}
