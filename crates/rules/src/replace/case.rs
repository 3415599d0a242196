//! One object that is to be replaced, as rules see it.

use groma_model::address::{AbsInstance, Provider};
use groma_model::path::Path;
use groma_model::schema::Schema;
use groma_model::value::Value;

use super::truth::Truth;
use crate::glob::Glob;

/// An object that is to be replaced. All values have their marks.
pub struct Case<'a> {
    /// Which.
    pub address: &'a AbsInstance,
    /// Whose.
    pub provider: &'a Provider,
    /// The version of the provider, if it is known.
    pub provider_version: Option<&'a str>,
    /// The workspace.
    pub workspace: &'a str,
    /// The schema that the values follow.
    pub schema: &'a Schema,
    /// As it is.
    pub old: &'a Value,
    /// As it would be after an update: why it is replaced.
    pub upd: &'a dyn View,
    /// The object that will take its place: what it claims.
    pub new: &'a Value,
    /// What is configured.
    pub config: &'a dyn View,
    /// The attributes that cannot be changed in place, and that do change.
    pub replace_paths: &'a [Path],
    /// Why it is replaced.
    pub cause: Cause,
    /// Whether its provider uses the old type system, in which null and empty are the same.
    pub legacy_type_system: bool,
    /// What has to do with it. None if only the object is known.
    pub neighbours: Option<&'a dyn Neighbours>,
}

/// A view of an object. It need not be there as a whole before somebody asks for that, since few rules do.
pub trait View {
    /// The value, with marks.
    fn value(&self) -> &Value;

    /// An attribute and its place, which may be the given one, as [`Entries::get_near`](groma_model::value::Entries::get_near) finds it
    /// in an object that is not marked. None also if that cannot be told without the value.
    fn attribute(&self, _name: &str, _place: usize) -> Option<(usize, &Value)> {
        None
    }
}

impl View for Value {
    fn value(&self) -> &Value {
        self
    }
}

/// Why an object is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The provider cannot change it in place.
    CannotUpdate,
    /// It is tainted.
    Tainted,
    /// The user wants it.
    Requested,
    /// Something that it is bound to changes.
    Triggered,
}

impl Cause {
    /// As machines are told.
    pub fn name(self) -> &'static str {
        match self {
            Cause::CannotUpdate => "replace_because_cannot_update",
            Cause::Tainted => "replace_because_tainted",
            Cause::Requested => "replace_by_request",
            Cause::Triggered => "replace_by_triggers",
        }
    }
}

/// Which other objects have to do with an object. Made by the engine, which knows the graph.
pub trait Neighbours {
    /// Objects of these types that depend on it, as the configuration or the state says. `identity` names the attributes of the object
    /// that others hold it by; `id` if there are none.
    fn dependents(&self, types: &[Glob], identity: &[groma_model::text::Str]) -> Vec<Attached>;

    /// Objects of these types that it refers to.
    fn references(&self, types: &[Glob], identity: &[groma_model::text::Str]) -> Vec<Attached>;

    /// How many instances its resource has, itself included.
    fn siblings(&self) -> usize;
}

/// An object that has to do with another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// Which.
    pub address: String,
    /// Whether the two still hold each other once the plan is carried out as far as this object: true for a dependent that stays or is
    /// updated, false for one that is deleted or replaced, unknown for one that is put off.
    pub holds: Truth,
    /// Whether the plan is not about it, so that this is what the state says.
    pub outside_plan: bool,
}
