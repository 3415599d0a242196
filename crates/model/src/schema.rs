//! Provider schemas in our own terms: what arguments and blocks an object has, whichever protocol it was learnt through.

mod attributes;
mod types;
mod validate;
mod values;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::text::Str;
use crate::ty::Type;
use crate::value::Value;

pub use validate::SchemaProblem;

/// The schema of a resource, data source or provider configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schema {
    /// Counts up whenever stored objects must be upgraded.
    pub version: i64,
    /// What it holds.
    pub block: Block,
}

/// Arguments and nested blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// Arguments and computed values, by name.
    pub attributes: BTreeMap<Str, Attribute>,
    /// Nested blocks, by kind.
    pub block_types: BTreeMap<Str, NestedBlock>,
    /// For documentation.
    pub description: Description,
    /// Whether its use is discouraged.
    pub deprecated: bool,
    /// Why.
    pub deprecation_message: Option<Str>,
}

/// A text for documentation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// The text; empty if there is none.
    pub text: String,
    /// How it is written.
    pub kind: TextKind,
}

/// How a description is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextKind {
    /// As it is.
    #[default]
    Plain,
    /// In Markdown.
    Markdown,
}

/// An argument or computed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// What it holds.
    pub ty: AttributeKind,
    /// Must be given.
    pub required: bool,
    /// May be given.
    pub optional: bool,
    /// The provider may decide it.
    pub computed: bool,
    /// Must not be shown.
    pub sensitive: bool,
    /// Must not be shown where this says so of its value. Only providers of our own can tell.
    pub sensitive_when: Option<SensitiveWhen>,
    /// Goes to the provider and is never stored.
    pub write_only: bool,
    /// For documentation.
    pub description: Description,
    /// Whether its use is discouraged.
    pub deprecated: bool,
    /// Why.
    pub deprecation_message: Option<Str>,
}

/// Which values of an attribute must not be shown.
#[derive(Debug, Clone, Copy)]
pub struct SensitiveWhen {
    /// What it is about: two of one name are the same.
    pub name: &'static str,
    /// Whether this value must not be shown.
    pub hides: fn(&Value) -> bool,
}

impl PartialEq for SensitiveWhen {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for SensitiveWhen {}

/// What an attribute holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeKind {
    /// A value of a type.
    Type(Type),
    /// Objects whose attributes have schemas of their own.
    Nested(Arc<NestedObject>),
}

impl Attribute {
    /// An attribute of a type, neither required nor optional nor computed yet.
    pub fn of_type(ty: Type) -> Self {
        Self {
            ty: AttributeKind::Type(ty),
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            sensitive_when: None,
            write_only: false,
            description: Description::default(),
            deprecated: false,
            deprecation_message: None,
        }
    }

    /// Whether this value of it must not be shown.
    pub fn hides(&self, value: &Value) -> bool {
        self.sensitive || self.sensitive_when.is_some_and(|when| (when.hides)(value))
    }

    /// Whether any value of it must not be shown.
    pub fn may_hide(&self) -> bool {
        self.sensitive || self.sensitive_when.is_some()
    }
}

/// Objects inside an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestedObject {
    /// Their attributes.
    pub attributes: BTreeMap<Str, Attribute>,
    /// One object, or a collection of them. Never [`Nesting::Group`].
    pub nesting: Nesting,
}

/// A kind of nested block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestedBlock {
    /// What each block holds.
    pub block: Block,
    /// One block, or a collection of them.
    pub nesting: Nesting,
    /// At least so many.
    pub min_items: u64,
    /// At most so many; 0 if there is no limit.
    pub max_items: u64,
}

/// How objects are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// One, or null.
    Single,
    /// Any number, in order.
    List,
    /// Any number, without order.
    Set,
    /// Any number, by name.
    Map,
    /// One, never null: made of empty values if it is not given.
    Group,
}

/// What identifies the objects of a resource type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdentitySchema {
    /// Counts up whenever stored identities must be upgraded.
    pub version: i64,
    /// Its parts, by name.
    pub attributes: BTreeMap<Str, IdentityAttribute>,
}

/// One part of an identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityAttribute {
    /// Its type.
    pub ty: Type,
    /// Must be given to import an object.
    pub required_for_import: bool,
    /// May be given to import an object.
    pub optional_for_import: bool,
    /// For documentation.
    pub description: String,
}

/// How a provider's function is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionSignature {
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The parameter that takes all arguments behind those.
    pub variadic: Option<Parameter>,
    /// The type of its result.
    pub returns: Type,
    /// What it is for, in a line.
    pub summary: String,
    /// For documentation.
    pub description: Description,
    /// Why its use is discouraged, if it is.
    pub deprecation_message: Option<Str>,
}

/// One parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, for messages.
    pub name: Str,
    /// What arguments it takes.
    pub ty: Type,
    /// Whether null reaches the function.
    pub allow_null: bool,
    /// Whether unknown values reach the function.
    pub allow_unknown: bool,
    /// For documentation.
    pub description: Description,
}
