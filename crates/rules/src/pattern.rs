//! What the label of a rule stands for: an instance, a resource, a type, or a glob of those. Nothing here knows the rules.

use std::fmt;

use groma_model::address::{AbsInstance, IndexKey, InstanceKey, Module, ModuleStep, Resource, StepKind, Traversal};
use groma_model::text::Str;
use groma_syntax::is_identifier;

use crate::glob::Glob;

/// How exactly a pattern says what it is about. The greater one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// `aws_*`
    TypeGlob,
    /// `aws_instance`
    Type,
    /// `aws_instance.web_*`
    AddressGlob,
    /// `aws_instance.web`
    Resource,
    /// `aws_instance.web[0]`
    Instance,
}

/// What the label of a rule stands for, relative to the module that it is written in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pattern {
    /// All resources of a type, in the module and in those that it calls.
    Type(Glob),
    /// Resources of one module.
    Address(AddressPattern),
}

/// A pattern of addresses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AddressPattern {
    modules: Vec<(Glob, KeyPattern)>,
    ty: Glob,
    name: Glob,
    key: KeyPattern,
}

/// Which instances are meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum KeyPattern {
    /// All of them: no key is given, or `[*]`.
    Any,
    /// The one with this key.
    Exactly(InstanceKey),
}

impl KeyPattern {
    fn matches(&self, key: &InstanceKey) -> bool {
        match self {
            KeyPattern::Any => true,
            KeyPattern::Exactly(own) => own == key,
        }
    }
}

/// Where a pattern without globs can be looked up.
pub(crate) enum Lookup {
    /// By the resource that it names, from the root.
    Resource(Module, Resource),
    /// By type.
    Type(Str),
    /// Nowhere: it must be tried.
    Glob,
}

impl Pattern {
    /// Reads the label of a rule. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut segments = segments(text)?;
        if let [(name, None)] = segments.as_slice() {
            return Ok(Pattern::Type(name.clone()));
        }
        let mut modules = Vec::new();
        while segments.first().is_some_and(|(name, _)| name.0.as_str() == "module") {
            if segments.len() < 2 || segments[0].1.is_some() {
                return Err("behind \"module\" the name of a module call is needed".to_owned());
            }
            let (name, key) = segments.remove(1);
            segments.remove(0);
            modules.push((name, key.unwrap_or(KeyPattern::Any)));
        }
        match segments.as_slice() {
            [] => Err("it names a module; name the resources in it, as in module.name.type.name".to_owned()),
            [(mode, _), ..] if matches!(mode.0.as_str(), "data" | "ephemeral") => {
                Err(format!("rules are for managed resources, not for those that begin with {:?}", mode.0.as_str()))
            }
            [(ty, None), (name, key)] => Ok(Pattern::Address(AddressPattern {
                modules,
                ty: ty.clone(),
                name: name.clone(),
                key: key.clone().unwrap_or(KeyPattern::Any),
            })),
            _ => Err("it is neither a resource type nor an address such as type.name or type.name[0]".to_owned()),
        }
    }

    /// How exactly it says what it is about.
    pub fn strength(&self) -> Strength {
        match self {
            Pattern::Type(ty) if ty.is_plain() => Strength::Type,
            Pattern::Type(_) => Strength::TypeGlob,
            Pattern::Address(address) if !address.is_plain() => Strength::AddressGlob,
            Pattern::Address(AddressPattern { key: KeyPattern::Any, .. }) => Strength::Resource,
            Pattern::Address(_) => Strength::Instance,
        }
    }

    /// How much of it is said letter by letter: of two globs, the longer one is the more exact one.
    pub(crate) fn letters(&self) -> usize {
        match self {
            Pattern::Type(ty) => ty.letters(),
            Pattern::Address(address) => {
                let keyed = address.modules.iter().filter(|(_, key)| *key != KeyPattern::Any).count();
                let modules: usize = address.modules.iter().map(|(name, _)| name.letters() + 1).sum();
                keyed + modules + address.ty.letters() + address.name.letters()
            }
        }
    }

    /// Whether an instance is meant, if the pattern is written in `base`.
    pub fn matches(&self, base: &Module, instance: &AbsInstance) -> bool {
        let key = |own: &KeyPattern| own.matches(instance.key());
        self.means(base, instance.module.steps(), &instance.instance.resource, &key)
    }

    /// Whether some instance of a declared resource could be meant.
    pub(crate) fn could_match(&self, base: &Module, module: &[Str], resource: &Resource) -> bool {
        let steps: Vec<ModuleStep> =
            module.iter().map(|name| ModuleStep { name: name.clone(), key: InstanceKey::None }).collect();
        self.without_keys().means(base, &steps, resource, &|_| true)
    }

    fn without_keys(&self) -> Self {
        match self {
            Pattern::Type(_) => self.clone(),
            Pattern::Address(address) => {
                let modules = address.modules.iter().map(|(name, _)| (name.clone(), KeyPattern::Any)).collect();
                Pattern::Address(AddressPattern { modules, ..address.clone() })
            }
        }
    }

    fn means(
        &self,
        base: &Module,
        steps: &[ModuleStep],
        resource: &Resource,
        has_key: &dyn Fn(&KeyPattern) -> bool,
    ) -> bool {
        let names = base.names();
        let below = steps.len() >= names.len() && names.iter().zip(steps).all(|(name, step)| *name == step.name);
        if !below {
            return false;
        }
        let inner = &steps[names.len()..];
        match self {
            Pattern::Type(ty) => ty.matches(&resource.ty),
            Pattern::Address(address) => {
                let called = |((name, key), step): (&(Glob, KeyPattern), &ModuleStep)| {
                    name.matches(&step.name) && key.matches(&step.key)
                };
                address.modules.len() == inner.len()
                    && address.modules.iter().zip(inner).all(called)
                    && address.ty.matches(&resource.ty)
                    && address.name.matches(&resource.name)
                    && has_key(&address.key)
            }
        }
    }

    /// How it is looked up, if it is written in `base`.
    pub(crate) fn lookup(&self, base: &Module) -> Lookup {
        match self {
            Pattern::Type(ty) if ty.is_plain() => Lookup::Type(ty.0.clone()),
            Pattern::Address(address) if address.is_plain() => {
                let module =
                    address.modules.iter().fold(base.clone(), |module, (name, _)| module.child(name.0.clone()));
                Lookup::Resource(module, Resource::managed(address.ty.0.clone(), address.name.0.clone()))
            }
            _ => Lookup::Glob,
        }
    }
}

impl AddressPattern {
    fn is_plain(&self) -> bool {
        self.modules.iter().all(|(name, _)| name.is_plain()) && self.ty.is_plain() && self.name.is_plain()
    }
}

/// `name[key]`s between dots.
fn segments(text: &str) -> Result<Vec<(Glob, Option<KeyPattern>)>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if !is_identifier(&name.replace(['*', '?'], "x")) {
            return Err(format!("{name:?} cannot be a part of an address"));
        }
        let (key, behind) = key(behind)?;
        found.push((Glob(Str::new(name)), key));
        match behind.strip_prefix('.') {
            Some(behind) => rest = behind,
            None if behind.is_empty() => return Ok(found),
            None => return Err(format!("a dot is expected before {behind:?}")),
        }
    }
}

/// A key in brackets, if there is one, and what is behind it.
fn key(text: &str) -> Result<(Option<KeyPattern>, &str), String> {
    if !text.starts_with('[') {
        return Ok((None, text));
    }
    let (mut quoted, mut escaped) = (false, false);
    let end = text.find(|c: char| {
        let closes = c == ']' && !quoted;
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    });
    let Some(end) = end else { return Err("a bracket is not closed".to_owned()) };
    let (bracket, behind) = text.split_at(end + 1);
    if bracket == "[*]" {
        return Ok((Some(KeyPattern::Any), behind));
    }
    let invalid = || format!("{bracket:?} is no instance key: write a number or a quoted string, or leave it out");
    let parsed = Traversal::parse(&format!("x{bracket}")).map_err(|_| invalid())?;
    let key = match parsed.steps() {
        [_, step] => match &step.kind {
            StepKind::Index(IndexKey::String(text)) => Some(InstanceKey::String(text.clone())),
            StepKind::Index(IndexKey::Number(number)) => number.to_i64().map(InstanceKey::Int),
            _ => None,
        },
        _ => None,
    };
    Ok((Some(KeyPattern::Exactly(key.ok_or_else(invalid)?)), behind))
}

impl fmt::Display for KeyPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyPattern::Any => Ok(()),
            KeyPattern::Exactly(key) => key.fmt(f),
        }
    }
}

/// As it is written, in one form.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Type(ty) => f.write_str(&ty.0),
            Pattern::Address(address) => {
                for (name, key) in &address.modules {
                    write!(f, "module.{}{key}.", name.0)?;
                }
                write!(f, "{}.{}{}", address.ty.0, address.name.0, address.key)
            }
        }
    }
}
