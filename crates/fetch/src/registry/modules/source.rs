//! Module addresses as configurations have them: `[host/]namespace/name/system[//dir]`.

use thiserror::Error;

use super::ModuleAddress;
use crate::address::{clean_path, split_subdir};
use crate::host::Host;

/// Why a text is no address of a module registry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ModuleSourceError(String);

impl ModuleAddress {
    /// Reads an address, and the directory that it selects. Without a host, the given one is meant.
    pub fn parse(text: &str, default_host: &Host) -> Result<(Self, Option<String>), ModuleSourceError> {
        let fail = |words: String| Err(ModuleSourceError(words));
        if ["./", "../", ".\\", "..\\"].iter().any(|prefix| text.starts_with(prefix)) {
            return fail(format!("can't use local directory {text:?} as a module registry address"));
        }
        let (package, subdir) = split_subdir(text);
        let subdir = subdir.map(clean_path);
        if let Some(outside) = subdir.as_ref().filter(|subdir| *subdir == ".." || subdir.starts_with("../")) {
            return fail(format!("subdirectory path {outside:?} leads outside of the module package"));
        }
        let parts: Vec<&str> = package.split('/').collect();
        let (host, parts) = match parts.as_slice() {
            [host, parts @ ..] if parts.len() == 3 => (parse_host(host)?, parts),
            parts if parts.len() == 3 => (default_host.clone(), parts),
            _ => {
                let words =
                    "a module registry source address must have either three or four slash-separated components";
                return fail(words.to_owned());
            }
        };
        if !is_name(parts[0]) && parts[0].contains('.') {
            let words = "source address must have three more components after the hostname: the namespace, the name, \
                         and the target system";
            return fail(words.to_owned());
        }
        for (what, name) in [("namespace", parts[0]), ("module name", parts[1])] {
            if !is_name(name) {
                return fail(format!("invalid {what} {name:?}: {NAME_RULE}"));
            }
        }
        let system = parts[2];
        if !is_system(system) {
            let query = "module registry addresses may not include a query string portion".to_owned();
            let rule = format!("invalid target system {system:?}: must be between one and 64 ASCII letters or digits");
            return fail(if system.contains('?') { query } else { rule });
        }
        let [namespace, name, system] = [parts[0], parts[1], system].map(str::to_owned);
        Ok((Self { host, namespace, name, system }, subdir))
    }
}

const NAME_RULE: &str = "must be between one and 64 characters, including ASCII letters, digits, dashes, and \
                         underscores, where dashes and underscores may not be the prefix or suffix";

fn parse_host(given: &str) -> Result<Host, ModuleSourceError> {
    let fail = |words: String| Err(ModuleSourceError(words));
    let Ok(host) = Host::parse(given) else {
        let hint = "; internationalized domain names must be given as direct unicode characters, not in punycode";
        let hint = if given.contains("--") { hint } else { "" };
        return fail(format!("invalid module registry hostname {given:?}{hint}"));
    };
    if !host.as_str().contains('.') {
        return fail("invalid module registry hostname: must contain at least one dot".to_owned());
    }
    if ["github.com", "bitbucket.org"].contains(&host.as_str()) {
        return fail(format!(
            "can't use \"{host}\" as a module registry host, because it's reserved for installing directly from version \
             control repositories"
        ));
    }
    Ok(host)
}

fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte == b'_';
    bytes.len() <= 64 && bytes.iter().all(inner) && edge(bytes.first()) && edge(bytes.last())
}

fn is_system(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}
