//! What conditions said: of resources, outputs, variables and `check` blocks, by what they are about.

mod book;

pub(crate) use book::CheckBook;
use groma_model::address::{AbsInstance, ConfigResource, Module, ModuleInstance};
use groma_model::text::Str;
use groma_state::{CheckKind, CheckObject, CheckResult, CheckStatus};

/// Something that has conditions, as it is declared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Checked {
    /// A resource or data source.
    Resource(ConfigResource),
    /// An output of a module.
    Output(Module, Str),
    /// A `check` block.
    Check(Module, Str),
    /// A variable.
    Variable(Module, Str),
}

impl Checked {
    /// Which kind of thing.
    pub fn kind(&self) -> CheckKind {
        match self {
            Self::Resource(_) => CheckKind::Resource,
            Self::Output(..) => CheckKind::Output,
            Self::Check(..) => CheckKind::Check,
            Self::Variable(..) => CheckKind::Variable,
        }
    }
}

impl std::fmt::Display for Checked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Resource(resource) => resource.fmt(f),
            Self::Output(module, name) => in_module(f, module, "output", name),
            Self::Check(module, name) => in_module(f, module, "check", name),
            Self::Variable(module, name) => in_module(f, module, "var", name),
        }
    }
}

/// One instance of something that has conditions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckedInstance {
    /// An instance of a resource or data source.
    Resource(AbsInstance),
    /// An output of a module instance.
    Output(ModuleInstance, Str),
    /// A `check` block of a module instance.
    Check(ModuleInstance, Str),
    /// A variable of a module instance.
    Variable(ModuleInstance, Str),
}

impl CheckedInstance {
    /// What it is an instance of.
    pub fn config(&self) -> Checked {
        match self {
            Self::Resource(address) => Checked::Resource(address.config()),
            Self::Output(module, name) => Checked::Output(module.module(), name.clone()),
            Self::Check(module, name) => Checked::Check(module.module(), name.clone()),
            Self::Variable(module, name) => Checked::Variable(module.module(), name.clone()),
        }
    }
}

impl std::fmt::Display for CheckedInstance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Resource(address) => address.fmt(f),
            Self::Output(module, name) => in_module(f, module, "output", name),
            Self::Check(module, name) => in_module(f, module, "check", name),
            Self::Variable(module, name) => in_module(f, module, "var", name),
        }
    }
}

fn in_module(
    f: &mut std::fmt::Formatter<'_>,
    module: &dyn std::fmt::Display,
    kind: &str,
    name: &str,
) -> std::fmt::Result {
    let module = module.to_string();
    if module.is_empty() { write!(f, "{kind}.{name}") } else { write!(f, "{module}.{kind}.{name}") }
}

/// What the conditions of one declaration said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// Of what.
    pub subject: Checked,
    /// All in all.
    pub status: CheckStatus,
    /// By instance, in the order of their addresses.
    pub instances: Vec<InstanceReport>,
}

/// What the conditions of one instance said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceReport {
    /// Of which.
    pub address: CheckedInstance,
    /// All in all.
    pub status: CheckStatus,
    /// What failed, in words that may be shown.
    pub problems: Vec<String>,
}

impl CheckReport {
    /// As a state keeps it.
    pub fn to_state(&self) -> CheckResult {
        let object = |instance: &InstanceReport| CheckObject {
            address: instance.address.to_string(),
            status: instance.status,
            failures: instance.problems.clone(),
        };
        CheckResult {
            kind: self.subject.kind(),
            config_address: self.subject.to_string(),
            status: self.status,
            objects: self.instances.iter().map(object).collect(),
        }
    }
}
