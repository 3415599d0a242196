//! The normal form of module sources: the one that is recorded and compared.

use groma_fetch::address::{AddressError, RemoteSource, clean_path};
use groma_fetch::host::Host;
use groma_fetch::registry::modules::ModuleAddress;
use groma_lang::load::ModuleSource;
use groma_model::address::DEFAULT_HOST;

/// Where a module comes from, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A directory beside the caller.
    Local(String),
    /// A module of a registry, and a directory inside.
    Registry(ModuleAddress, Option<String>),
    /// Anything else.
    Remote(RemoteSource),
}

impl Source {
    /// Reads a source of a kind that is known already.
    pub(super) fn parse(text: &str, kind: &ModuleSource) -> Result<Self, AddressError> {
        match kind {
            ModuleSource::Local(path) => Ok(Self::Local(local(path))),
            ModuleSource::Registry => registry(text).ok_or_else(|| AddressError::MaybeRelativePath(text.to_owned())),
            ModuleSource::Remote => RemoteSource::parse(text).map(Self::Remote),
        }
    }

    /// The normal form.
    pub(super) fn normal(&self) -> String {
        match self {
            Self::Local(path) => path.clone(),
            Self::Registry(module, None) => module.to_string(),
            Self::Registry(module, Some(subdir)) => format!("{module}//{subdir}"),
            Self::Remote(remote) => remote.to_string(),
        }
    }
}

/// The normal form of what was recorded, perhaps by an older program. What cannot be read stays as it is.
pub(super) fn recorded(text: &str) -> String {
    let is_local = text.starts_with("./") || text.starts_with("../");
    let parsed = if text.is_empty() {
        None
    } else if is_local {
        Some(Source::Local(local(text)))
    } else {
        registry(text).or_else(|| RemoteSource::parse(text).ok().map(Source::Remote))
    };
    parsed.map_or_else(|| text.to_owned(), |source| source.normal())
}

/// What kind of source a text is, if it is one at all.
pub(super) fn kind_of(text: &str) -> ModuleSource {
    let is_local = ["./", "../", ".\\", "..\\"].iter().any(|prefix| text.starts_with(prefix));
    if is_local || text == "." || text == ".." {
        ModuleSource::Local(text.replace('\\', "/"))
    } else if registry(text).is_some() {
        ModuleSource::Registry
    } else {
        ModuleSource::Remote
    }
}

fn local(path: &str) -> String {
    let clean = clean_path(&path.replace('\\', "/"));
    if clean.starts_with("../") { clean } else { format!("./{clean}") }
}

/// `[host/]namespace/name/system[//subdir]`
fn registry(text: &str) -> Option<Source> {
    let (package, subdir) = match text.split_once("//") {
        Some((package, subdir)) => (package, Some(clean_path(subdir))),
        None => (text, None),
    };
    let parts: Vec<&str> = package.split('/').collect();
    let (host, namespace, name, system) = match parts[..] {
        [namespace, name, system] => (DEFAULT_HOST, namespace, name, system),
        [host, namespace, name, system] => (host, namespace, name, system),
        _ => return None,
    };
    let word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if ![namespace, name, system].into_iter().all(word) || (parts.len() == 4 && !host.contains('.')) {
        return None;
    }
    let module = ModuleAddress {
        host: Host::parse(host).ok()?,
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        system: system.to_owned(),
    };
    Some(Source::Registry(module, subdir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_a_normal_form() {
        let normal = |text: &str, kind: &ModuleSource| Source::parse(text, kind).unwrap().normal();
        assert_eq!(normal("", &ModuleSource::Local("./a/../b/".into())), "./b");
        assert_eq!(normal("", &ModuleSource::Local("../a".into())), "../a");
        assert_eq!(normal("a/b/c", &ModuleSource::Registry), "registry.opentofu.org/a/b/c");
        assert_eq!(normal("Example.com/a/b/c//x/y/", &ModuleSource::Registry), "example.com/a/b/c//x/y");
        assert_eq!(
            normal("github.com/a/b//c?ref=v1", &ModuleSource::Remote),
            "git::https://github.com/a/b.git//c?ref=v1"
        );
        for text in ["./b", "registry.opentofu.org/a/b/c", "git::https://github.com/a/b.git//c?ref=v1", ""] {
            assert_eq!(recorded(text), text);
        }
        assert_eq!(recorded("a/b/c"), "registry.opentofu.org/a/b/c");
    }
}
