//! What can be done with values. Marks of operands join the result; unknown operands give unknowns that know what they can.
//!
//! Arithmetic here works out the range of an unknown result. Operators of the language do not (see
//! [`Value::unknown_operand`]): there, an unknown operand gives a number of which nothing but "not null" is known.

mod access;
mod arithmetic;
mod compare;
mod element;
mod equality;
mod length;
mod logic;
mod nulls;
mod path;
mod range;
#[cfg(test)]
mod tests;

use super::Value;
use crate::mark::Marks;
use crate::ty::Type;

/// Why an operation has no result. Its text is the detail of the diagnostic; see [`OpError::summary`] for the head line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpError {
    /// An operand is null.
    #[error("Error during operation: argument must not be null.")]
    NullOperand,
    /// An operand has a type that the operation has no meaning for. Operands are converted first, so users do not see it.
    #[error("Error during operation: {want} required, but received {got}.")]
    WrongType {
        /// What would have been right.
        want: String,
        /// What was given.
        got: String,
    },
    /// Two infinities cancel out in a sum.
    #[error("Error during operation: can't compute sum of opposing infinities.")]
    SumOfInfinities,
    /// Two infinities cancel out in a difference.
    #[error("Error during operation: can't subtract infinity from itself.")]
    DifferenceOfInfinities,
    /// Zero times infinity.
    #[error("Error during operation: can't multiply zero by infinity.")]
    ZeroTimesInfinity,
    /// Zero by zero, or infinity by infinity.
    #[error("Error during operation: can't divide zero by zero or infinity by infinity.")]
    UndefinedQuotient,
    /// Zero and infinity.
    #[error("Error during operation: can't use modulo with zero and infinity.")]
    UndefinedRemainder,
    /// Null has no elements.
    #[error("This value is null, so it does not have any indices.")]
    IndexNull,
    /// Null is no key.
    #[error("Can't use a null value as an indexing key.")]
    NullKey,
    /// The key cannot be made a number or string.
    #[error("The given key does not identify an element in this collection value: {0}.")]
    UnsuitableKey(String),
    /// Sequences are indexed by whole numbers.
    #[error(
        "The given key does not identify an element in this collection value: indexing a sequence requires a whole number, but the given index has a fractional part."
    )]
    FractionalIndex,
    /// Sequences are not indexed from the end.
    #[error(
        "The given key does not identify an element in this collection value: a negative number is not a valid index for a sequence."
    )]
    NegativeIndex,
    /// Nothing to index.
    #[error("The given key does not identify an element in this collection value: the collection has no elements.")]
    NoElements,
    /// One past the end.
    #[error(
        "The given key does not identify an element in this collection value: the given index is greater than or equal to the length of the collection."
    )]
    IndexTooLarge,
    /// No element under that key.
    #[error("The given key does not identify an element in this collection value.")]
    NoSuchElement,
    /// No attribute of that name, and the name was given as a number.
    #[error(
        "The given key does not identify an element in this collection value. An object only supports looking up attributes by name, not by numeric index."
    )]
    NoSuchAttributeNumber,
    /// Sets have no keys.
    #[error(
        "Elements of a set are identified only by their value and don't have any separate index or key to select with, so it's only possible to perform operations across all elements of the set."
    )]
    IndexSet,
    /// Something without elements.
    #[error("This value does not have any indices.")]
    NotIndexable,
    /// Null has no attributes.
    #[error("This value is null, so it does not have any attributes.")]
    AttributeOfNull,
    /// No attribute of that name.
    #[error("This object does not have an attribute named {}.", super::go_quote(.0))]
    NoSuchAttribute(String),
    /// No element under that key.
    #[error("This map does not have an element with the key {}.", super::go_quote(.0))]
    NoSuchKey(String),
    /// A list of objects where one object was meant; with the name if the objects have that attribute.
    #[error("{}", list_of_objects(.0.as_deref()))]
    AttributeOfList(Option<String>),
    /// A set of objects where one object was meant.
    #[error(
        "Can't access attributes on a set of objects. Did you mean to access an attribute across all elements of the set?"
    )]
    AttributeOfSet,
    /// A string, number or bool.
    #[error("Can't access attributes on a primitive-typed value ({0}).")]
    AttributeOfPrimitive(String),
    /// Something without attributes.
    #[error("This value does not have any attributes.")]
    NoAttributes,
    /// Something that cannot be counted.
    #[error("Error during operation: collection required, but received {0}.")]
    NoLength(String),
}

impl OpError {
    /// The head line of the diagnostic.
    pub fn summary(&self) -> &'static str {
        match self {
            OpError::NullOperand
            | OpError::WrongType { .. }
            | OpError::SumOfInfinities
            | OpError::DifferenceOfInfinities
            | OpError::ZeroTimesInfinity
            | OpError::UndefinedQuotient
            | OpError::UndefinedRemainder
            | OpError::NoLength(_) => "Operation failed",
            OpError::IndexNull => "Attempt to index null value",
            OpError::NullKey
            | OpError::UnsuitableKey(_)
            | OpError::FractionalIndex
            | OpError::NegativeIndex
            | OpError::NoElements
            | OpError::IndexTooLarge
            | OpError::NoSuchElement
            | OpError::NoSuchAttributeNumber
            | OpError::IndexSet
            | OpError::NotIndexable => "Invalid index",
            OpError::AttributeOfNull => "Attempt to get attribute from null value",
            OpError::NoSuchKey(_) => "Missing map element",
            OpError::NoSuchAttribute(_)
            | OpError::AttributeOfList(_)
            | OpError::AttributeOfSet
            | OpError::AttributeOfPrimitive(_)
            | OpError::NoAttributes => "Unsupported attribute",
        }
    }
}

fn list_of_objects(attribute: Option<&str>) -> String {
    let which = attribute.map_or("an attribute".to_owned(), |name| format!("attribute {}", super::go_quote(name)));
    format!(
        "Can't access attributes on a list of objects. Did you mean to access {which} for a specific element of the list, or across all elements of the list?"
    )
}

impl Value {
    /// An unknown bool that is not null.
    pub fn unknown_bool() -> Value {
        Value::unknown(Type::Bool).refine_not_null()
    }

    /// What an operator of the language gives if an operand of it is unknown: a number that is not null.
    pub fn unknown_operand() -> Value {
        Value::unknown(Type::Number).refine_not_null()
    }

    /// Its own marks and those of another.
    fn joint_marks(&self, other: &Value) -> Marks {
        self.marks.union(&other.marks)
    }

    /// Checks that an operand has the wanted primitive type or none yet, and is not null.
    fn check_operand(&self, want: &Type) -> Result<(), OpError> {
        if self.is_null() {
            return Err(OpError::NullOperand);
        }
        if self.is_of_type(want) || self.is_dynamic() {
            return Ok(());
        }
        Err(OpError::WrongType { want: want.friendly_name(), got: self.friendly_type_name() })
    }
}
