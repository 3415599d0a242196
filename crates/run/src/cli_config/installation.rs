//! `provider_installation`: where providers are looked for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use groma_model::address::Provider;
use groma_model::diag::Diagnostic;

use super::decode::Reading;
use super::hcl1::{Item, Kind};

/// Where providers come from, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProviderInstallation {
    /// Providers that are taken from a directory as they are, whatever the lock file says.
    pub dev_overrides: BTreeMap<Provider, PathBuf>,
    /// Where to look for all others.
    pub methods: Vec<Method>,
}

/// One place to look.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// Where.
    pub location: Location,
    /// Only for these providers (`host/namespace/type`, each may be `*`); empty means all.
    pub include: Vec<String>,
    /// Not for these.
    pub exclude: Vec<String>,
    /// How many times a download is tried again, if said here.
    pub download_retries: Option<u32>,
    /// Whether all hashes of a network mirror are recorded.
    pub trust_all_hashes: bool,
}

/// What kind of place it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Location {
    /// The provider's own registry.
    Direct,
    /// A directory.
    FilesystemMirror(PathBuf),
    /// A server that speaks the mirror protocol.
    NetworkMirror(String),
    /// A registry of containers, by template.
    OciMirror(String),
}

const SUMMARY: &str = "Invalid provider_installation method block";

/// Reads one block.
pub(super) fn decode(reading: &mut Reading<'_>, block: &Item) -> Option<ProviderInstallation> {
    let summary = "Invalid provider_installation block";
    if block.assigned && !reading.is_json {
        reading.error(summary, block.at, "it must not be introduced with an equals sign");
        return None;
    }
    if block.keys.len() > 1 {
        reading.error(summary, block.at, "it must not have any labels");
    }
    let Kind::Object(items) = &block.value.kind else {
        reading.error(summary, block.at, "it must be a block");
        return None;
    };
    let mut found = ProviderInstallation::default();
    for item in items {
        if item.assigned && !reading.is_json {
            reading.error(SUMMARY, item.at, "the items inside provider_installation must all be blocks");
            continue;
        }
        if item.keys.len() > 1 {
            reading.error(SUMMARY, item.at, "the blocks inside provider_installation may not have any labels");
        }
        let bodies: Vec<&[Item]> = match &item.value.kind {
            Kind::Object(body) => vec![body],
            Kind::List(bodies) => bodies
                .iter()
                .filter_map(|body| if let Kind::Object(body) = &body.kind { Some(body.as_slice()) } else { None })
                .collect(),
            _ => {
                reading.error(SUMMARY, item.at, "the items inside provider_installation must all be blocks");
                continue;
            }
        };
        for body in bodies {
            match item.name() {
                "dev_overrides" if found.methods.is_empty() => dev_overrides(reading, body, &mut found.dev_overrides),
                "dev_overrides" => reading.error(
                    SUMMARY,
                    item.at,
                    "dev_overrides must appear before all other installation methods, because development overrides \
                     always have the highest priority",
                ),
                _ => found.methods.extend(method(reading, item, body)),
            }
        }
    }
    Some(found)
}

fn dev_overrides(reading: &mut Reading<'_>, body: &[Item], found: &mut BTreeMap<Provider, PathBuf>) {
    for item in body {
        let Some(path) = reading.text(item) else { continue };
        match Provider::parse_source(item.name()) {
            Ok(provider) => {
                found.insert(provider, PathBuf::from(path));
            }
            Err(problem) => {
                let detail = format!(
                    "The entry {:?} in {} at {} is not a valid provider source string.\n\n{}",
                    item.name(),
                    reading.file,
                    item.at,
                    problem.detail
                );
                let diagnostic = Diagnostic::error("Invalid provider installation dev overrides", detail);
                reading.diagnostics.push(diagnostic);
            }
        }
    }
}

fn method(reading: &mut Reading<'_>, block: &Item, body: &[Item]) -> Option<Method> {
    let kind = block.name();
    let (place, extra): (&str, &[&str]) = match kind {
        "direct" => ("", &["download_retry_count"]),
        "filesystem_mirror" => ("path", &[]),
        "network_mirror" => ("url", &["download_retry_count", "trust_all_hashes"]),
        "oci_mirror" => ("repository_template", &[]),
        _ => {
            reading.error(SUMMARY, block.at, &format!("unknown provider installation method {kind:?}"));
            return None;
        }
    };
    let mut location = None;
    let mut found = Method {
        location: Location::Direct,
        include: Vec::new(),
        exclude: Vec::new(),
        download_retries: None,
        trust_all_hashes: false,
    };
    for item in body {
        match item.name() {
            "include" => found.include = patterns(reading, item),
            "exclude" => found.exclude = patterns(reading, item),
            name if name == place => location = reading.text(item).filter(|text| !text.is_empty()),
            name if !extra.contains(&name) => reading.unknown(item, &format!("a {kind} block")),
            "download_retry_count" => found.download_retries = reading.number(item),
            _ => found.trust_all_hashes = reading.bool(item).unwrap_or(false),
        }
    }
    if location.is_none() && !place.is_empty() {
        reading.error(SUMMARY, block.at, &format!("{kind} needs the argument {place:?}"));
        return None;
    }
    let location = location.unwrap_or_default();
    found.location = match kind {
        "filesystem_mirror" => Location::FilesystemMirror(location.into()),
        "network_mirror" => Location::NetworkMirror(location),
        "oci_mirror" => Location::OciMirror(location),
        _ => Location::Direct,
    };
    Some(found)
}

/// Patterns of provider addresses, brought to three parts.
fn patterns(reading: &mut Reading<'_>, item: &Item) -> Vec<String> {
    let mut found = Vec::new();
    for text in reading.texts(item) {
        let parts: Vec<&str> = text.split('/').collect();
        let wrong = parts.len() > 3 || parts.iter().any(|part| part.is_empty());
        if wrong {
            let problem = format!("{text:?} is no pattern of provider addresses: [host/][namespace/]type");
            reading.error(SUMMARY, item.at, &problem);
        } else {
            found.push(text);
        }
    }
    found
}
