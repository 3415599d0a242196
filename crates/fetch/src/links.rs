//! Links in directories that somebody else filled: they must stay inside.

use std::io;
use std::path::{Component, Path};

/// Directories inside directories; nothing real is deeper.
const MAX_DEPTH: usize = 256;

/// Why a directory is not accepted.
#[derive(Debug)]
pub(crate) enum LinkError {
    /// A link leads outside.
    Outside { name: String, target: String },
    /// Something cannot be read.
    Io { path: String, source: io::Error },
}

/// Refuses links that lead outside. Directories of the given name are not looked into.
pub(crate) fn check(root: &Path, except: &str) -> Result<(), LinkError> {
    let real_root = root.canonicalize().map_err(io_error(root))?;
    let mut pending = vec![(root.to_owned(), 0)];
    while let Some((directory, depth)) = pending.pop() {
        if depth > MAX_DEPTH {
            return Err(io_error(&directory)(io::Error::other("the directories are too deep")));
        }
        for entry in std::fs::read_dir(&directory).map_err(io_error(&directory))? {
            let entry = entry.map_err(io_error(&directory))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(io_error(&path))?;
            if kind.is_symlink() {
                check_link(root, &real_root, &path)?;
            } else if kind.is_dir() && entry.file_name() != except {
                pending.push((path, depth + 1));
            }
        }
    }
    Ok(())
}

fn check_link(root: &Path, real_root: &Path, link: &Path) -> Result<(), LinkError> {
    let target = std::fs::read_link(link).map_err(io_error(link))?;
    let name = link.strip_prefix(root).unwrap_or(link);
    let stays = match link.canonicalize() {
        _ if target.is_absolute() => false,
        Ok(real) => real.starts_with(real_root),
        Err(_) => would_stay(name, &target),
    };
    if stays {
        return Ok(());
    }
    Err(LinkError::Outside { name: name.display().to_string(), target: target.display().to_string() })
}

/// Whether a link that leads nowhere yet could only ever lead inside. Going up behind a name is not accepted: it would
/// depend on where that name leads.
fn would_stay(name: &Path, target: &Path) -> bool {
    let depth = name.components().count().saturating_sub(1);
    let is_up = |part: &Component<'_>| *part == Component::ParentDir;
    let ups = target.components().take_while(is_up).count();
    ups <= depth && !target.components().skip(ups).any(|part| is_up(&part))
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> LinkError + use<> {
    let path = path.display().to_string();
    move |source| LinkError::Io { path, source }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn judged(name: &str, target: &str) -> bool {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("tree/a/b")).unwrap();
        std::fs::create_dir_all(root.path().join("outside")).unwrap();
        std::fs::write(root.path().join("tree/file"), "").unwrap();
        symlink("../..", root.path().join("tree/a/b/up")).unwrap();
        symlink(target, root.path().join("tree").join(name)).unwrap();
        check(&root.path().join("tree"), ".git").is_ok()
    }

    #[test]
    fn links_inside_are_fine() {
        for (name, target) in [
            ("l", "file"),
            ("l", "a/b"),
            ("a/l", "../file"),
            ("a/b/l", "../../file"),
            ("l", "missing"),
            ("l", "."),
            ("l", "l"),
        ] {
            assert!(judged(name, target), "{name} -> {target}");
        }
    }

    #[test]
    fn links_outside_are_refused() {
        for (name, target) in [
            ("l", ".."),
            ("l", "../outside"),
            ("l", "../missing"),
            ("l", "/etc"),
            ("l", "/nonexistent"),
            ("a/l", "../../outside"),
            ("a/b/l", "../../../missing"),
            ("a/b/l", "up/../outside"),
            ("a/b/l", "up/../missing"),
        ] {
            assert!(!judged(name, target), "{name} -> {target}");
        }
    }
}
