//! Whether a set has an element.

use crate::ty::Type;
use crate::value::canonical::set_contains;
use crate::value::{Data, Value};

impl Value {
    /// Whether a set has this element: unknown if it may yet turn out to have it. Of anything but a set, false.
    pub fn has_element(&self, element: &Value) -> Value {
        let answer = match &self.data {
            Data::Unknown(_) => None,
            Data::Set(set) => {
                let typed = !element.is_dynamic() && set.element != Type::Dynamic;
                if typed && !element.is_of_type(&set.element) {
                    Some(false)
                } else if !element.is_known() {
                    None
                } else if element.is_wholly_known() && contains(&set.element, &set.items, element) {
                    Some(true)
                } else if set.summary.has_unknown {
                    None
                } else {
                    Some(false)
                }
            }
            _ => Some(false),
        };
        answer.map_or_else(Value::unknown_bool, Value::bool).with_marks(&self.joint_marks(element))
    }
}

/// Whether an element is among the elements. Marks take no part in it.
fn contains(ty: &Type, items: &[Value], element: &Value) -> bool {
    let (plain, _) = element.clone().unmark_deep();
    set_contains(ty, items, &plain)
}
