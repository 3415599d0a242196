//! From the CLI configuration to the places where providers are looked for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use groma_lang::config::version::COMPATIBLE_VERSION;
use groma_model::address::{DEFAULT_HOST, Provider, TERRAFORM_HOST};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_provider::install::SignaturePolicy;
use groma_provider::install::source::{
    FilesystemMirror, Memoized, MultiSource, NetworkMirror, Patterns, Registry, RegistrySettings, Selector, Source,
    Unsupported,
};
use url::Url;

use crate::cli_config::{Location, Method};
use crate::online::Online;

/// Directories of the system where providers may be.
const SYSTEM_DIRS: [&str; 2] = ["/usr/local/share/terraform/plugins", "/usr/share/terraform/plugins"];

/// One place, instead of all that the CLI configuration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mirror {
    /// Directories.
    Directories(Vec<PathBuf>),
    /// A server that speaks the mirror protocol.
    Network(String),
    /// The registries themselves.
    Registries,
}

/// Where providers are looked for: at one place, or as the CLI configuration says.
pub fn provider_source(
    online: &Online,
    working_dir: &Path,
    only: Option<&Mirror>,
) -> Result<Arc<dyn Source>, Diagnostics> {
    let found: Arc<dyn Source> = match only {
        Some(Mirror::Directories(dirs)) => {
            let selectors = dirs.iter().map(|dir| {
                let mirror = FilesystemMirror::new(working_dir.join(dir));
                Selector::all(Arc::new(mirror))
            });
            Arc::new(MultiSource::new(selectors.collect()))
        }
        Some(Mirror::Network(url)) => network_mirror(online, url, false)?,
        Some(Mirror::Registries) => registries(online),
        None => configured(online, working_dir)?,
    };
    Ok(Arc::new(Memoized::new(found)))
}

fn configured(online: &Online, working_dir: &Path) -> Result<Arc<dyn Source>, Diagnostics> {
    let config = online.config();
    let Some(installation) = &config.installation else {
        let mut dirs = vec![working_dir.join("terraform.d").join("plugins")];
        dirs.extend(config.data_dirs.iter().map(|dir| dir.join("plugins")));
        dirs.extend(SYSTEM_DIRS.map(PathBuf::from));
        return Ok(Arc::new(MultiSource::implied(&dirs, registries(online))));
    };
    let mut diagnostics = Diagnostics::new();
    let mut selectors = Vec::new();
    for method in &installation.methods {
        let selector = selector(online, working_dir, method);
        selectors.extend(diagnostics.take(selector.map_err(Diagnostics::from)));
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(Arc::new(MultiSource::new(selectors))) }
}

fn selector(online: &Online, working_dir: &Path, method: &Method) -> Result<Selector, Diagnostic> {
    let patterns = |texts: &[String], word: &str| {
        Patterns::parse(texts).map_err(|problem| {
            let detail = format!("CLI config specifies invalid provider {word} patterns: {problem}.");
            Diagnostic::error(format!("Invalid provider source {word} patterns"), detail)
        })
    };
    let source: Arc<dyn Source> = match &method.location {
        Location::Direct => registries(online),
        Location::FilesystemMirror(path) => Arc::new(FilesystemMirror::new(working_dir.join(path))),
        Location::NetworkMirror(url) => network_mirror(online, url, method.trust_all_hashes)?,
        Location::OciMirror(template) => Arc::new(Unsupported::oci_mirror(template)),
    };
    Ok(Selector {
        source,
        include: patterns(&method.include, "inclusion")?,
        exclude: patterns(&method.exclude, "exclusion")?,
    })
}

fn registries(online: &Online) -> Arc<dyn Source> {
    let settings =
        RegistrySettings { signatures: signature_policy(online), core_version: COMPATIBLE_VERSION.to_owned() };
    Arc::new(Registry::new(online.discovery().clone(), settings))
}

fn network_mirror(online: &Online, url: &str, trusted: bool) -> Result<Arc<dyn Source>, Diagnostic> {
    let wrong = |reason: String| {
        let detail = format!("Cannot use {url:?} as a URL for a network provider mirror: {reason}.");
        Diagnostic::error("Invalid URL for provider installation source", detail)
    };
    let parsed = Url::parse(url).map_err(|problem| wrong(problem.to_string()))?;
    let mirror = NetworkMirror::new(parsed, online.discovery().clone(), trusted);
    Ok(Arc::new(mirror.map_err(|problem| wrong(problem.to_string()))?))
}

/// How strict signatures are taken.
pub(super) fn signature_policy(online: &Online) -> SignaturePolicy {
    let is_set = |name: &str| online.variables().get(name).is_some_and(|value| value == "true");
    #[expect(clippy::disallowed_methods, reason = "whether a key has expired depends on the time")]
    let now = SystemTime::now();
    SignaturePolicy {
        enforce: is_set("OPENTOFU_ENFORCE_GPG_VALIDATION"),
        enforce_expiration: is_set("OPENTOFU_ENFORCE_GPG_EXPIRATION"),
        now: now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
    }
}

/// The providers that `TF_REATTACH_PROVIDERS` names. How they are reached is not looked at here.
pub(super) fn reattached(text: Option<&str>) -> Result<BTreeSet<Provider>, Diagnostic> {
    let Some(text) = text else { return Ok(BTreeSet::new()) };
    let wrong = |problem: String| {
        let detail = format!("TF_REATTACH_PROVIDERS cannot be read: {problem}.");
        Diagnostic::error("Invalid TF_REATTACH_PROVIDERS", detail)
    };
    let entries: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(text).map_err(|problem| wrong(problem.to_string()))?;
    let mut found = BTreeSet::new();
    for address in entries.keys() {
        let provider = Provider::parse_source(address).map_err(|problem| wrong(problem.detail))?;
        // A plugin names itself by one of the public registries, and is meant whichever of them is named.
        let hosts = [DEFAULT_HOST, TERRAFORM_HOST].map(|host| Provider { host: host.into(), ..provider.clone() });
        found.extend(hosts.into_iter().filter(|other| other.same_as(&provider)));
        found.insert(provider);
    }
    Ok(found)
}
