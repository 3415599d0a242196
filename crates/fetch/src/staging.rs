//! Directories that appear whole or not at all: filled beside their place under another name, then renamed.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A directory that is being filled. Dropped without having been published, it is removed.
#[derive(Debug)]
pub struct Staging {
    directory: TempDir,
    destination: PathBuf,
}

impl Staging {
    /// Starts a directory that will be at `destination`. Missing parents are made.
    pub fn beside(destination: &Path) -> io::Result<Self> {
        let parent = match destination.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(parent)?;
        let directory = tempfile::Builder::new().prefix(".groma-staging-").tempdir_in(parent)?;
        Ok(Self { directory, destination: destination.to_owned() })
    }

    /// Where to put things.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Puts the whole directory in its place, which must be free or an empty directory.
    pub fn publish(self) -> io::Result<()> {
        let path = self.directory.path().to_owned();
        self.publish_child(&path)
    }

    /// Puts one directory from inside in its place, and drops the rest.
    pub fn publish_child(self, child: &Path) -> io::Result<()> {
        readable_for_all(child)?;
        // Unix replaces an empty directory by itself; elsewhere it has to go first.
        if cfg!(not(unix)) {
            let _ = std::fs::remove_dir(&self.destination);
        }
        std::fs::rename(child, &self.destination)?;
        if child == self.directory.path() {
            // It is somewhere else now: there is nothing to remove.
            let _ = self.directory.keep();
        }
        Ok(())
    }
}

/// Temporary directories are private; what they become is not.
#[cfg(unix)]
fn readable_for_all(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn readable_for_all(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_appears_whole_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let destination = root.path().join("a/b");
        let names = || std::fs::read_dir(root.path().join("a")).unwrap().count();

        let abandoned = Staging::beside(&destination).unwrap();
        std::fs::write(abandoned.path().join("x"), "x").unwrap();
        assert!(!destination.exists());
        drop(abandoned);
        assert_eq!(names(), 0);

        let published = Staging::beside(&destination).unwrap();
        std::fs::write(published.path().join("x"), "x").unwrap();
        published.publish().unwrap();
        assert_eq!(std::fs::read_to_string(destination.join("x")).unwrap(), "x");
        assert_eq!(names(), 1);

        let late = Staging::beside(&destination).unwrap();
        assert!(late.publish().is_err(), "what is there is not replaced");
        assert_eq!(names(), 1);
    }

    #[test]
    fn an_empty_directory_may_wait_at_the_place() {
        let root = tempfile::tempdir().unwrap();
        let staging = Staging::beside(&root.path().join("d")).unwrap();
        std::fs::create_dir(root.path().join("d")).unwrap();
        std::fs::create_dir(staging.path().join("inner")).unwrap();
        std::fs::write(staging.path().join("inner/x"), "x").unwrap();
        let inner = staging.path().join("inner");
        staging.publish_child(&inner).unwrap();
        assert!(root.path().join("d/x").is_file());
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1);
    }
}
