//! Values and types to bytes and back: [`json`], [`msgpack`] and [`type_json`].
//!
//! Marks do not travel: a marked value is refused, so that whoever encodes has to decide what becomes of them.
//! Input is never trusted: nesting is limited, and nothing is allocated because a length was claimed.

use std::fmt;
use std::sync::Arc;

use crate::path::{Path, PathStep};
use crate::text::Str;
use crate::ty::{ObjectType, Type};
use crate::value::{Value, common_type};

pub mod json;
pub mod msgpack;
pub mod type_json;

#[cfg(test)]
mod arbitrary;

/// Deeper nesting than this is refused. No real document comes near it.
pub const MAX_DEPTH: usize = 500;

/// Why a value or type could not be encoded or decoded, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodecError {
    /// From the failed part outwards.
    steps: Vec<PathStep>,
    kind: CodecErrorKind,
}

/// Why a value or type could not be encoded or decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecErrorKind {
    /// Marks cannot be encoded.
    #[error("value has marks, so it cannot be serialized")]
    Marked,
    /// Unknown values have no place in JSON.
    #[error("value is not known")]
    Unknown,
    /// Infinity has no place in JSON.
    #[error("cannot serialize infinity as JSON")]
    Infinite,
    /// Nesting beyond [`MAX_DEPTH`].
    #[error("nested too deeply: more than {MAX_DEPTH} levels")]
    TooDeep,
    /// The bytes do not follow the format.
    #[error("{message}")]
    Malformed {
        /// Offset of the first byte that does not fit.
        offset: usize,
        /// What is wrong.
        message: String,
    },
    /// Well-formed, but not what the type asks for.
    #[error("{0}")]
    Mismatch(String),
}

impl CodecError {
    fn new(kind: CodecErrorKind) -> Self {
        Self { steps: Vec::new(), kind }
    }

    fn mismatch(message: impl Into<String>) -> Self {
        Self::new(CodecErrorKind::Mismatch(message.into()))
    }

    fn malformed(offset: usize, message: impl Into<String>) -> Self {
        Self::new(CodecErrorKind::Malformed { offset, message: message.into() })
    }

    /// Says that the part that failed is inside another one.
    fn within(mut self, step: PathStep) -> Self {
        self.steps.push(step);
        self
    }

    /// What is wrong.
    pub fn kind(&self) -> &CodecErrorKind {
        &self.kind
    }

    /// Where in the value.
    pub fn path(&self) -> Path {
        Path::from(self.steps.iter().rev().cloned().collect::<Vec<_>>())
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        if path.is_empty() { write!(f, "{}", self.kind) } else { write!(f, "{path}: {}", self.kind) }
    }
}

impl std::error::Error for CodecError {}

fn attribute(name: &Str) -> impl FnOnce(CodecError) -> CodecError + use<> {
    let name = name.clone();
    move |error| error.within(PathStep::Attr(name))
}

fn element(index: usize) -> impl FnOnce(CodecError) -> CodecError {
    move |error| error.within(PathStep::Index(crate::path::PathKey::Number(index.into())))
}

fn key(name: &str) -> impl FnOnce(CodecError) -> CodecError {
    let name = Str::from(name);
    move |error| error.within(PathStep::Index(crate::path::PathKey::String(name)))
}

/// Counts levels of nesting.
#[derive(Clone, Copy, Default)]
struct Depth(usize);

impl Depth {
    fn deeper(self) -> Result<Depth, CodecError> {
        self.by(1)
    }

    /// Values that bring their type with them weigh more: decoding one takes more of the stack.
    fn wrapped(self) -> Result<Depth, CodecError> {
        self.by(5)
    }

    fn by(self, levels: usize) -> Result<Depth, CodecError> {
        let depth = self.0 + levels;
        if depth > MAX_DEPTH { Err(CodecError::new(CodecErrorKind::TooDeep)) } else { Ok(Depth(depth)) }
    }
}

/// Remembers the attribute names of object types, so that all objects of a list share one copy of them.
#[derive(Default)]
struct NameCache<'t>(Vec<(&'t ObjectType, Arc<Vec<Str>>)>);

impl<'t> NameCache<'t> {
    fn names(&mut self, object: &'t ObjectType) -> Arc<Vec<Str>> {
        if let Some((_, names)) = self.0.iter().find(|(known, _)| std::ptr::eq(*known, object)) {
            return names.clone();
        }
        let names: Arc<Vec<Str>> = Arc::new(object.iter().map(|(name, _)| name.clone()).collect());
        self.0.push((object, names.clone()));
        names
    }
}

/// The element type of a collection that was decoded: what the type says, or, where that is `any`, what the elements are.
fn collected<'v>(inner: &Type, items: impl IntoIterator<Item = &'v Value>) -> Result<Type, CodecError> {
    if !inner.has_dynamic() {
        return Ok(inner.clone());
    }
    common_type(items).ok_or_else(|| CodecError::mismatch("all elements must have the same type"))
}

/// How messages name what a type asks for: `a list`, `string`.
fn required(ty: &Type) -> String {
    match ty {
        Type::List(_) => "a list is required".to_owned(),
        Type::Set(_) => "a set is required".to_owned(),
        Type::Map(_) => "a map is required".to_owned(),
        Type::Tuple(_) => "a tuple is required".to_owned(),
        Type::Object(_) => "an object is required".to_owned(),
        _ => format!("{} is required", ty.friendly_name()),
    }
}
