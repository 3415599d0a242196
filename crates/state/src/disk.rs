//! What is asked of a disk, step by step: so that tests can lose power, or space, between any two.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::crash;
use crate::local::replace::{dir_of, sync_dir};

/// A disk. Nothing is safe from a loss of power before it is synced: content by its file, names by their folder.
pub trait Disk: Send + Sync {
    /// What is in a file. None if there is none.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// Makes a file that only its owner can read, in the place of any that is there, and its folder if need be.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Gives a file another name, in the same folder. Whatever had that name loses it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file if it is there.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the folder of a file, for its owner only, unless it is there.
    fn create_private_folder(&self, of: &Path) -> io::Result<()> {
        let _ = of;
        Ok(())
    }

    /// Whether only its owner, who we are, can have written a file.
    fn is_ours_alone(&self, path: &Path) -> io::Result<bool> {
        let _ = path;
        Ok(true)
    }

    /// Makes the names in the folder of a file durable.
    fn sync_names(&self, path: &Path) -> io::Result<()>;
}

/// A file that is written to.
pub trait DiskFile: Send {
    /// Adds to its end. If that fails, a part may be there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes everything durable that was added. If that fails, nothing is known of what was added since the last time.
    fn sync(&mut self) -> io::Result<()>;
}

/// Replaces a file as a whole: whatever happens, either the old content or the new is there, and the new one is durable
/// before this returns. The new file is given back, to be added to.
pub fn replace_whole(disk: &dyn Disk, path: &Path, content: &[u8]) -> io::Result<Box<dyn DiskFile>> {
    let unfinished = unfinished(path);
    let staged = || -> io::Result<_> {
        let mut file = disk.create(&unfinished)?;
        file.append(content)?;
        file.sync()?;
        crash::point("file.written");
        disk.rename(&unfinished, path)?;
        crash::point("file.renamed");
        Ok(file)
    };
    let file = staged().inspect_err(|_| {
        // Litter is not worth another error.
        let _ = disk.remove(&unfinished);
    })?;
    disk.sync_names(path)?;
    Ok(file)
}

/// Removes a file for good.
pub(crate) fn remove_durably(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    disk.remove(path)?;
    disk.sync_names(path)
}

fn unfinished(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".groma-tmp");
    path.with_file_name(name)
}

/// The disk of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let dir = dir_of(path);
        if !dir.is_dir() {
            fs::create_dir_all(dir)?;
            sync_dir(dir)?;
        }
        // Not truncated: whatever is there may be a link that somebody made.
        self.remove(path)?;
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Box::new(options.open(path)?))
    }

    fn create_private_folder(&self, of: &Path) -> io::Result<()> {
        let dir = dir_of(of);
        if dir.is_dir() {
            return Ok(());
        }
        if let Some(parent) = dir.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(dir)?;
        sync_dir(dir)
    }

    #[cfg(unix)]
    fn is_ours_alone(&self, path: &Path) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt as _;

        const OTHERS_MAY_WRITE: u32 = 0o022;
        let us = nix::unistd::geteuid().as_raw();
        for path in [path, dir_of(path)] {
            let found = fs::metadata(path)?;
            // What root has written is believed as well: root need not ask.
            if ![us, 0].contains(&found.uid()) || found.mode() & OTHERS_MAY_WRITE != 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    fn sync_names(&self, path: &Path) -> io::Result<()> {
        match sync_dir(path) {
            // The folder of something that was to be removed need not be there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            synced => synced,
        }
    }
}

impl DiskFile for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_could_have_written_is_not_ours_alone() {
        use std::os::unix::fs::PermissionsExt as _;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ours/deep/file");
        RealDisk.create_private_folder(&path).unwrap();
        let folder = dir.path().join("ours/deep");
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        replace_whole(&RealDisk, &path, b"x").unwrap();
        assert!(RealDisk.is_ours_alone(&path).unwrap());
        for (what, mode) in [(&folder, 0o770), (&path, 0o602)] {
            let before = fs::metadata(what).unwrap().permissions();
            fs::set_permissions(what, fs::Permissions::from_mode(mode)).unwrap();
            assert!(!RealDisk.is_ours_alone(&path).unwrap(), "{}", what.display());
            fs::set_permissions(what, before).unwrap();
        }
        assert!(RealDisk.is_ours_alone(&path).unwrap());
    }

    #[test]
    fn files_are_replaced_and_added_to() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sub/file");
        assert_eq!(RealDisk.read(&path).unwrap(), None);
        remove_durably(&RealDisk, &path).unwrap();
        replace_whole(&RealDisk, &path, b"old").unwrap();
        let mut file = replace_whole(&RealDisk, &path, b"new").unwrap();
        file.append(b"er").unwrap();
        file.sync().unwrap();
        assert_eq!(RealDisk.read(&path).unwrap().unwrap(), b"newer");
        assert_eq!(fs::read_dir(dir.path().join("sub")).unwrap().count(), 1);
        remove_durably(&RealDisk, &path).unwrap();
        assert_eq!(RealDisk.read(&path).unwrap(), None);
        // A folder is in the way: nothing unfinished is left.
        fs::create_dir(&path).unwrap();
        fs::write(path.join("x"), "").unwrap();
        assert!(replace_whole(&RealDisk, &path, b"new").is_err());
        assert_eq!(fs::read_dir(dir.path().join("sub")).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_them() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "for all").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        replace_whole(&RealDisk, &path, b"x").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
