//! What an address in normal form says to fetch.

use url::Url;

use super::AddressError;
use super::detect::forced_getter;
use super::go_url::{encode_query, parse_query, unescape};
use crate::archive::Format;
use crate::redact;

/// Something that can be fetched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Package {
    /// A git repository.
    Git(GitSource),
    /// An archive, or a page that says where the package is.
    Http(HttpSource),
    /// A directory or an archive of this machine.
    File(FileSource),
}

/// A git repository.
#[derive(Clone, PartialEq, Eq)]
pub struct GitSource {
    /// Its address, without our parameters.
    pub url: String,
    /// A branch, a tag or a commit; otherwise the default branch.
    pub reference: Option<String>,
    /// How much history to fetch; everything if not given.
    pub depth: Option<u32>,
    /// A private key in base64.
    pub ssh_key: Option<String>,
}

/// An archive, or a page that says where the package is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpSource {
    /// Its address, without our parameters.
    pub url: Url,
    /// Whether it is an archive.
    pub archive: ArchiveChoice,
    /// What its bytes must hash to.
    pub checksum: Option<Checksum>,
}

/// A directory or an archive of this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileSource {
    /// Where it is, absolute.
    pub path: std::path::PathBuf,
    /// Whether it is an archive.
    pub archive: ArchiveChoice,
    /// What its bytes must hash to.
    pub checksum: Option<Checksum>,
}

/// Whether something is an archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArchiveChoice {
    /// It is, by its name or by the `archive` parameter.
    Unpack(Format),
    /// It is not.
    No,
}

/// What bytes must hash to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checksum {
    /// By which function.
    pub kind: HashKind,
    /// The digest.
    pub digest: Vec<u8>,
}

/// Functions for checksums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum HashKind {
    Md5,
    Sha1,
    Sha256,
    Sha512,
}

impl std::fmt::Debug for GitSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GitSource")
            .field("url", &redact::text(&self.url))
            .field("reference", &self.reference)
            .field("depth", &self.depth)
            .field("ssh_key", &self.ssh_key.as_ref().map(|_| "redacted"))
            .finish()
    }
}

/// What to fetch for an address in normal form.
pub(super) fn package(address: &str) -> Result<Package, AddressError> {
    let (forced, text) = forced_getter(address);
    let scheme = super::go_url::scheme(text).unwrap_or_default();
    match forced.unwrap_or(&scheme) {
        "git" => git(text).map(Package::Git),
        "http" | "https" => http(text).map(Package::Http),
        "file" => file(text).map(Package::File),
        "hg" => Err(AddressError::NotSupported {
            what: "Mercurial",
            hint: "move the module to a git repository (git::https://…) or publish it as an archive (https://….zip)",
        }),
        "s3" => Err(AddressError::NotSupported {
            what: "S3",
            hint: "use the https:// address of the object (a presigned URL, if it is private), or git",
        }),
        "gcs" => Err(AddressError::NotSupported {
            what: "Google Cloud Storage",
            hint: "use the https:// address of the object (a signed URL, if it is private), or git",
        }),
        "oci" => Err(AddressError::NotSupported {
            what: "OCI registry",
            hint: "publish the module as an archive (https://….zip), in a module registry, or in a git repository",
        }),
        other => Err(AddressError::UnknownScheme(other.to_owned())),
    }
}

/// The address before the parameters, and the parameters.
fn split_query(text: &str) -> (&str, Vec<(String, String)>) {
    let (base, query) = text.split_once('?').unwrap_or((text, ""));
    (base, parse_query(query, false).unwrap_or_default())
}

/// Takes a parameter out. If it is there more than once, the first counts.
fn take(pairs: &mut Vec<(String, String)>, name: &str) -> Option<String> {
    let value = pairs.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
    pairs.retain(|(other, _)| other != name);
    value.filter(|value| !value.is_empty())
}

fn with_query(base: &str, pairs: Vec<(String, String)>) -> String {
    if pairs.is_empty() { base.to_owned() } else { format!("{base}?{}", encode_query(pairs)) }
}

fn git(text: &str) -> Result<GitSource, AddressError> {
    let (base, mut pairs) = split_query(text);
    let reference = take(&mut pairs, "ref");
    let ssh_key = take(&mut pairs, "sshkey");
    // What is no number means everything, as ever.
    let depth = take(&mut pairs, "depth").and_then(|depth| depth.parse().ok()).filter(|depth| *depth > 0);
    check_git_port(base)?;
    Ok(GitSource { url: with_query(base, pairs), reference, depth, ssh_key })
}

/// `ssh://git@host:owner/repo` is a common mixture of two forms, in which git would take the owner for a port.
fn check_git_port(base: &str) -> Result<(), AddressError> {
    let authority = base.split_once("://").map_or("", |(_, rest)| rest.split('/').next().unwrap_or_default());
    let host = authority.rsplit('@').next().unwrap_or_default();
    let port = if host.starts_with('[') { host.split_once("]:") } else { host.split_once(':') };
    match port {
        Some((_, port)) if !port.is_empty() && port.parse::<u16>().is_err() => Err(AddressError::Malformed(format!(
            "invalid port number {port:?}; if using the \"scp-like\" git address scheme where a colon introduces the \
             path instead, remove the ssh:// portion and use just the git:: prefix"
        ))),
        _ => Ok(()),
    }
}

fn http(text: &str) -> Result<HttpSource, AddressError> {
    let bad = |reason: &str| AddressError::Malformed(format!("invalid URL {:?}: {reason}", redact::text(text)));
    let (base, mut pairs) = split_query(text);
    let parsed = Url::parse(base).map_err(|error| bad(&error.to_string()))?;
    if !["http", "https"].contains(&parsed.scheme()) {
        return Err(AddressError::UnknownScheme(parsed.scheme().to_owned()));
    }
    let archive = archive_choice(&mut pairs, parsed.path())?;
    let checksum = checksum(&mut pairs)?;
    let url = Url::parse(&with_query(base, pairs)).map_err(|error| bad(&error.to_string()))?;
    Ok(HttpSource { url, archive, checksum })
}

fn file(text: &str) -> Result<FileSource, AddressError> {
    let (base, mut pairs) = split_query(text);
    let path = base.strip_prefix("file://").and_then(|path| unescape(path, false));
    let Some(path) = path.filter(|path| path.starts_with('/') && !path.contains('\0')) else {
        return Err(AddressError::Malformed(format!("{text:?} is not an absolute path of this machine")));
    };
    let archive = archive_choice(&mut pairs, &path)?;
    let checksum = checksum(&mut pairs)?;
    Ok(FileSource { path: path.into(), archive, checksum })
}

/// The `archive` parameter says it; without one, the end of the name does.
fn archive_choice(pairs: &mut Vec<(String, String)>, path: &str) -> Result<ArchiveChoice, AddressError> {
    let Some(given) = take(pairs, "archive") else {
        return Ok(Format::of_name(path).map_or(ArchiveChoice::No, ArchiveChoice::Unpack));
    };
    let is_no = ["0", "f", "F", "false", "FALSE", "False", "-"].contains(&given.as_str());
    match Format::of_extension(&given) {
        _ if is_no => Ok(ArchiveChoice::No),
        Some(format) => Ok(ArchiveChoice::Unpack(format)),
        None => Err(AddressError::Malformed(format!(
            "unknown archive format {given:?}; known are zip, tar, tar.gz, tgz, tar.bz2, tbz2, tar.xz and txz"
        ))),
    }
}

fn checksum(pairs: &mut Vec<(String, String)>) -> Result<Option<Checksum>, AddressError> {
    let Some(given) = take(pairs, "checksum") else { return Ok(None) };
    let bad = |reason: &str| AddressError::Malformed(format!("invalid checksum: {reason}"));
    let (kind, digits) = match given.split_once(':') {
        Some((kind, digits)) => (Some(kind.to_ascii_lowercase()), digits),
        None => (None, given.as_str()),
    };
    if kind.as_deref() == Some("file") {
        return Err(AddressError::NotSupported {
            what: "checksum=file:",
            hint: "write the checksum itself, such as checksum=sha256:<hex>",
        });
    }
    let digest = hex::decode(digits).map_err(|error| bad(&error.to_string()))?;
    let by_length = match digest.len() {
        16 => Some(HashKind::Md5),
        20 => Some(HashKind::Sha1),
        32 => Some(HashKind::Sha256),
        64 => Some(HashKind::Sha512),
        _ => None,
    };
    let by_name = match kind.as_deref() {
        None => by_length,
        Some("md5") => Some(HashKind::Md5),
        Some("sha1") => Some(HashKind::Sha1),
        Some("sha256") => Some(HashKind::Sha256),
        Some("sha512") => Some(HashKind::Sha512),
        Some(other) => return Err(bad(&format!("unsupported checksum type: {other}"))),
    };
    match by_name.filter(|kind| by_length == Some(*kind)) {
        Some(kind) => Ok(Some(Checksum { kind, digest })),
        None => Err(bad(&format!("{} bytes are the wrong length", digest.len()))),
    }
}
