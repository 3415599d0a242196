//! Objects of a module that have only a name: variables, locals, outputs and checks.

use std::fmt;

use super::AddressError;
use super::module::{Module, ModuleInstance};
use super::resource::inside;
use super::traversal::{Step, Traversal};
use crate::text::Str;

/// What kind of object has the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NamedKind {
    /// `check.name`
    Check,
    /// `local.name`
    Local,
    /// `output.name`
    Output,
    /// `var.name`
    Variable,
}

impl NamedKind {
    /// What its addresses begin with.
    pub fn keyword(self) -> &'static str {
        match self {
            NamedKind::Check => "check",
            NamedKind::Local => "local",
            NamedKind::Output => "output",
            NamedKind::Variable => "var",
        }
    }
}

/// A named object in a module instance: `module.a[0].output.ip`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsNamed {
    /// Where it is.
    pub module: ModuleInstance,
    /// Its kind.
    pub kind: NamedKind,
    /// Its name.
    pub name: Str,
}

/// A named object in a module of the configuration: `module.a.var.size`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigNamed {
    /// Where it is declared.
    pub module: Module,
    /// Its kind.
    pub kind: NamedKind,
    /// Its name.
    pub name: Str,
}

impl AbsNamed {
    /// A named object.
    pub fn new(module: ModuleInstance, kind: NamedKind, name: impl Into<Str>) -> Self {
        Self { module, kind, name: name.into() }
    }

    /// The object in the configuration.
    pub fn config(&self) -> ConfigNamed {
        ConfigNamed { module: self.module.module(), kind: self.kind, name: self.name.clone() }
    }

    /// Reads a whole traversal.
    pub fn from_traversal(traversal: &Traversal) -> Result<Self, AddressError> {
        let (module, rest) = ModuleInstance::take(traversal.steps())?;
        let (kind, name) = take(rest)?;
        Ok(Self { module, kind, name })
    }
}

impl ConfigNamed {
    /// A named object.
    pub fn new(module: Module, kind: NamedKind, name: impl Into<Str>) -> Self {
        Self { module, kind, name: name.into() }
    }

    /// Reads a whole traversal. Keys are refused.
    pub fn from_traversal(traversal: &Traversal) -> Result<Self, AddressError> {
        let (module, rest) = Module::take(traversal.steps())?;
        let (kind, name) = take(rest)?;
        Ok(Self { module, kind, name })
    }
}

fn take(steps: &[Step]) -> Result<(NamedKind, Str), AddressError> {
    let offset = steps.first().map_or(0, |step| step.offset);
    let expected = "Expected \"var\", \"local\", \"output\" or \"check\", followed by a name.";
    let kind = match steps.first().and_then(Step::name).map(Str::as_str) {
        Some("check") => NamedKind::Check,
        Some("local") => NamedKind::Local,
        Some("output") => NamedKind::Output,
        Some("var") => NamedKind::Variable,
        _ => return Err(AddressError::invalid(offset, expected)),
    };
    let Some(name) = steps.get(1).and_then(Step::name) else {
        return Err(AddressError::invalid(steps.get(1).map_or(offset, |step| step.offset), expected));
    };
    match steps.get(2) {
        None => Ok((kind, name.clone())),
        Some(step) => Err(AddressError::invalid(step.offset, "Unexpected extra operators after address.")),
    }
}

impl fmt::Display for AbsNamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        inside(f, &self.module, self.module.is_root(), &format_args!("{}.{}", self.kind.keyword(), self.name))
    }
}

impl fmt::Display for ConfigNamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        inside(f, &self.module, self.module.is_root(), &format_args!("{}.{}", self.kind.keyword(), self.name))
    }
}
