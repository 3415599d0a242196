//! What users select with `-target`, `-exclude` and the like, and what `moved` names: a module, a resource or an instance.

use std::fmt;

use super::AddressError;
use super::key::InstanceKey;
use super::module::ModuleInstance;
use super::resource::{AbsInstance, AbsResource, Resource};
use super::traversal::{StepKind, Traversal};

/// A part of the infrastructure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A module instance; without a last key, all instances of the call.
    Module(ModuleInstance),
    /// All instances of a resource.
    Resource(AbsResource),
    /// One instance with a key.
    Instance(AbsInstance),
}

impl Target {
    /// Reads a whole traversal. A resource without key means all of its instances.
    pub fn from_traversal(traversal: &Traversal) -> Result<Self, AddressError> {
        let (module, rest) = ModuleInstance::take(traversal.steps())?;
        if rest.is_empty() {
            return Ok(Target::Module(module));
        }
        let (resource, rest) = Resource::take(rest)?;
        let (key, behind) = InstanceKey::take(rest, "resource instance key")?;
        if let Some(step) = behind.first() {
            let no_key = rest.len() == 1 && !matches!(step.kind, StepKind::Index(_));
            let detail = if no_key {
                "Resource instance key must be given in square brackets."
            } else {
                "Unexpected extra operators after address."
            };
            return Err(AddressError::invalid(step.offset, detail));
        }
        let resource = AbsResource { module, resource };
        Ok(if key.is_none() { Target::Resource(resource) } else { Target::Instance(resource.instance(key)) })
    }

    /// The module that it is, or that it is in.
    pub fn module(&self) -> &ModuleInstance {
        match self {
            Target::Module(module) => module,
            Target::Resource(resource) => &resource.module,
            Target::Instance(instance) => &instance.module,
        }
    }

    /// Whether an instance is selected by this.
    pub fn selects(&self, instance: &AbsInstance) -> bool {
        match self {
            Target::Module(module) => module.selects(&instance.module),
            Target::Resource(resource) => {
                resource.module == instance.module && resource.resource == instance.instance.resource
            }
            Target::Instance(own) => own == instance,
        }
    }

    /// The same, seen from a module that contains the module it was written in.
    pub fn inside(&self, module: &ModuleInstance) -> Target {
        match self {
            Target::Module(own) => Target::Module(module.join(own)),
            Target::Resource(own) => Target::Resource(AbsResource { module: module.join(&own.module), ..own.clone() }),
            Target::Instance(own) => Target::Instance(AbsInstance { module: module.join(&own.module), ..own.clone() }),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Module(module) => module.fmt(f),
            Target::Resource(resource) => resource.fmt(f),
            Target::Instance(instance) => instance.fmt(f),
        }
    }
}
