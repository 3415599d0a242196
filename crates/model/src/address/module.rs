//! Modules: calls in the configuration ([`Module`]) and what they expand to ([`ModuleInstance`]).

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::AddressError;
use super::key::InstanceKey;
use super::traversal::{Step, StepKind, Traversal};
use crate::text::Str;

/// A module in the configuration: the names of the calls that lead to it from the root.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Module(Arc<[Str]>);

/// One instance of a module: calls and keys that lead to it from the root.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ModuleInstance(Arc<[ModuleStep]>);

/// One call on the way to a module instance.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleStep {
    /// The name of the call.
    pub name: Str,
    /// Which of its instances.
    pub key: InstanceKey,
}

impl Module {
    /// The root module.
    pub fn root() -> Self {
        Self::default()
    }

    /// The module with these calls on the way to it.
    pub fn new<N: Into<Str>>(names: impl IntoIterator<Item = N>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// Whether it is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The names of the calls.
    pub fn names(&self) -> &[Str] {
        &self.0
    }

    /// The module that a call in this one leads to.
    pub fn child(&self, name: impl Into<Str>) -> Module {
        Self(self.0.iter().cloned().chain([name.into()]).collect())
    }

    /// The module around this one, and the name of the call; none for the root.
    pub fn parent(&self) -> Option<(Module, &Str)> {
        let (last, rest) = self.0.split_last()?;
        Some((Self(rest.into()), last))
    }

    /// Whether it is this one or inside it.
    pub fn contains(&self, other: &Module) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The one instance that it has if no call has keys.
    pub fn without_keys(&self) -> ModuleInstance {
        ModuleInstance(self.0.iter().map(|name| ModuleStep { name: name.clone(), key: InstanceKey::None }).collect())
    }

    /// Reads a whole traversal as a module address.
    pub fn from_traversal(traversal: &Traversal) -> Result<Self, AddressError> {
        let (module, rest) = Self::take(traversal.steps())?;
        whole_module(traversal, rest)?;
        Ok(module)
    }

    /// Takes `module.a.module.b` from the beginning. Keys are refused.
    pub(super) fn take(steps: &[Step]) -> Result<(Module, &[Step]), AddressError> {
        let (instance, rest) = ModuleInstance::take(steps)?;
        if instance.0.iter().all(|step| step.key.is_none()) {
            return Ok((instance.module(), rest));
        }
        let index = steps.iter().find(|step| matches!(step.kind, StepKind::Index(_)));
        Err(AddressError::new(
            index.map_or(0, |step| step.offset),
            "Module instance address with keys is not allowed",
            "Module address cannot be a module instance (e.g. \"module.a[0]\"), it must be a module instead (e.g. \
             \"module.a\").",
        ))
    }
}

impl ModuleInstance {
    /// The root module.
    pub fn root() -> Self {
        Self::default()
    }

    /// The instance with these steps on the way to it.
    pub fn new(steps: impl IntoIterator<Item = ModuleStep>) -> Self {
        Self(steps.into_iter().collect())
    }

    /// Whether it is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The calls and keys.
    pub fn steps(&self) -> &[ModuleStep] {
        &self.0
    }

    /// An instance of a call in this one.
    pub fn child(&self, name: impl Into<Str>, key: InstanceKey) -> ModuleInstance {
        Self(self.0.iter().cloned().chain([ModuleStep { name: name.into(), key }]).collect())
    }

    /// The instance around this one, and the last step; none for the root.
    pub fn parent(&self) -> Option<(ModuleInstance, &ModuleStep)> {
        let (last, rest) = self.0.split_last()?;
        Some((Self(rest.into()), last))
    }

    /// The module that it is an instance of.
    pub fn module(&self) -> Module {
        Module(self.0.iter().map(|step| step.name.clone()).collect())
    }

    /// Whether it is exactly this one or inside it.
    pub fn contains(&self, other: &ModuleInstance) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The same as [`ModuleInstance::contains`], but a last step without key stands for all instances of its call,
    /// as it does where users select what to plan.
    pub fn selects(&self, other: &ModuleInstance) -> bool {
        let Some((last, path)) = self.0.split_last() else { return true };
        let Some(candidate) = other.0.get(path.len()) else { return false };
        other.0.starts_with(path) && last.name == candidate.name && (last.key.is_none() || last.key == candidate.key)
    }

    /// An address relative to this module made absolute.
    pub fn join(&self, relative: &ModuleInstance) -> ModuleInstance {
        Self(self.0.iter().chain(relative.0.iter()).cloned().collect())
    }

    /// Reads a whole traversal as a module instance address.
    pub fn from_traversal(traversal: &Traversal) -> Result<Self, AddressError> {
        let (module, rest) = Self::take(traversal.steps())?;
        whole_module(traversal, rest)?;
        Ok(module)
    }

    /// Takes `module.a[0].module.b` from the beginning.
    pub(super) fn take(steps: &[Step]) -> Result<(ModuleInstance, &[Step]), AddressError> {
        let mut found = Vec::new();
        let mut rest = steps;
        while let Some((keyword, behind)) = rest.split_first() {
            let Some(name) = keyword.name() else {
                let detail = "Module address prefix must be followed by dot and then a name.";
                return Err(AddressError::new(keyword.offset, "Invalid address operator", detail));
            };
            if name.as_str() != "module" {
                break;
            }
            let name = behind.first().and_then(Step::name).cloned().ok_or_else(|| {
                let offset = behind.first().map_or(keyword.offset, |step| step.offset);
                let detail = "Prefix \"module.\" must be followed by a module name.";
                AddressError::new(offset, "Invalid address operator", detail)
            })?;
            let (key, behind) = InstanceKey::take(&behind[1..], "module index")?;
            found.push(ModuleStep { name, key });
            rest = behind;
        }
        Ok((Self(found.into()), rest))
    }
}

fn whole_module(traversal: &Traversal, rest: &[Step]) -> Result<(), AddressError> {
    let Some(step) = rest.first() else { return Ok(()) };
    let detail = if rest.len() == traversal.steps().len() {
        "A module instance address must begin with \"module.\"."
    } else {
        "The module instance address is followed by additional invalid content."
    };
    Err(AddressError::new(step.offset, "Invalid module instance address", detail))
}

impl Ord for Module {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Module {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ModuleInstance {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for ModuleInstance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `module.a.module.b`; nothing for the root.
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.0.iter().enumerate() {
            write!(f, "{}module.{name}", if at > 0 { "." } else { "" })?;
        }
        Ok(())
    }
}

/// `module.a[0].module.b["k"]`; nothing for the root.
impl fmt::Display for ModuleInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            write!(f, "{}module.{}{}", if at > 0 { "." } else { "" }, step.name, step.key)?;
        }
        Ok(())
    }
}
