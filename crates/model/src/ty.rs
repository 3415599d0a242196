//! Types of values. Comparing and cloning is cheap: the parts are shared.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::text::Str;

/// The type of a value, or a constraint on one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// Not known yet (`any` in constraints).
    Dynamic,
    /// `bool`
    Bool,
    /// `number`
    Number,
    /// `string`
    String,
    /// `list(T)`
    List(Arc<Type>),
    /// `set(T)`
    Set(Arc<Type>),
    /// `map(T)`
    Map(Arc<Type>),
    /// `tuple([T, …])`
    Tuple(Arc<Vec<Type>>),
    /// `object({a = T, …})`
    Object(Arc<ObjectType>),
}

/// The attributes of an object type, in name order.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectType {
    attributes: BTreeMap<Str, AttributeType>,
}

/// One attribute of an object type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttributeType {
    /// Its type.
    pub ty: Type,
    /// Whether conversion may supply null for it. Only in constraints, never in the type of a value.
    pub optional: bool,
}

impl ObjectType {
    /// An object type with required attributes.
    pub fn new(attributes: impl IntoIterator<Item = (Str, Type)>) -> Self {
        let attributes =
            attributes.into_iter().map(|(name, ty)| (name, AttributeType { ty, optional: false })).collect();
        Self { attributes }
    }

    /// An object type with some optional attributes.
    pub fn with_optional(attributes: BTreeMap<Str, AttributeType>) -> Self {
        Self { attributes }
    }

    /// Names and attributes, sorted by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Str, &AttributeType)> {
        self.attributes.iter()
    }

    /// The type of an attribute.
    pub fn get(&self, name: &str) -> Option<&Type> {
        self.attributes.get(name).map(|attribute| &attribute.ty)
    }

    /// An attribute with its flag.
    pub fn attribute(&self, name: &str) -> Option<&AttributeType> {
        self.attributes.get(name)
    }

    /// How many attributes there are.
    pub fn len(&self) -> usize {
        self.attributes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty()
    }

    /// Whether any attribute (not looking deeper) is optional.
    pub fn has_optional(&self) -> bool {
        self.attributes.values().any(|attribute| attribute.optional)
    }
}

impl Type {
    /// `list(element)`
    pub fn list(element: Type) -> Type {
        Type::List(Arc::new(element))
    }

    /// `set(element)`
    pub fn set(element: Type) -> Type {
        Type::Set(Arc::new(element))
    }

    /// `map(element)`
    pub fn map(element: Type) -> Type {
        Type::Map(Arc::new(element))
    }

    /// `tuple([elements])`
    pub fn tuple(elements: Vec<Type>) -> Type {
        Type::Tuple(Arc::new(elements))
    }

    /// `object({attributes})`, all required.
    pub fn object<N: Into<Str>>(attributes: impl IntoIterator<Item = (N, Type)>) -> Type {
        Type::Object(Arc::new(ObjectType::new(attributes.into_iter().map(|(name, ty)| (name.into(), ty)))))
    }

    /// The empty object type.
    pub fn empty_object() -> Type {
        Type::Object(Arc::default())
    }

    /// `bool`, `number` or `string`
    pub fn is_primitive(&self) -> bool {
        matches!(self, Type::Bool | Type::Number | Type::String)
    }

    /// `list`, `set` or `map`
    pub fn is_collection(&self) -> bool {
        matches!(self, Type::List(_) | Type::Set(_) | Type::Map(_))
    }

    /// The element type of a list, set or map.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Type::List(element) | Type::Set(element) | Type::Map(element) => Some(element),
            _ => None,
        }
    }

    /// Whether `any` occurs anywhere inside.
    pub fn has_dynamic(&self) -> bool {
        match self {
            Type::Dynamic => true,
            Type::Bool | Type::Number | Type::String => false,
            Type::List(element) | Type::Set(element) | Type::Map(element) => element.has_dynamic(),
            Type::Tuple(elements) => elements.iter().any(Type::has_dynamic),
            Type::Object(object) => object.iter().any(|(_, attribute)| attribute.ty.has_dynamic()),
        }
    }

    /// Whether any attribute, however deep, is optional.
    pub fn has_optional(&self) -> bool {
        match self {
            Type::Dynamic | Type::Bool | Type::Number | Type::String => false,
            Type::List(element) | Type::Set(element) | Type::Map(element) => element.has_optional(),
            Type::Tuple(elements) => elements.iter().any(Type::has_optional),
            Type::Object(object) => {
                object.iter().any(|(_, attribute)| attribute.optional || attribute.ty.has_optional())
            }
        }
    }

    /// Whether this is the wanted type or would be if every `any` in the wanted one were chosen well.
    pub fn conforms_to(&self, want: &Type) -> bool {
        match (self, want) {
            (_, Type::Dynamic) => true,
            (Type::List(own), Type::List(want))
            | (Type::Set(own), Type::Set(want))
            | (Type::Map(own), Type::Map(want)) => own.conforms_to(want),
            (Type::Tuple(own), Type::Tuple(want)) => {
                own.len() == want.len() && own.iter().zip(&**want).all(|(own, want)| own.conforms_to(want))
            }
            (Type::Object(own), Type::Object(want)) => {
                own.len() == want.len()
                    && own.iter().zip(want.iter()).all(|((own_name, own), (want_name, want))| {
                        own_name == want_name && own.ty.conforms_to(&want.ty)
                    })
            }
            _ => self == want,
        }
    }

    /// The same type with every optional attribute made an ordinary one.
    pub fn without_optional(&self) -> Type {
        if !self.has_optional() {
            return self.clone();
        }
        match self {
            Type::Dynamic | Type::Bool | Type::Number | Type::String => self.clone(),
            Type::List(element) => Type::list(element.without_optional()),
            Type::Set(element) => Type::set(element.without_optional()),
            Type::Map(element) => Type::map(element.without_optional()),
            Type::Tuple(elements) => Type::tuple(elements.iter().map(Type::without_optional).collect()),
            Type::Object(object) => {
                Type::object(object.iter().map(|(name, attribute)| (name.clone(), attribute.ty.without_optional())))
            }
        }
    }

    /// As messages name it: `string`, `list of string`, `object`.
    pub fn friendly_name(&self) -> String {
        self.friendly(false)
    }

    /// As messages name it where it is a constraint: `any type` for dynamic, and so on.
    pub fn friendly_constraint(&self) -> String {
        self.friendly(true)
    }

    fn friendly(&self, constraint: bool) -> String {
        let of = |kind: &str, element: &Type| {
            if constraint && *element == Type::Dynamic {
                return format!("{kind} of any single type");
            }
            format!("{kind} of {}", element.friendly(constraint))
        };
        match self {
            Type::Dynamic if constraint => "any type".into(),
            Type::Dynamic => "dynamic".into(),
            Type::Bool => "bool".into(),
            Type::Number => "number".into(),
            Type::String => "string".into(),
            Type::List(element) => of("list", element),
            Type::Set(element) => of("set", element),
            Type::Map(element) => of("map", element),
            Type::Tuple(_) => "tuple".into(),
            Type::Object(_) => "object".into(),
        }
    }
}

/// Prints the constraint syntax: `object({a = optional(string)})`. Not for user messages; see [`Type::friendly_name`].
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dynamic => f.write_str("any"),
            Type::Bool => f.write_str("bool"),
            Type::Number => f.write_str("number"),
            Type::String => f.write_str("string"),
            Type::List(element) => write!(f, "list({element})"),
            Type::Set(element) => write!(f, "set({element})"),
            Type::Map(element) => write!(f, "map({element})"),
            Type::Tuple(elements) => {
                f.write_str("tuple([")?;
                for (at, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if at > 0 { ", " } else { "" })?;
                }
                f.write_str("])")
            }
            Type::Object(object) => {
                f.write_str("object({")?;
                for (at, (name, attribute)) in object.iter().enumerate() {
                    let separator = if at > 0 { ", " } else { "" };
                    if attribute.optional {
                        write!(f, "{separator}{name} = optional({})", attribute.ty)?;
                    } else {
                        write!(f, "{separator}{name} = {}", attribute.ty)?;
                    }
                }
                f.write_str("})")
            }
        }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_two_words() {
        assert_eq!(size_of::<Type>(), 16);
    }

    #[test]
    fn types_print_as_constraints() {
        let ty = Type::object([("b", Type::list(Type::String)), ("a", Type::tuple(vec![Type::Bool, Type::Dynamic]))]);
        assert_eq!(ty.to_string(), "object({a = tuple([bool, any]), b = list(string)})");
        assert_eq!(Type::map(Type::Dynamic).friendly_constraint(), "map of any single type");
    }
}
