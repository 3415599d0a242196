//! Putting packages in their place: unpacked from an archive, or linked to a directory. A place is filled whole or not
//! at all, and something else that is there already is not replaced by an archive.

use std::fs::File;
use std::path::{Path, PathBuf};

use groma_fetch::archive::{Format, Limits, unpack};
use groma_fetch::staging::Staging;

use super::authentication::{Authentication, AuthenticationResult, Local};
use super::cache::find_executable;
use super::error::PackageError;
use super::hash::{Hash, HashScheme};
use super::package::PackageMeta;

/// A package that is in its place.
#[derive(Debug)]
pub(super) struct Placed {
    /// How it was checked.
    pub(super) authentication: Option<AuthenticationResult>,
    /// The hash over its files.
    pub(super) files_hash: Hash,
}

/// An archive that has arrived.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) file: File,
    /// What it is called in messages.
    pub(super) name: String,
    pub(super) digest: [u8; 32],
    pub(super) size: u64,
}

/// Checks an archive and unpacks it. `allowed` are the locked hashes; none means that anything goes.
pub(super) fn place_archive(
    meta: &PackageMeta,
    arrived: Arrived,
    destination: &Path,
    allowed: &[Hash],
) -> Result<Placed, PackageError> {
    let Arrived { mut file, name, digest, size } = arrived;
    let authenticate = |file: &File| {
        let local = Local::Archive { file, name: name.clone(), digest, size };
        meta.authentication.check(meta, &local)
    };
    // A digest is checked before anything is unpacked. Hashes over the files are not: computing one unpacks as well, but
    // without the limits that a bomb runs into.
    let by_digest = matches!(meta.authentication, Authentication::Registry(_));
    let early = if by_digest { Some(authenticate(&file)?) } else { None };
    let staging = Staging::beside(destination).map_err(io_error("cannot make a directory beside", destination))?;
    let unpacked = staging.path().join("package");
    unpack(&mut file, Format::Zip, &unpacked, &Limits::PROVIDER)
        .map_err(|error| unpack_error(&name, error.to_string()))?;
    let authentication = match early {
        Some(result) => result,
        None => authenticate(&file)?,
    };
    let local = Local::Archive { file: &file, name: name.clone(), digest, size };
    if !allowed.is_empty() && !local.has_any(allowed).map_err(|reason| unpack_error(&name, reason))? {
        return Err(not_locked(meta, false));
    }
    // The directory has another name by the time anybody reads this.
    let program = find_executable(&unpacked, &meta.provider.ty).map_err(|error| match error {
        PackageError::NoExecutable { ty, .. } => PackageError::NoExecutable { ty, directory: PathBuf::from(&name) },
        other => other,
    })?;
    make_executable(&program)?;
    let files_hash = hash_directory(&unpacked)?;
    publish(staging, &unpacked, destination, &files_hash)?;
    Ok(Placed { authentication, files_hash })
}

/// Moves a directory to its place, unless the same is there already.
fn publish(staging: Staging, unpacked: &Path, destination: &Path, hash: &Hash) -> Result<(), PackageError> {
    if let Ok(kind) = std::fs::symlink_metadata(destination) {
        if kind.is_symlink() && !destination.exists() {
            // A link to a cache that is gone.
            std::fs::remove_file(destination).map_err(io_error("cannot remove", destination))?;
        } else if !is_empty_directory(destination) {
            return if hash_directory(destination)? == *hash {
                Ok(())
            } else {
                Err(PackageError::Occupied(destination.to_owned()))
            };
        }
    }
    staging.publish_child(unpacked).map_err(io_error("cannot move the package to", destination))
}

/// Checks a directory and links to it, or copies it where there are no links.
pub(super) fn place_directory(
    meta: &PackageMeta,
    source: &Path,
    destination: &Path,
    allowed: &[Hash],
) -> Result<Placed, PackageError> {
    let source = source.canonicalize().map_err(io_error("cannot find", source))?;
    let local = Local::Directory(&source);
    let authentication = meta.authentication.check(meta, &local)?;
    let files_hash = hash_directory(&source)?;
    // A hash of an archive says nothing about a directory. Whoever has put it here is trusted that far.
    let mut relevant = allowed.iter().filter(|hash| hash.scheme() == HashScheme::Files).peekable();
    if relevant.peek().is_some() && !relevant.any(|hash| *hash == files_hash) {
        return Err(not_locked(meta, true));
    }
    find_executable(&source, &meta.provider.ty)?;
    link(&source, destination)?;
    Ok(Placed { authentication, files_hash })
}

/// Makes a place lead to a directory, whatever was there.
pub(super) fn link(source: &Path, destination: &Path) -> Result<(), PackageError> {
    let source = std::path::absolute(source).map_err(io_error("cannot find", source))?;
    if destination.canonicalize().is_ok_and(|current| source.canonicalize().is_ok_and(|new| new == current)) {
        return Ok(());
    }
    let staging = Staging::beside(destination).map_err(io_error("cannot make a directory beside", destination))?;
    let fresh = staging.path().join("new");
    if let Err(error) = symlink(&source, &fresh) {
        tracing::warn!(%error, source = %source.display(), "cannot link to a package: copying it");
        copy_directory(&source, &fresh, 0)?;
    }
    if std::fs::symlink_metadata(destination).is_ok_and(|kind| kind.is_dir()) {
        std::fs::rename(destination, staging.path().join("old")).map_err(io_error("cannot replace", destination))?;
    }
    // A link is replaced by this in one step; so is nothing.
    std::fs::rename(&fresh, destination).map_err(io_error("cannot move the package to", destination))
}

#[cfg(unix)]
fn symlink(source: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(source, link)
}

#[cfg(windows)]
fn symlink(source: &Path, link: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_dir(source, link)
}

#[cfg(not(any(unix, windows)))]
fn symlink(_source: &Path, _link: &Path) -> std::io::Result<()> {
    Err(std::io::Error::from(std::io::ErrorKind::Unsupported))
}

fn copy_directory(source: &Path, destination: &Path, depth: usize) -> Result<(), PackageError> {
    const MAX_DEPTH: usize = 64;
    if depth > MAX_DEPTH {
        return Err(io_error("cannot copy", source)(std::io::Error::other("it is nested too deeply")));
    }
    std::fs::create_dir(destination).map_err(io_error("cannot create", destination))?;
    for entry in std::fs::read_dir(source).map_err(io_error("cannot read", source))? {
        let entry = entry.map_err(io_error("cannot read", source))?;
        let (from, to) = (entry.path(), destination.join(entry.file_name()));
        if from.is_dir() {
            copy_directory(&from, &to, depth + 1)?;
        } else {
            std::fs::copy(&from, &to).map_err(io_error("cannot copy", &from))?;
        }
    }
    Ok(())
}

/// Archives from systems that know no permissions have programs that cannot be run.
#[cfg(unix)]
fn make_executable(program: &Path) -> Result<(), PackageError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(program).map_err(io_error("cannot read", program))?.permissions().mode();
    if mode & 0o111 == 0 {
        let permissions = std::fs::Permissions::from_mode(mode | 0o755);
        std::fs::set_permissions(program, permissions).map_err(io_error("cannot make executable", program))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_executable(_program: &Path) -> Result<(), PackageError> {
    Ok(())
}

fn is_empty_directory(path: &Path) -> bool {
    !path.is_symlink() && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn hash_directory(path: &Path) -> Result<Hash, PackageError> {
    Local::Directory(path).files_hash().map_err(|reason| PackageError::Io {
        action: "cannot compute the checksum of",
        path: path.to_owned(),
        reason,
    })
}

fn not_locked(meta: &PackageMeta, local: bool) -> PackageError {
    PackageError::NotLocked { provider: meta.provider.clone(), version: meta.version.clone(), local }
}

fn unpack_error(archive: &str, reason: String) -> PackageError {
    PackageError::Unpack { archive: archive.to_owned(), reason }
}

/// An error of the file system, with what was tried.
pub(super) fn io_error(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> PackageError {
    let path = path.to_owned();
    move |error| PackageError::Io { action, path, reason: error.to_string() }
}
