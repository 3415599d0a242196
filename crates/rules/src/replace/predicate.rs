//! What can be asked about an object that is to be replaced. One file for each kind; `KINDS` is the table of them.

pub mod attached;
pub mod claim;
pub mod field_changed;
pub mod field_equals;
pub mod field_matches;
pub mod resource_count;
pub mod scalar;
pub mod state_check;

use std::fmt::Debug;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Schema;

use super::case::Case;
use super::path::FieldPath;
use super::step::Step;
use super::truth::Truth;
use crate::glob::Glob;

/// A kind of question, with its parameters.
pub trait Predicate: Debug + Send + Sync {
    /// The name of the kind.
    fn kind(&self) -> &'static str;

    /// The fields that it reads, to check them against schemas and to find out whether they are sensitive.
    fn reads(&self) -> Vec<&FieldPath>;

    /// Whether it needs to know about other objects. Such ones are asked last.
    fn needs_neighbours(&self) -> bool {
        false
    }

    /// Whether its result would tell what a sensitive value is, so that it must be allowed to read one.
    fn is_oracle(&self) -> bool {
        true
    }

    /// What is wrong with it, if objects have this schema.
    fn check(&self, schema: &Schema) -> Vec<Diagnostic> {
        self.reads().into_iter().flat_map(|path| path.check(schema)).collect()
    }

    /// What is wrong with what it counts, for objects of a type. `knows` tells whether some provider of the configuration has resource types
    /// like that.
    fn check_attached(&self, ty: &str, schema: &Schema, knows: &dyn Fn(&Glob) -> bool) -> Diagnostics {
        let _ = (ty, schema, knows);
        Diagnostics::new()
    }

    /// Hints about how it is written; more of them if the schema of the objects is known.
    fn lints(&self, schema: Option<&Schema>) -> Vec<Diagnostic> {
        let _ = schema;
        self.reads().into_iter().flat_map(FieldPath::lints).collect()
    }

    /// Asks. Steps are wanted only where somebody reads them.
    fn ask(&self, case: &Case<'_>, wants_steps: bool) -> Result<Found, Diagnostics>;

    /// Asks for the answer alone, where it is known what the schema of the object says about the fields.
    fn answer(&self, case: &Case<'_>, facts: Facts) -> Result<Truth, Diagnostics> {
        let _ = facts;
        self.ask(case, false).map(|found| found.truth)
    }
}

/// What a schema says about the fields that a predicate reads: the same for all objects that follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Whether one of them must not be shown, or has something inside that must not.
    pub secret: bool,
    /// Whether one of them goes to the provider and is never stored.
    pub write_only: bool,
}

impl Facts {
    /// About a predicate.
    pub fn of(predicate: &dyn Predicate, schema: &Schema) -> Self {
        let reads = predicate.reads();
        Self {
            secret: reads.iter().any(|path| path.secrecy(schema).is_secret()),
            write_only: reads.iter().any(|path| path.is_write_only(schema)),
        }
    }
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The answer.
    pub truth: Truth,
    /// What it follows from. Empty if nobody wanted to know.
    pub steps: Vec<Step>,
}
