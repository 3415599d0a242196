//! Module sources: which are directories beside the caller, and which text cannot be a source at all.

/// Where a module comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A directory relative to the calling module.
    Local(String),
    /// A module of a registry.
    Registry,
    /// Anything else that can be fetched.
    Remote,
}

/// Why a text is no source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BadSource {
    /// Probably a path without `./`.
    MaybeRelativePath,
    /// A registry address is needed and this is none.
    NotRegistry(String),
    /// Something else.
    Other(String),
}

/// Reads a source. With a version, only a registry can be meant.
pub(super) fn parse(text: &str, has_version: bool) -> Result<Source, BadSource> {
    let is_local = ["./", "../", ".\\", "..\\"].iter().any(|prefix| text.starts_with(prefix));
    if has_version {
        if is_local {
            return Err(BadSource::NotRegistry(format!(
                "can't use local directory {text:?} as a module registry address"
            )));
        }
        return if is_registry(text) {
            Ok(Source::Registry)
        } else {
            Err(BadSource::NotRegistry(
                "a module registry source address must have either three or four slash-separated components".to_owned(),
            ))
        };
    }
    if is_local {
        return Ok(Source::Local(text.replace('\\', "/")));
    }
    if is_registry(text) {
        return Ok(Source::Registry);
    }
    remote(text)
}

/// `[host/]namespace/name/system[//subdir]`
fn is_registry(text: &str) -> bool {
    let package = text.split_once("//").map_or(text, |(package, _)| package);
    let parts: Vec<&str> = package.split('/').collect();
    let (host, rest) = match parts.as_slice() {
        [host, rest @ ..] if rest.len() == 3 => (Some(*host), rest),
        rest if rest.len() == 3 => (None, rest),
        _ => return false,
    };
    let name = |part: &str| {
        let inner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        part.len() <= 64 && part.chars().all(inner) && edge(part.chars().next()) && edge(part.chars().last())
    };
    let system = |part: &str| {
        !part.is_empty() && part.len() <= 64 && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    host.is_none_or(is_host) && name(rest[0]) && name(rest[1]) && system(rest[2])
}

/// The name of a registry's host. Two well-known hosts are for fetching from repositories.
fn is_host(host: &str) -> bool {
    let (name, port) = host.split_once(':').unwrap_or((host, "443"));
    let label = |part: &str| {
        let inner = |c: char| c.is_alphanumeric() || c == '-';
        !part.is_empty() && part.chars().all(inner) && !part.starts_with('-') && !part.ends_with('-')
    };
    let reserved = name == "github.com" || name == "bitbucket.org";
    name.contains('.') && name.split('.').all(label) && port.parse::<u16>().is_ok() && !reserved
}

fn remote(text: &str) -> Result<Source, BadSource> {
    if text.is_empty() {
        return Err(BadSource::Other("a module source must not be empty".to_owned()));
    }
    // The slashes of `https://` are not those before a directory.
    let behind_scheme = text.split_once("://").map_or(text, |(_, behind)| behind);
    let subdir = behind_scheme.split_once("//").map(|(_, subdir)| subdir);
    if let Some(subdir) = subdir.filter(|subdir| subdir.starts_with("../")) {
        return Err(BadSource::Other(format!("subdirectory path {subdir:?} leads outside of the module package")));
    }
    let known_prefix = ["github.com/", "bitbucket.org/", "gitlab.com/", "git@", "/", "~"];
    let is_fetchable = text.contains("::")
        || text.contains("://")
        || known_prefix.iter().any(|prefix| text.starts_with(prefix))
        || text.contains("amazonaws.com/")
        || text.contains("googleapis.com/");
    if is_fetchable { Ok(Source::Remote) } else { Err(BadSource::MaybeRelativePath) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_sources_are_told_apart() {
        assert_eq!(parse("./a", false), Ok(Source::Local("./a".to_owned())));
        assert_eq!(parse("..\\a", false), Ok(Source::Local("../a".to_owned())));
        assert_eq!(parse("hashicorp/consul/aws", false), Ok(Source::Registry));
        assert_eq!(parse("example.com/ns/name/system//sub", true), Ok(Source::Registry));
        assert_eq!(parse("git::https://example.com/x.git?ref=v1", false), Ok(Source::Remote));
        assert_eq!(parse("github.com/a/b", false), Ok(Source::Remote));
        assert!(matches!(parse("---.com/HashiCorp/Consul/aws", true), Err(BadSource::NotRegistry(_))));
        assert_eq!(parse("child", false), Err(BadSource::MaybeRelativePath));
        assert!(matches!(parse("./a", true), Err(BadSource::NotRegistry(_))));
        assert!(matches!(parse("git::https://x//../y", false), Err(BadSource::Other(_))));
    }
}
