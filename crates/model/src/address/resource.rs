//! Resources and their instances: relative to a module, absolute, and in the configuration.

use std::fmt;

use super::AddressError;
use super::key::InstanceKey;
use super::module::{Module, ModuleInstance};
use super::target::Target;
use super::traversal::{Step, StepKind, Traversal};
use crate::text::Str;

/// Which kind of block declares it. Ordered as resources are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceMode {
    /// `ephemeral`
    Ephemeral,
    /// `data`
    Data,
    /// `resource`
    Managed,
}

impl ResourceMode {
    /// The name of the block that declares it.
    pub fn block_name(self) -> &'static str {
        match self {
            ResourceMode::Ephemeral => "ephemeral",
            ResourceMode::Data => "data",
            ResourceMode::Managed => "resource",
        }
    }

    /// What its addresses begin with.
    fn prefix(self) -> &'static str {
        match self {
            ResourceMode::Ephemeral => "ephemeral.",
            ResourceMode::Data => "data.",
            ResourceMode::Managed => "",
        }
    }
}

/// A resource in some module: `aws_instance.web`, `data.aws_ami.base`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource {
    /// Which kind of block declares it.
    pub mode: ResourceMode,
    /// Its type.
    pub ty: Str,
    /// Its name.
    pub name: Str,
}

/// An instance of a resource in some module: `aws_instance.web[0]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instance {
    /// The resource.
    pub resource: Resource,
    /// Which of its instances.
    pub key: InstanceKey,
}

/// A resource in a module of the configuration: `module.a.aws_instance.web`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigResource {
    /// Where it is declared.
    pub module: Module,
    /// The resource.
    pub resource: Resource,
}

/// A resource in a module instance: `module.a["x"].aws_instance.web`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsResource {
    /// Where it is.
    pub module: ModuleInstance,
    /// The resource.
    pub resource: Resource,
}

/// An instance of a resource in a module instance: `module.a["x"].aws_instance.web[0]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsInstance {
    /// Where it is.
    pub module: ModuleInstance,
    /// The instance.
    pub instance: Instance,
}

/// The name of an object that was put aside until its replacement is ready: eight hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeposedKey(Str);

/// The current object of an instance, or one that was put aside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsObject {
    /// The instance.
    pub instance: AbsInstance,
    /// Which of its objects; none for the current one.
    pub deposed: Option<DeposedKey>,
}

impl Resource {
    /// A resource of any mode.
    pub fn new(mode: ResourceMode, ty: impl Into<Str>, name: impl Into<Str>) -> Self {
        Self { mode, ty: ty.into(), name: name.into() }
    }

    /// A managed resource.
    pub fn managed(ty: impl Into<Str>, name: impl Into<Str>) -> Self {
        Self::new(ResourceMode::Managed, ty, name)
    }

    /// An instance of it.
    pub fn instance(&self, key: InstanceKey) -> Instance {
        Instance { resource: self.clone(), key }
    }

    /// The same resource as seen from the root.
    pub fn absolute(&self, module: ModuleInstance) -> AbsResource {
        AbsResource { module, resource: self.clone() }
    }

    /// The same resource in a module of the configuration.
    pub fn in_module(&self, module: Module) -> ConfigResource {
        ConfigResource { module, resource: self.clone() }
    }

    /// The local name of the provider that the type suggests: `aws` for `aws_instance`.
    pub fn implied_provider(&self) -> &str {
        self.ty.split_once('_').map_or(self.ty.as_str(), |(provider, _)| provider)
    }

    /// Takes `aws_instance.web` or `data.aws_ami.base` from the beginning.
    pub(super) fn take(steps: &[Step]) -> Result<(Resource, &[Step]), AddressError> {
        let start = steps.first().map_or(0, |step| step.offset);
        let mode = match steps.first().and_then(Step::name).map(Str::as_str) {
            Some("data") => ResourceMode::Data,
            Some("ephemeral") => ResourceMode::Ephemeral,
            _ => ResourceMode::Managed,
        };
        let steps = if mode == ResourceMode::Managed { steps } else { &steps[1..] };
        let [ty, name, rest @ ..] = steps else {
            let detail = "Resource specification must include a resource type and name.";
            return Err(AddressError::invalid(start, detail));
        };
        let ty_name = ty.name().ok_or_else(|| {
            let detail = match mode {
                ResourceMode::Managed => "A resource type name is required.",
                ResourceMode::Data => "A data source name is required.",
                ResourceMode::Ephemeral => "An ephemeral resource name is required.",
            };
            AddressError::invalid(ty.offset, detail)
        })?;
        let own_name = name.name().ok_or_else(|| AddressError::invalid(name.offset, "A resource name is required."))?;
        Ok((Resource { mode, ty: ty_name.clone(), name: own_name.clone() }, rest))
    }
}

impl Instance {
    /// The same instance as seen from the root.
    pub fn absolute(&self, module: ModuleInstance) -> AbsInstance {
        AbsInstance { module, instance: self.clone() }
    }
}

impl ConfigResource {
    /// Reads a whole traversal. Keys are refused.
    pub fn from_traversal(traversal: &Traversal) -> Result<Self, AddressError> {
        let (module, rest) = Module::take(traversal.steps())?;
        if rest.is_empty() {
            let detail =
                "A resource address is required here. The module path must be followed by a resource specification.";
            return Err(AddressError::invalid(0, detail));
        }
        let (resource, rest) = Resource::take(rest)?;
        match rest.first() {
            None => Ok(Self { module, resource }),
            Some(step) if rest.len() == 1 && matches!(step.kind, StepKind::Index(_)) => Err(AddressError::new(
                step.offset,
                "Resource instance address with keys is not allowed",
                "Resource address cannot be a resource instance (e.g. \"null_resource.a[0]\"), it must be a resource \
                 instead (e.g. \"null_resource.a\").",
            )),
            Some(step) => Err(AddressError::invalid(step.offset, "Unexpected extra operators after address.")),
        }
    }
}

impl AbsResource {
    /// An instance of it.
    pub fn instance(&self, key: InstanceKey) -> AbsInstance {
        AbsInstance { module: self.module.clone(), instance: self.resource.instance(key) }
    }

    /// The resource in the configuration.
    pub fn config(&self) -> ConfigResource {
        ConfigResource { module: self.module.module(), resource: self.resource.clone() }
    }

    /// Reads a whole traversal.
    pub fn from_traversal(traversal: &Traversal) -> Result<Self, AddressError> {
        match Target::from_traversal(traversal)? {
            Target::Resource(resource) => Ok(resource),
            Target::Instance(_) => Err(AddressError::invalid(
                traversal.steps().last().map_or(0, |step| step.offset),
                "A resource address is required. This instance key identifies a specific resource instance, which is \
                 not expected here.",
            )),
            Target::Module(_) => Err(AddressError::invalid(
                0,
                "A resource address is required here. The module path must be followed by a resource specification.",
            )),
        }
    }
}

impl AbsInstance {
    /// The resource that it is an instance of.
    pub fn resource(&self) -> AbsResource {
        AbsResource { module: self.module.clone(), resource: self.instance.resource.clone() }
    }

    /// The resource in the configuration.
    pub fn config(&self) -> ConfigResource {
        ConfigResource { module: self.module.module(), resource: self.instance.resource.clone() }
    }

    /// Its key.
    pub fn key(&self) -> &InstanceKey {
        &self.instance.key
    }

    /// One of its objects.
    pub fn object(&self, deposed: Option<DeposedKey>) -> AbsObject {
        AbsObject { instance: self.clone(), deposed }
    }

    /// Reads a whole traversal.
    pub fn from_traversal(traversal: &Traversal) -> Result<Self, AddressError> {
        match Target::from_traversal(traversal)? {
            Target::Resource(resource) => Ok(resource.instance(InstanceKey::None)),
            Target::Instance(instance) => Ok(instance),
            Target::Module(_) => Err(AddressError::invalid(
                0,
                "A resource instance address is required here. The module path must be followed by a resource instance \
                 specification.",
            )),
        }
    }
}

impl DeposedKey {
    /// Makes a key from any number.
    pub fn new(number: u32) -> Self {
        Self(format!("{number:08x}").into())
    }

    /// Reads a key: eight hexadecimal digits in lower case.
    pub fn parse(text: &str) -> Option<Self> {
        let hexadecimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (text.len() == 8 && hexadecimal).then(|| Self(text.into()))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Writes an address behind a module path.
pub(super) fn inside(
    f: &mut fmt::Formatter<'_>,
    module: &impl fmt::Display,
    is_root: bool,
    address: &impl fmt::Display,
) -> fmt::Result {
    if is_root { write!(f, "{address}") } else { write!(f, "{module}.{address}") }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}.{}", self.mode.prefix(), self.ty, self.name)
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.resource, self.key)
    }
}

impl fmt::Display for ConfigResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        inside(f, &self.module, self.module.is_root(), &self.resource)
    }
}

impl fmt::Display for AbsResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        inside(f, &self.module, self.module.is_root(), &self.resource)
    }
}

impl fmt::Display for AbsInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        inside(f, &self.module, self.module.is_root(), &self.instance)
    }
}

impl fmt::Display for DeposedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The instance, or `… deposed object "1a2b3c4d"`.
impl fmt::Display for AbsObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.deposed {
            None => write!(f, "{}", self.instance),
            Some(key) => write!(f, "{} deposed object \"{key}\"", self.instance),
        }
    }
}
