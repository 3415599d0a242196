//! Providers by source address, and their configurations as state files name them.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use super::AddressError;
use super::key::InstanceKey;
use super::module::{Module, ModuleInstance};
use super::resource::inside;
use super::traversal::{IndexKey, Step, StepKind, Traversal};
use crate::text::Str;
use crate::value::go_quote;

/// The registry of providers whose address names no host.
pub const DEFAULT_HOST: &str = "registry.opentofu.org";
/// Terraform's registry, which mirrors the same providers.
pub const TERRAFORM_HOST: &str = "registry.terraform.io";
/// The namespace of providers whose address names none.
pub const DEFAULT_NAMESPACE: &str = "hashicorp";
/// The host of providers that are part of the program.
pub const BUILTIN_HOST: &str = "terraform.io";
/// The namespace of providers that are part of the program.
pub const BUILTIN_NAMESPACE: &str = "builtin";
/// The namespace of providers from before there were namespaces. Only found in old states.
pub const LEGACY_NAMESPACE: &str = "-";

/// A provider: `registry.opentofu.org/hashicorp/aws`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Provider {
    /// The registry, in lower case, with a port unless that is 443.
    pub host: Str,
    /// The namespace, in lower case.
    pub namespace: Str,
    /// The provider's own name, in lower case.
    pub ty: Str,
}

/// A provider configuration as a module names it: `aws` or `aws.west`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalProviderConfig {
    /// The local name of the provider.
    pub name: Str,
    /// Which of its configurations; none for the default one.
    pub alias: Option<Str>,
}

/// A provider configuration in a module: `module.a.provider["registry.opentofu.org/hashicorp/aws"].west`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderConfig {
    /// Where it is declared.
    pub module: Module,
    /// The provider.
    pub provider: Provider,
    /// Which of its configurations; none for the default one.
    pub alias: Option<Str>,
}

/// One instance of a provider configuration with `for_each`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderInstance {
    /// The configuration.
    pub config: ProviderConfig,
    /// Which of its instances.
    pub key: InstanceKey,
}

impl Provider {
    /// A provider from parts that are in normal form already.
    pub fn new(host: impl Into<Str>, namespace: impl Into<Str>, ty: impl Into<Str>) -> Self {
        Self { host: host.into(), namespace: namespace.into(), ty: ty.into() }
    }

    /// A provider that is part of the program.
    pub fn builtin(ty: impl Into<Str>) -> Self {
        Self::new(BUILTIN_HOST, BUILTIN_NAMESPACE, ty)
    }

    /// The provider that a local name stands for where nothing is said about it.
    pub fn implied(name: &str) -> Result<Self, AddressError> {
        if name == "terraform" {
            return Ok(Self::builtin("terraform"));
        }
        Self::parse_source(name)
    }

    /// Reads `[host/][namespace/]type` with the usual defaults.
    pub fn parse_source(source: &str) -> Result<Self, AddressError> {
        Self::parse_source_at(source, DEFAULT_HOST)
    }

    /// Reads `[host/][namespace/]type`, where no host means the given one.
    pub fn parse_source_at(source: &str, default_host: &str) -> Result<Self, AddressError> {
        let parts: Vec<&str> = source.split('/').collect();
        let (host, namespace, ty) = match parts[..] {
            [ty] => (None, None, ty),
            [namespace, ty] => (None, Some(namespace), ty),
            [host, namespace, ty] => (Some(host), Some(namespace), ty),
            _ => return Err(bad_source()),
        };
        if parts.iter().any(|part| part.is_empty()) {
            return Err(bad_source());
        }
        let offset = source.len() - ty.len();
        let ty = provider_part(ty).map_err(|problem| {
            let detail = format!("Invalid provider type {} in source {}: {problem}.", go_quote(ty), go_quote(source));
            AddressError::new(offset, "Invalid provider type", detail)
        })?;
        let host = match host {
            None => Str::from(default_host),
            Some(host) => host_name(host).map_err(|problem| {
                let detail = format!(
                    "Invalid provider source hostname {} in source {}: {problem}.",
                    go_quote(host),
                    go_quote(source)
                );
                AddressError::new(0, "Invalid provider source hostname", detail)
            })?,
        };
        let namespace = match namespace {
            None => Str::from(DEFAULT_NAMESPACE),
            Some(LEGACY_NAMESPACE) => legacy_namespace(&host, default_host)?,
            Some(namespace) => provider_part(namespace).map_err(|problem| {
                let detail = format!(
                    "Invalid provider namespace {} in source {}: {problem}.",
                    go_quote(namespace),
                    go_quote(source)
                );
                AddressError::new(source.find(namespace).unwrap_or(0), "Invalid provider namespace", detail)
            })?,
        };
        let provider = Self { host, namespace, ty };
        // A type alone is not looked at that closely, as in OpenTofu.
        if parts.len() > 1 {
            provider.check_prefix(offset)?;
        }
        Ok(provider)
    }

    /// Names that repeat what everything here is called are mistakes, mostly of people who copy a repository name.
    fn check_prefix(&self, offset: usize) -> Result<(), AddressError> {
        let prefixes = [("terraform-", "terraform-provider-"), ("opentofu-", "opentofu-provider-")];
        for (redundant, mistaken) in prefixes {
            if !self.ty.starts_with(redundant) {
                continue;
            }
            let detail = match self.ty.strip_prefix(mistaken).filter(|rest| provider_part(rest).is_ok()) {
                Some(rest) => {
                    let suggestion = Self { ty: rest.into(), ..self.clone() };
                    format!(
                        "Provider source {} has a type with the prefix {}, which isn't valid: that prefix belongs to \
                         the names of repositories.\n\nDid you mean {}?",
                        go_quote(&self.for_display()),
                        go_quote(mistaken),
                        go_quote(&suggestion.for_display())
                    )
                }
                None => format!(
                    "Provider source {} has a type with the prefix {}, which isn't allowed because it would be \
                     redundant.",
                    go_quote(&self.to_string()),
                    go_quote(redundant)
                ),
            };
            return Err(AddressError::new(offset, "Invalid provider type", detail));
        }
        Ok(())
    }

    /// The address without the host, if that is the default one.
    pub fn for_display(&self) -> String {
        if self.host.as_str() == DEFAULT_HOST { format!("{}/{}", self.namespace, self.ty) } else { self.to_string() }
    }

    /// Whether it is part of the program.
    pub fn is_builtin(&self) -> bool {
        let host = self.host.as_str();
        (host == BUILTIN_HOST || host == "opentofu.org") && self.namespace.as_str() == BUILTIN_NAMESPACE
    }

    /// Whether it comes from before there were namespaces.
    pub fn is_legacy(&self) -> bool {
        self.namespace.as_str() == LEGACY_NAMESPACE
    }

    /// Whether both name one provider: the two public registries offer the same ones.
    pub fn same_as(&self, other: &Provider) -> bool {
        let public = |provider: &Provider| [DEFAULT_HOST, TERRAFORM_HOST].contains(&provider.host.as_str());
        self.ty == other.ty
            && self.namespace == other.namespace
            && (self.host == other.host || (public(self) && public(other)))
    }
}

fn bad_source() -> AddressError {
    let detail = "The \"source\" attribute must be in the format \"[hostname/][namespace/]name\"";
    AddressError::new(0, "Invalid provider source string", detail)
}

fn legacy_namespace(host: &Str, default_host: &str) -> Result<Str, AddressError> {
    if host.as_str() == default_host {
        return Ok(Str::from(LEGACY_NAMESPACE));
    }
    let detail = format!("The legacy provider namespace \"-\" can be used only with hostname {default_host}.");
    Err(AddressError::new(0, "Invalid provider namespace", detail))
}

/// A namespace or type in normal form: the rules are those of one label of a host name.
pub fn provider_part(given: &str) -> Result<Str, &'static str> {
    if given.is_empty() {
        return Err("must have at least one character");
    }
    if given.contains('.') {
        return Err("dots are not allowed");
    }
    if given.contains("--") {
        return Err("cannot use multiple consecutive dashes");
    }
    label(given).ok_or("must contain only letters, digits, and dashes, and may not use leading or trailing dashes")
}

/// A host name in the form that people read, with a port unless that is the usual one.
fn host_name(given: &str) -> Result<Str, String> {
    let (name, port) = match given.split_once(':') {
        None => (given, None),
        Some((name, port)) => {
            let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
            let port: Option<u16> = if digits { port.parse().ok() } else { None };
            (name, Some(port.ok_or("the port must be a number up to 65535")?))
        }
    };
    let mut labels = Vec::new();
    for given in name.split('.') {
        if given.is_empty() {
            return Err("a part of the name is empty".into());
        }
        if given.starts_with("xn--") {
            return Err(format!("{given:?} is punycode; host names must be given in unicode"));
        }
        labels.push(label(given).ok_or_else(|| format!("{given:?} cannot be part of a host name"))?);
    }
    let name = labels.join(".");
    Ok(match port {
        None | Some(443) => name.into(),
        Some(port) => format!("{name}:{port}").into(),
    })
}

/// One label of a host name: letters, digits and inner dashes, compatibility forms folded, in lower case.
fn label(given: &str) -> Option<Str> {
    let folded: String = given.nfkc().flat_map(char::to_lowercase).nfc().collect();
    let dash_in_place = |at: usize| folded.as_bytes().get(at) == Some(&b'-');
    let dashes = folded.starts_with('-') || folded.ends_with('-') || (dash_in_place(2) && dash_in_place(3));
    let allowed = |c: char| c == '-' || c.is_alphanumeric() || (!c.is_ascii() && unicode_ident::is_xid_continue(c));
    (!folded.is_empty() && !dashes && folded.chars().all(allowed)).then(|| folded.into())
}

impl ProviderConfig {
    /// The default configuration in a module.
    pub fn default_in(module: Module, provider: Provider) -> Self {
        Self { module, provider, alias: None }
    }

    /// Reads a whole traversal. Instance keys are refused.
    pub fn from_traversal(traversal: &Traversal) -> Result<Self, AddressError> {
        let instance = ProviderInstance::from_traversal(traversal)?;
        if instance.key.is_none() {
            return Ok(instance.config);
        }
        let offset = traversal.steps().last().map_or(0, |step| step.offset);
        Err(invalid_config(offset, "A provider address must not include an instance key."))
    }

    /// One of its instances.
    pub fn instance(&self, key: InstanceKey) -> ProviderInstance {
        ProviderInstance { config: self.clone(), key }
    }

    /// The configuration in the parent module that this one may stand for: only default ones are passed on.
    pub fn inherited(&self) -> Option<ProviderConfig> {
        let (module, _) = self.module.parent()?;
        self.alias.is_none().then(|| Self { module, ..self.clone() })
    }
}

impl ProviderInstance {
    /// Reads a whole traversal.
    pub fn from_traversal(traversal: &Traversal) -> Result<Self, AddressError> {
        let (module, rest) = ModuleInstance::take(traversal.steps())?;
        if module.steps().iter().any(|step| !step.key.is_none()) {
            let detail = "A provider configuration must not appear in a module instance that uses count or for_each.";
            return Err(invalid_config(0, detail));
        }
        let keyword = rest.first().and_then(Step::name).map(Str::as_str);
        let (Some("provider"), [_, source, rest @ ..]) = (keyword, rest) else {
            let offset = rest.first().map_or(0, |step| step.offset);
            let detail = "Provider address must begin with \"provider.\", followed by a provider type name.";
            return Err(invalid_config(offset, detail));
        };
        let StepKind::Index(IndexKey::String(text)) = &source.kind else {
            let detail = "The prefix \"provider.\" must be followed by a provider type name.";
            return Err(invalid_config(source.offset, detail));
        };
        let provider = Provider::parse_source(text).map_err(|error| AddressError { offset: source.offset, ..error })?;
        let (alias, rest) = match rest.split_first() {
            None => (None, rest),
            Some((step, rest)) => {
                let detail = "Provider type name must be followed by a configuration alias name.";
                (Some(step.name().ok_or_else(|| invalid_config(step.offset, detail))?.clone()), rest)
            }
        };
        let (key, rest) = InstanceKey::take(rest, "provider instance key")?;
        if let Some(step) = rest.first() {
            let detail = "Extraneous operators after provider configuration reference.";
            return Err(invalid_config(step.offset, detail));
        }
        Ok(Self { config: ProviderConfig { module: module.module(), provider, alias }, key })
    }
}

fn invalid_config(offset: usize, detail: &str) -> AddressError {
    AddressError::new(offset, "Invalid provider configuration address", detail)
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.ty)
    }
}

/// `aws` or `aws.west`
impl fmt::Display for LocalProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.alias {
            None => write!(f, "{}", self.name),
            Some(alias) => write!(f, "{}.{alias}", self.name),
        }
    }
}

impl fmt::Display for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let provider = go_quote(&self.provider.to_string());
        inside(f, &self.module, self.module.is_root(), &format_args!("provider[{provider}]"))?;
        match &self.alias {
            None => Ok(()),
            Some(alias) => write!(f, ".{alias}"),
        }
    }
}

impl fmt::Display for ProviderInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.config, self.key)
    }
}
