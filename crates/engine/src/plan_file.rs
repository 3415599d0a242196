//! A plan as bytes and back: everything that an apply needs to know, in a format of our own. Files, checksums and what else
//! belongs to a saved plan are not handled here.
//!
//! Equal plans give equal bytes. What occurs often (names, resources, types, lists of dependencies) is written once and
//! then by number, so that the size grows with what there is to say. Input is never trusted: lengths are believed only as far
//! as there are bytes, and what was read once is shared, never copied.

mod address;
mod change;
mod read;
mod state;
mod value;
mod whole;
mod write;

#[cfg(test)]
mod arbitrary;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use groma_model::address::{Provider, ResourceMode};
use groma_model::codec::CodecError;
use groma_model::schema::Schema;

use crate::plan::Plan;
use read::Reader;
use write::Writer;

/// Counts up with every change of the format.
pub const FORMAT: u64 = 2;

/// Knows the schemas that a plan was made with: of a provider's resource type, data source or ephemeral resource.
pub type Schemas<'s> = dyn Fn(&Provider, ResourceMode, &str) -> Option<Arc<Schema>> + 's;

/// Why a plan could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFileError {
    /// Written by another version.
    #[error("the plan has format {0}, and this version of groma reads format {FORMAT}")]
    Format(u64),
    /// The bytes do not follow the format.
    #[error("{message} (at byte {offset})")]
    Malformed {
        /// Where.
        offset: usize,
        /// What is wrong.
        message: String,
    },
    /// A provider does not offer something any more.
    #[error("provider {provider} offers no {} {ty:?}, which the plan needs", mode.block_name())]
    NoSchema {
        /// The provider.
        provider: Provider,
        /// Which kind of thing.
        mode: ResourceMode,
        /// Its type.
        ty: String,
    },
    /// A provider offers something else by the same name.
    #[error("provider {provider} describes {} {ty:?} differently than when the plan was made", mode.block_name())]
    SchemaChanged {
        /// The provider.
        provider: Provider,
        /// Which kind of thing.
        mode: ResourceMode,
        /// Its type.
        ty: String,
    },
    /// A value has no place in a plan, or is not one.
    #[error("a value of {what} cannot be kept in a plan: {error}")]
    Value {
        /// Whose value.
        what: String,
        /// Why.
        error: CodecError,
    },
}

/// A part of a plan that can be written and read.
trait Stored: Sized {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError>;
    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError>;
}

/// Writes a structure field by field. Leaving a field out does not compile.
macro_rules! stored_struct {
    ($($ty:ident { $($field:ident),* $(,)? })*) => {$(
        impl $crate::plan_file::Stored for $ty {
            fn write(&self, out: &mut $crate::plan_file::Writer) -> Result<(), $crate::plan_file::PlanFileError> {
                let Self { $($field),* } = self;
                $($crate::plan_file::Stored::write($field, out)?;)*
                Ok(())
            }

            fn read(input: &mut $crate::plan_file::Reader<'_>) -> Result<Self, $crate::plan_file::PlanFileError> {
                Ok(Self { $($field: $crate::plan_file::Stored::read(input)?),* })
            }
        }
    )*};
}

/// Writes a choice as a number, and what belongs to it behind that. Numbers are never used for something else.
macro_rules! stored_enum {
    ($($ty:ident { $($tag:literal => $variant:ident $(($($part:ident),+))?),* $(,)? })*) => {$(
        impl $crate::plan_file::Stored for $ty {
            fn write(&self, out: &mut $crate::plan_file::Writer) -> Result<(), $crate::plan_file::PlanFileError> {
                match self {
                    $(Self::$variant $(($($part),+))? => {
                        out.number($tag);
                        $($($crate::plan_file::Stored::write($part, out)?;)+)?
                    })*
                }
                Ok(())
            }

            fn read(input: &mut $crate::plan_file::Reader<'_>) -> Result<Self, $crate::plan_file::PlanFileError> {
                match input.number()? {
                    $($tag => {
                        $($(let $part = $crate::plan_file::Stored::read(input)?;)+)?
                        Ok(Self::$variant $(($($part),+))?)
                    })*
                    tag => Err(input.malformed(format!("{tag} is no {}", stringify!($ty)))),
                }
            }
        }
    )*};
}

use {stored_enum, stored_struct};

/// A plan as bytes. Fails only where a value is nested too deeply.
pub fn encode(plan: &Plan) -> Result<Vec<u8>, PlanFileError> {
    let mut out = Writer::default();
    out.number(FORMAT);
    plan.write(&mut out)?;
    Ok(out.into_bytes())
}

/// The plan again. `schemas` are those of the providers that it is applied with; they must be those it was made with.
pub fn decode(bytes: &[u8], schemas: &Schemas<'_>) -> Result<Plan, PlanFileError> {
    let mut input = Reader::new(bytes, schemas);
    let format = input.number()?;
    if format != FORMAT {
        return Err(PlanFileError::Format(format));
    }
    let plan = Plan::read(&mut input)?;
    input.finish()?;
    Ok(plan)
}
