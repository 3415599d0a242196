//! Provider source addresses: `host/namespace/type`, and the shorter forms that imply the rest.

use std::fmt;

use groma_model::diag::Diagnostic;
use groma_model::text::Str;

/// The registry that a source without a host means.
pub const DEFAULT_HOST: &str = "registry.opentofu.org";
/// The host of providers that are part of the program.
pub const BUILTIN_HOST: &str = "terraform.io";

/// The global name of a provider.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderSource {
    /// The registry's host name.
    pub host: Str,
    /// The namespace in that registry.
    pub namespace: Str,
    /// The type.
    pub kind: Str,
}

impl ProviderSource {
    /// The provider that a local name means when nothing is said about it. The name must be a provider part.
    pub fn implied(name: &str) -> Self {
        if name == "terraform" { Self::builtin(name) } else { Self::of(DEFAULT_HOST, "hashicorp", name) }
    }

    /// A provider that is part of the program.
    pub fn builtin(name: &str) -> Self {
        Self::of(BUILTIN_HOST, "builtin", name)
    }

    fn of(host: &str, namespace: &str, kind: &str) -> Self {
        Self { host: host.into(), namespace: namespace.into(), kind: kind.into() }
    }

    /// Whether it is part of the program.
    pub fn is_builtin(&self) -> bool {
        self.host == BUILTIN_HOST && self.namespace == "builtin"
    }

    /// Whether a local name alone means it.
    pub fn is_default(&self) -> bool {
        self.host == DEFAULT_HOST && self.namespace == "hashicorp"
    }

    /// As people write it: without the default host.
    pub fn for_display(&self) -> String {
        if self.host == DEFAULT_HOST { format!("{}/{}", self.namespace, self.kind) } else { self.to_string() }
    }

    /// Reads `[host/][namespace/]type`. The diagnostic has no place yet.
    pub fn parse(text: &str) -> Result<Self, Box<Diagnostic>> {
        let fail = |summary: &str, detail: String| Err(Box::new(Diagnostic::error(summary, detail)));
        let parts: Vec<&str> = text.split('/').collect();
        if parts.len() > 3 || parts.contains(&"") {
            return fail(
                "Invalid provider source string",
                "The \"source\" attribute must be in the format \"[hostname/][namespace/]name\"".to_owned(),
            );
        }
        let given = parts[parts.len() - 1];
        let kind = match provider_part(given) {
            Ok(kind) => kind,
            Err(problem) => {
                return fail(
                    "Invalid provider type",
                    format!("Invalid provider type {given:?} in source {text:?}: {problem}"),
                );
            }
        };
        let namespace = match parts.len() {
            1 => Str::new("hashicorp"),
            count if parts[count - 2] == "-" => Str::new("-"),
            count => match provider_part(parts[count - 2]) {
                Ok(namespace) => namespace.into(),
                Err(problem) => {
                    return fail(
                        "Invalid provider namespace",
                        format!("Invalid provider namespace {:?} in source {text:?}: {problem}", parts[count - 2]),
                    );
                }
            },
        };
        let host = match parts.as_slice() {
            [host, _, _] => match host_name(host) {
                Some(host) => host.into(),
                None => {
                    return fail(
                        "Invalid provider source hostname",
                        format!("Invalid provider source hostname {host:?} in source {text:?}"),
                    );
                }
            },
            _ => Str::new(DEFAULT_HOST),
        };
        if namespace == "-" && host != DEFAULT_HOST {
            return fail(
                "Invalid provider namespace",
                format!("The legacy provider namespace \"-\" can be used only with hostname {DEFAULT_HOST}."),
            );
        }
        for prefix in ["terraform-", "opentofu-"] {
            if kind.starts_with(prefix) {
                return fail("Invalid provider type", redundant_prefix(&namespace, &kind, prefix));
            }
        }
        Ok(Self { host, namespace, kind: kind.into() })
    }
}

impl fmt::Display for ProviderSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.kind)
    }
}

fn redundant_prefix(namespace: &str, kind: &str, prefix: &str) -> String {
    let repository_prefix = format!("{prefix}provider-");
    match kind.strip_prefix(&repository_prefix).filter(|rest| provider_part(rest).is_ok()) {
        Some(rest) => format!(
            "Provider source \"{namespace}/{kind}\" has a type with the prefix {repository_prefix:?}, which isn't valid. \
             Although that prefix is often used in the names of version control repositories for providers, provider \
             source strings should not include it.\n\nDid you mean \"{namespace}/{rest}\"?"
        ),
        None => format!(
            "Provider source \"{namespace}/{kind}\" has a type with the prefix {prefix:?}, which isn't allowed because \
             it would be redundant to name a provider with that prefix. If you are the author of this provider, rename \
             it to not include the prefix."
        ),
    }
}

/// A namespace or type in its normal form, or what is wrong with it.
pub fn provider_part(given: &str) -> Result<String, &'static str> {
    if given.is_empty() {
        return Err("must have at least one character");
    }
    if given.contains('.') {
        return Err("dots are not allowed");
    }
    if given.contains("--") {
        return Err("cannot use multiple consecutive dashes");
    }
    let allowed = given
        .chars()
        .all(|c| c == '-' || c.is_ascii_digit() || c.is_alphabetic() || !c.is_ascii() && c.is_alphanumeric());
    if !allowed || given.starts_with('-') || given.ends_with('-') {
        return Err("must contain only letters, digits, and dashes, and may not use leading or trailing dashes");
    }
    Ok(given.to_lowercase())
}

/// A host name in its normal form, perhaps with a port.
fn host_name(given: &str) -> Option<String> {
    let (name, port) = match given.split_once(':') {
        Some((name, port)) => (name, Some(port.parse::<u16>().ok()?)),
        None => (given, None),
    };
    let label = |part: &str| {
        !part.is_empty()
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part.chars().all(|c| c == '-' || c.is_alphanumeric())
    };
    if !name.split('.').all(label) {
        return None;
    }
    Some(match port {
        Some(port) if port != 443 => format!("{}:{port}", name.to_lowercase()),
        _ => name.to_lowercase(),
    })
}
