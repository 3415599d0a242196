//! Addresses and paths, in parts: nothing is parsed.

use std::sync::Arc;

use groma_model::address::{
    AbsInstance, AbsResource, ConfigResource, DeposedKey, Instance, InstanceKey, Module, ModuleInstance, ModuleStep,
    Provider, ProviderConfig, ProviderInstance, Resource, ResourceMode, Target,
};
use groma_model::number::Number;
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::text::Str;

use super::read::{Reader, stored_lists};
use super::value::{read_plain, write_plain};
use super::write::Writer;
use super::{PlanFileError, Stored, stored_enum, stored_struct};

stored_enum! {
    ResourceMode { 0 => Managed, 1 => Data, 2 => Ephemeral }
    InstanceKey { 0 => None, 1 => Int(index), 2 => String(key) }
    Target { 0 => Module(module), 1 => Resource(resource), 2 => Instance(instance) }
    PathKey { 0 => Number(number), 1 => String(key) }
}

stored_struct! {
    ModuleStep { name, key }
    Resource { mode, ty, name }
    Instance { resource, key }
    AbsResource { module, resource }
    AbsInstance { module, instance }
    Provider { host, namespace, ty }
    ProviderConfig { module, provider, alias }
    ProviderInstance { config, key }
}

stored_lists!(Str, ModuleStep, PathStep, Path, Target, AbsInstance, ConfigResource);

impl Stored for Module {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.list(self.names())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        Ok(Module::new(input.list::<Str>()?))
    }
}

impl Stored for ModuleInstance {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.shared(|out| &mut out.modules, self, |out| out.list(self.steps()))
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        let steps = |input: &mut Reader<'_>| Ok(ModuleInstance::new(input.list::<ModuleStep>()?));
        input.shared(|input| &mut input.modules, steps)
    }
}

impl Stored for ConfigResource {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.shared(
            |out| &mut out.resources,
            self,
            |out| {
                self.module.write(out)?;
                self.resource.write(out)
            },
        )
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        let parts = |input: &mut Reader<'_>| Ok(Self { module: Stored::read(input)?, resource: Stored::read(input)? });
        input.shared(|input| &mut input.resources, parts)
    }
}

/// What something depends on: the same for all instances of a resource, so that they share it.
impl Stored for Arc<[ConfigResource]> {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.shared(|out| &mut out.dependencies, self, |out| out.list(self))
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        input.shared(|input| &mut input.dependencies, |input| Ok(input.list::<ConfigResource>()?.into()))
    }
}

impl Stored for DeposedKey {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.blob(self.as_str().as_bytes());
        Ok(())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        let text = input.text()?;
        DeposedKey::parse(text).ok_or_else(|| input.malformed("this is no key of a deposed object"))
    }
}

impl Stored for Path {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.list(self.steps())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        Ok(Path::from(input.list::<PathStep>()?))
    }
}

impl Stored for PathStep {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        match self {
            PathStep::Attr(name) => {
                out.number(0);
                name.write(out)
            }
            PathStep::Index(key) => {
                out.number(1);
                key.write(out)
            }
            PathStep::Element(value) => {
                out.number(2);
                write_plain(&value.as_ref().clone().unmark_deep().0, out)
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        match input.number()? {
            0 => Ok(PathStep::Attr(Stored::read(input)?)),
            1 => Ok(PathStep::Index(Stored::read(input)?)),
            // Without marks: those have paths of their own, and there would be no end to it.
            2 => Ok(PathStep::Element(Box::new(read_plain(input)?))),
            tag => Err(input.malformed(format!("{tag} is no step of a path"))),
        }
    }
}

impl Stored for Number {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        let integer = self.to_i64();
        integer.write(out)?;
        if integer.is_none() { self.to_string().write(out) } else { Ok(()) }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        if let Some(integer) = Option::<i64>::read(input)? {
            return Ok(Number::from(integer));
        }
        // Only as a key of a path, where a few digits are plenty.
        let text = input.text()?;
        let number = if text.len() <= 100 && !text.contains(['e', 'E']) { Number::parse(text) } else { None };
        number.ok_or_else(|| input.malformed("this is no number"))
    }
}
