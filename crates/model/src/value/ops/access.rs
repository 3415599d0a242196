//! Getting at elements and attributes, with the rules of the language's `[…]` and `.name`.

use super::OpError;
use crate::convert::convert;
use crate::number::Number;
use crate::ty::Type;
use crate::value::{Data, Value};

impl Value {
    /// `self.name`: an attribute of an object or an element of a map.
    pub fn get_attr(&self, name: &str) -> Result<Value, OpError> {
        let found = match &self.data {
            Data::Object(object) => {
                object.entries.get(name).cloned().ok_or_else(|| OpError::NoSuchAttribute(name.to_owned()))
            }
            Data::Map(map) => map.entries.get(name).cloned().ok_or_else(|| OpError::NoSuchKey(name.to_owned())),
            Data::Unknown(unknown) => attribute_of_unknown(&unknown.ty, name),
            Data::Null(_) => Err(OpError::AttributeOfNull),
            _ => Err(no_attribute(&self.shallow_type(), name)),
        }?;
        Ok(found.with_marks(&self.marks))
    }

    /// `self[key]`: an element of a list, tuple or map, or an attribute of an object.
    pub fn index(&self, key: &Value) -> Result<Value, OpError> {
        if self.is_null() {
            return Err(OpError::IndexNull);
        }
        if key.is_null() {
            return Err(OpError::NullKey);
        }
        if key.is_dynamic() || self.is_dynamic() {
            return Ok(Value::dynamic().with_marks(&self.marks));
        }
        match &self.data {
            Data::List(list) => {
                let absent = || Value::unknown(list.element.clone());
                self.index_sequence(&list.items, key, absent)
            }
            Data::Tuple(tuple) => self.index_sequence(&tuple.items, key, Value::dynamic),
            Data::Map(map) => {
                let key = suitable_key(key, &Type::String)?;
                let Some(name) = key.as_str() else {
                    return Ok(Value::unknown(map.element.clone()).with_marks(&self.marks));
                };
                let found = map.entries.get(name).cloned().ok_or(OpError::NoSuchElement)?;
                Ok(found.with_marks(&self.joint_marks(&key)))
            }
            Data::Object(_) => self.index_object(key),
            Data::Set(_) => Err(OpError::IndexSet),
            Data::Unknown(unknown) => self.index_unknown(&unknown.ty, key),
            _ => Err(OpError::NotIndexable),
        }
    }

    fn index_sequence(&self, items: &[Value], key: &Value, absent: impl Fn() -> Value) -> Result<Value, OpError> {
        let key = suitable_key(key, &Type::Number)?;
        let Some(number) = key.as_number() else { return Ok(absent().with_marks(&self.marks)) };
        match number.to_usize().and_then(|at| items.get(at)) {
            Some(found) => Ok(found.clone().with_marks(&self.joint_marks(&key))),
            None => Err(no_element(number, self.marks.is_empty().then_some(items.len()))),
        }
    }

    fn index_object(&self, key: &Value) -> Result<Value, OpError> {
        let by_number = key.as_number().is_some() || key.is_of_type(&Type::Number);
        let key = suitable_key(key, &Type::String)?;
        let (Data::Object(object), Some(name)) = (&self.data, key.as_str()) else {
            return Ok(Value::dynamic().with_marks(&self.marks));
        };
        match object.entries.get(name) {
            Some(found) => Ok(found.clone().with_marks(&self.marks)),
            None if by_number => Err(OpError::NoSuchAttributeNumber),
            None => Err(OpError::NoSuchElement),
        }
    }

    fn index_unknown(&self, ty: &Type, key: &Value) -> Result<Value, OpError> {
        let found = match ty {
            Type::List(element) => {
                suitable_key(key, &Type::Number)?;
                Value::unknown((**element).clone())
            }
            Type::Map(element) => {
                suitable_key(key, &Type::String)?;
                Value::unknown((**element).clone())
            }
            Type::Tuple(elements) => {
                let key = suitable_key(key, &Type::Number)?;
                match key.as_number() {
                    None => Value::dynamic(),
                    Some(number) => {
                        let element = number.to_usize().and_then(|at| elements.get(at));
                        let length = self.marks.is_empty().then_some(elements.len());
                        let element = element.ok_or_else(|| no_element(number, length))?;
                        Value::unknown(element.clone()).with_marks(&key.marks)
                    }
                }
            }
            Type::Object(_) => return self.index_object(key),
            Type::Set(_) => return Err(OpError::IndexSet),
            _ => return Err(OpError::NotIndexable),
        };
        Ok(found.with_marks(&self.marks))
    }

    /// Whether `index` would find something: a bool, or an unknown bool that is not null. Keys are not converted.
    pub fn has_index(&self, key: &Value) -> Value {
        let answer = self.finds(key);
        answer.map_or_else(Value::unknown_bool, Value::bool).with_marks(&self.joint_marks(key))
    }

    fn finds(&self, key: &Value) -> Option<bool> {
        if self.is_dynamic() || key.is_dynamic() {
            return None;
        }
        let (want, length) = match &self.data {
            Data::List(list) => (Type::Number, Some(list.items.len())),
            Data::Tuple(tuple) => (Type::Number, Some(tuple.items.len())),
            Data::Map(map) => {
                return match key.as_str() {
                    Some(name) => Some(map.entries.contains(name)),
                    None if key.is_known() || !key.is_of_type(&Type::String) => Some(false),
                    None => None,
                };
            }
            Data::Null(Type::Tuple(elements)) => (Type::Number, Some(elements.len())),
            Data::Unknown(unknown) => match &unknown.ty {
                Type::List(_) => (Type::Number, None),
                Type::Tuple(elements) => (Type::Number, Some(elements.len())),
                Type::Map(_) => (Type::String, None),
                _ => return Some(false),
            },
            _ => return Some(false),
        };
        if !key.is_of_type(&want) {
            return Some(false);
        }
        let length = length?;
        match key.as_number() {
            Some(number) => Some(number.to_usize().is_some_and(|at| at < length)),
            None if key.is_null() => Some(false),
            None => None,
        }
    }

    /// Its type where the inside of a tuple or object does not matter.
    fn shallow_type(&self) -> Type {
        match &self.data {
            Data::Tuple(_) => Type::tuple(Vec::new()),
            Data::Object(_) => Type::empty_object(),
            _ => self.ty(),
        }
    }
}

/// The key as the wanted type; it may be unknown. Its marks stay.
fn suitable_key(key: &Value, want: &Type) -> Result<Value, OpError> {
    convert(key, want).map_err(|error| OpError::UnsuitableKey(error.message))
}

/// Why there is no element at that index. The length is not told where it is marked.
fn no_element(number: &Number, length: Option<usize>) -> OpError {
    if !number.is_integer() {
        return OpError::FractionalIndex;
    }
    if number.is_negative() {
        return OpError::NegativeIndex;
    }
    match (length, number.to_usize()) {
        (Some(length), Some(at)) if at <= length => {
            if length == 0 {
                OpError::NoElements
            } else {
                OpError::IndexTooLarge
            }
        }
        _ => OpError::NoSuchElement,
    }
}

fn attribute_of_unknown(ty: &Type, name: &str) -> Result<Value, OpError> {
    match ty {
        Type::Dynamic => Ok(Value::dynamic()),
        Type::Map(element) => Ok(Value::unknown((**element).clone())),
        Type::Object(object) => match object.get(name) {
            Some(ty) => Ok(Value::unknown(ty.clone())),
            None => Err(OpError::NoSuchAttribute(name.to_owned())),
        },
        _ => Err(no_attribute(ty, name)),
    }
}

/// Why something that is neither object nor map has no attributes.
fn no_attribute(ty: &Type, name: &str) -> OpError {
    match ty {
        Type::List(element) => match &**element {
            Type::Object(object) => OpError::AttributeOfList(object.get(name).map(|_| name.to_owned())),
            _ => OpError::NoAttributes,
        },
        Type::Set(element) if matches!(**element, Type::Object(_)) => OpError::AttributeOfSet,
        _ if ty.is_primitive() => OpError::AttributeOfPrimitive(ty.friendly_name()),
        _ => OpError::NoAttributes,
    }
}
