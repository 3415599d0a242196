//! Questions about the type of a value, answered without building that type.

use super::{Data, Value};
use crate::ty::Type;

impl Value {
    /// Whether not even the type is known: a null or unknown of no type.
    pub fn is_dynamic(&self) -> bool {
        match &self.data {
            Data::Null(ty) => *ty == Type::Dynamic,
            Data::Unknown(unknown) => unknown.ty == Type::Dynamic,
            _ => false,
        }
    }

    /// Whether this is exactly its type.
    pub fn is_of_type(&self, ty: &Type) -> bool {
        match (&self.data, ty) {
            (Data::Null(own), _) => own == ty,
            (Data::Unknown(unknown), _) => unknown.ty == *ty,
            (Data::Bool(_), Type::Bool) | (Data::Number(_), Type::Number) | (Data::String(_), Type::String) => true,
            (Data::List(list), Type::List(element)) => list.element == **element,
            (Data::Set(set), Type::Set(element)) => set.element == **element,
            (Data::Map(map), Type::Map(element)) => map.element == **element,
            (Data::Tuple(tuple), Type::Tuple(elements)) => {
                let known = tuple.ty.0.get();
                known.map_or_else(
                    || {
                        tuple.items.len() == elements.len()
                            && tuple.items.iter().zip(&**elements).all(|(item, ty)| item.is_of_type(ty))
                    },
                    |known| known == ty,
                )
            }
            (Data::Object(object), Type::Object(attributes)) => {
                let known = object.ty.0.get();
                known.map_or_else(
                    || {
                        let pairs = object.entries.iter().zip(attributes.iter());
                        object.entries.len() == attributes.len()
                            && pairs.into_iter().all(|((name, item), (want_name, want))| {
                                name == want_name && !want.optional && item.is_of_type(&want.ty)
                            })
                    },
                    |known| known == ty,
                )
            }
            _ => false,
        }
    }

    /// Whether both have the same type.
    pub fn has_type_of(&self, other: &Value) -> bool {
        match (&self.data, &other.data) {
            (Data::Null(ty), _) => other.is_of_type(ty),
            (_, Data::Null(ty)) => self.is_of_type(ty),
            (Data::Unknown(unknown), _) => other.is_of_type(&unknown.ty),
            (_, Data::Unknown(unknown)) => self.is_of_type(&unknown.ty),
            (Data::Bool(_), Data::Bool(_)) => true,
            (Data::Number(_), Data::Number(_)) => true,
            (Data::String(_), Data::String(_)) => true,
            (Data::List(a), Data::List(b)) | (Data::Set(a), Data::Set(b)) => a.element == b.element,
            (Data::Map(a), Data::Map(b)) => a.element == b.element,
            (Data::Tuple(a), Data::Tuple(b)) => {
                std::sync::Arc::ptr_eq(a, b)
                    || (a.items.len() == b.items.len() && a.items.iter().zip(&b.items).all(|(a, b)| a.has_type_of(b)))
            }
            (Data::Object(a), Data::Object(b)) => {
                std::sync::Arc::ptr_eq(a, b)
                    || (a.entries.names() == b.entries.names()
                        && a.entries.values().iter().zip(b.entries.values()).all(|(a, b)| a.has_type_of(b)))
            }
            _ => false,
        }
    }

    /// Whether its type is the wanted one or would be if every `any` in the wanted one were chosen well.
    pub fn conforms_to(&self, want: &Type) -> bool {
        match (&self.data, want) {
            (_, Type::Dynamic) => true,
            (Data::Null(ty), _) => ty.conforms_to(want),
            (Data::Unknown(unknown), _) => unknown.ty.conforms_to(want),
            (Data::List(list), Type::List(element)) => list.element.conforms_to(element),
            (Data::Set(set), Type::Set(element)) => set.element.conforms_to(element),
            (Data::Map(map), Type::Map(element)) => map.element.conforms_to(element),
            (Data::Tuple(tuple), Type::Tuple(elements)) => {
                tuple.items.len() == elements.len()
                    && tuple.items.iter().zip(&**elements).all(|(item, want)| item.conforms_to(want))
            }
            (Data::Object(object), Type::Object(attributes)) => {
                object.entries.len() == attributes.len()
                    && object
                        .entries
                        .iter()
                        .zip(attributes.iter())
                        .all(|((name, item), (want_name, want))| name == want_name && item.conforms_to(&want.ty))
            }
            _ => self.is_of_type(want),
        }
    }

    /// Its type as messages name it.
    pub fn friendly_type_name(&self) -> String {
        match &self.data {
            Data::Tuple(_) => "tuple".to_owned(),
            Data::Object(_) => "object".to_owned(),
            _ => self.ty().friendly_name(),
        }
    }

    /// The element type of a list, set or map, known or not.
    pub fn element_type(&self) -> Option<&Type> {
        match &self.data {
            Data::List(list) => Some(&list.element),
            Data::Set(set) => Some(&set.element),
            Data::Map(map) => Some(&map.element),
            Data::Null(ty) => ty.element(),
            Data::Unknown(unknown) => unknown.ty.element(),
            _ => None,
        }
    }
}

/// The one type that all items have, those of no type left aside; none if there is no such type.
pub(crate) fn common_type<'a>(items: impl IntoIterator<Item = &'a Value>) -> Option<Type> {
    let mut common = Type::Dynamic;
    for item in items {
        if common == Type::Dynamic {
            common = item.ty();
        } else if !item.is_dynamic() && !item.is_of_type(&common) {
            return None;
        }
    }
    Some(common)
}
