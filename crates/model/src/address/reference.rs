//! What an expression refers to: the first steps of a traversal name an object, the others go into its value.

use std::fmt;

use super::AddressError;
use super::key::InstanceKey;
use super::resource::{Instance, Resource, ResourceMode};
use super::traversal::{IndexKey, Step, StepKind, Traversal};
use crate::text::Str;
use crate::value::go_quote;

/// Something an expression can refer to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Referent {
    /// `count.index`
    Count(Str),
    /// `each.key`, `each.value`
    Each(Str),
    /// `self`
    SelfObject,
    /// `path.module`
    Path(Str),
    /// `terraform.workspace`, also as `tofu.workspace`
    Terraform(Str),
    /// `var.name`
    Variable(Str),
    /// `local.name`
    Local(Str),
    /// A resource, or its only instance: `aws_instance.web`.
    Resource(Resource),
    /// An instance of a resource, if there is a key or anything behind the name.
    Instance(Instance),
    /// A whole module call: `module.a`.
    Module(Str),
    /// An instance of a module call: `module.a[0]`.
    ModuleInstance(Str, InstanceKey),
    /// An output of a module call: `module.a[0].ip`.
    ModuleOutput(Str, InstanceKey, Str),
}

/// A function of a provider.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderFunction {
    /// The local name of the provider.
    pub provider: Str,
    /// Which of its configurations.
    pub alias: Option<Str>,
    /// The function.
    pub function: Str,
}

/// A reference: the object, and the steps from there into its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The object.
    pub referent: Referent,
    /// What is left.
    pub remaining: Vec<Step>,
}

impl ProviderFunction {
    /// Reads `provider::name::function` or `provider::name::alias::function`.
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split("::").collect();
        match parts[..] {
            ["provider", provider, function] => {
                Some(Self { provider: provider.into(), alias: None, function: function.into() })
            }
            ["provider", provider, alias, function] => {
                Some(Self { provider: provider.into(), alias: Some(alias.into()), function: function.into() })
            }
            _ => None,
        }
    }
}

impl Reference {
    /// Finds out what a traversal refers to.
    pub fn from_traversal(traversal: &Traversal) -> Result<Self, AddressError> {
        let (referent, remaining) = resolve(traversal.steps())?;
        Ok(Self { referent, remaining: remaining.to_vec() })
    }
}

fn resolve(steps: &[Step]) -> Result<(Referent, &[Step]), AddressError> {
    let (root, offset) = match steps.first() {
        Some(step) => (step.name().map_or("", Str::as_str), step.offset),
        None => ("", 0),
    };
    match root {
        "count" => single(steps, Referent::Count),
        "each" => single(steps, Referent::Each),
        "local" => single(steps, Referent::Local),
        "path" => single(steps, Referent::Path),
        "terraform" | "tofu" => single(steps, Referent::Terraform),
        "var" => single(steps, Referent::Variable),
        "self" => Ok((Referent::SelfObject, &steps[1..])),
        "module" => module(steps),
        "data" | "ephemeral" | "resource" => {
            if steps.len() < 3 {
                let what = match root {
                    "data" => "the data source type and the resource name",
                    "ephemeral" => "the ephemeral resource type and its name",
                    _ => "the resource type and the resource name",
                };
                let detail = format!("The {root:?} object must be followed by two attribute names: {what}.");
                return Err(invalid(offset, detail));
            }
            let mode = match root {
                "data" => ResourceMode::Data,
                "ephemeral" => ResourceMode::Ephemeral,
                _ => ResourceMode::Managed,
            };
            resource(mode, &steps[1..])
        }
        "template" | "lazy" | "arg" => Err(AddressError::new(
            offset,
            "Reserved symbol name",
            format!(
                "The symbol name {root:?} is reserved for use in a future OpenTofu version. If you are using a provider \
                 that already uses this as a resource type name, add the prefix \"resource.\" to force interpretation \
                 as a resource type name."
            ),
        )),
        _ => resource(ResourceMode::Managed, steps),
    }
}

fn invalid(offset: usize, detail: impl Into<String>) -> AddressError {
    AddressError::new(offset, "Invalid reference", detail)
}

fn single(steps: &[Step], make: impl FnOnce(Str) -> Referent) -> Result<(Referent, &[Step]), AddressError> {
    let (name, rest) = object_attribute(steps)?;
    Ok((make(name), rest))
}

/// `root.name`
fn object_attribute(steps: &[Step]) -> Result<(Str, &[Step]), AddressError> {
    let (root, offset) = match steps.first() {
        Some(step) => (step.name().cloned(), step.offset),
        None => (None, 0),
    };
    let root = root.unwrap_or_else(|| Str::from(""));
    let Some(step) = steps.get(1) else {
        let root = go_quote(&root);
        let detail = format!("The {root} object cannot be accessed directly. Instead, access one of its attributes.");
        return Err(invalid(offset, detail));
    };
    let name = step.name().ok_or_else(|| {
        invalid(step.offset, format!("The {} object does not support this operation.", go_quote(&root)))
    })?;
    Ok((name.clone(), &steps[2..]))
}

fn module(steps: &[Step]) -> Result<(Referent, &[Step]), AddressError> {
    let (name, rest) = object_attribute(steps)?;
    if rest.is_empty() {
        return Ok((Referent::Module(name), rest));
    }
    let (key, rest) = InstanceKey::take(rest, "index for module instance")?;
    match rest.split_first() {
        None => Ok((Referent::ModuleInstance(name, key), rest)),
        Some((step, rest)) => match step.name() {
            Some(output) => Ok((Referent::ModuleOutput(name, key, output.clone()), rest)),
            None => Err(invalid(step.offset, "Module instance objects do not support this operation.")),
        },
    }
}

fn resource(mode: ResourceMode, steps: &[Step]) -> Result<(Referent, &[Step]), AddressError> {
    let what = match mode {
        ResourceMode::Data => "a data source",
        ResourceMode::Ephemeral => "an ephemeral resource",
        ResourceMode::Managed => "a resource type",
    };
    let needs_name = format!(
        "A reference to {what} must be followed by at least one attribute access, specifying the resource name."
    );
    let [ty, name, rest @ ..] = steps else {
        return Err(invalid(steps.first().map_or(0, |step| step.offset), needs_name));
    };
    let Some(ty_name) = ty.name() else {
        return Err(invalid(ty.offset, format!("The {:?} object does not support this operation.", mode.block_name())));
    };
    let Some(own_name) = name.name() else {
        return Err(invalid(name.offset, needs_name));
    };
    let resource = Resource::new(mode, ty_name.clone(), own_name.clone());
    if rest.is_empty() {
        return Ok((Referent::Resource(resource), rest));
    }
    let (key, rest) = InstanceKey::take(rest, "index for resource instance")?;
    Ok((Referent::Instance(resource.instance(key)), rest))
}

impl fmt::Display for Referent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Referent::Count(name) => write!(f, "count.{name}"),
            Referent::Each(name) => write!(f, "each.{name}"),
            Referent::SelfObject => f.write_str("self"),
            Referent::Path(name) => write!(f, "path.{name}"),
            Referent::Terraform(name) => write!(f, "terraform.{name}"),
            Referent::Variable(name) => write!(f, "var.{name}"),
            Referent::Local(name) => write!(f, "local.{name}"),
            Referent::Resource(resource) => write!(f, "{resource}"),
            Referent::Instance(instance) => write!(f, "{instance}"),
            Referent::Module(name) => write!(f, "module.{name}"),
            Referent::ModuleInstance(name, key) => write!(f, "module.{name}{key}"),
            Referent::ModuleOutput(name, key, output) => write!(f, "module.{name}{key}.{output}"),
        }
    }
}

impl fmt::Display for ProviderFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.alias {
            None => write!(f, "provider::{}::{}", self.provider, self.function),
            Some(alias) => write!(f, "provider::{}::{alias}::{}", self.provider, self.function),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.referent)?;
        for step in &self.remaining {
            match &step.kind {
                StepKind::Attr(name) => write!(f, ".{name}")?,
                StepKind::Index(IndexKey::Number(number)) => write!(f, "[{}]", number.format_g(Some(10)))?,
                StepKind::Index(IndexKey::String(key)) => write!(f, "[{}]", go_quote(key))?,
            }
        }
        Ok(())
    }
}
