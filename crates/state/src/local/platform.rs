//! What operating systems do differently: locking a file, and telling whether two names are one file.
//!
//! OpenTofu and Terraform lock with POSIX record locks. Linux has a kind that excludes those but belongs to the open
//! file instead of the process: it does not vanish when some other part of the program closes the same file.

use std::fs::{File, Metadata};
use std::io;

/// What came of trying to lock.
pub(super) enum TryLock {
    /// It is ours until the file is closed.
    Locked,
    /// Somebody else has it; the process, if the system says.
    Busy(Option<u32>),
}

#[cfg(unix)]
mod imp {
    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;

    use super::{File, Metadata, TryLock, io};

    fn whole_file(kind: libc::c_int) -> libc::flock {
        libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: 0,
            l_len: 0,
            l_pid: 0,
        }
    }

    fn set_lock(file: &File, wanted: &libc::flock) -> Result<(), Errno> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let request = FcntlArg::F_OFD_SETLK(wanted);
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let request = FcntlArg::F_SETLK(wanted);
        fcntl(file, request).map(drop)
    }

    pub(in crate::local) fn try_lock(file: &File) -> io::Result<TryLock> {
        match set_lock(file, &whole_file(libc::F_WRLCK)) {
            Ok(()) => Ok(TryLock::Locked),
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(TryLock::Busy(holder(file))),
            Err(error) => Err(error.into()),
        }
    }

    pub(in crate::local) fn unlock(file: &File) {
        // What could not be unlocked is unlocked when it is closed.
        let _ = set_lock(file, &whole_file(libc::F_UNLCK));
    }

    /// The process that has the lock. Locks that belong to an open file have none.
    fn holder(file: &File) -> Option<u32> {
        let mut found = whole_file(libc::F_WRLCK);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let request = FcntlArg::F_OFD_GETLK(&mut found);
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let request = FcntlArg::F_GETLK(&mut found);
        fcntl(file, request).ok()?;
        u32::try_from(found.l_pid).ok().filter(|process| *process > 0)
    }

    /// Everything that changes when a file does: device, inode, length, times of content and of anything.
    pub(in crate::local) fn fingerprint(data: &Metadata) -> [i128; 7] {
        use std::os::unix::fs::MetadataExt as _;
        [
            data.dev().into(),
            data.ino().into(),
            data.size().into(),
            data.mtime().into(),
            data.mtime_nsec().into(),
            data.ctime().into(),
            data.ctime_nsec().into(),
        ]
    }

    pub(in crate::local) fn same_file(a: &Metadata, b: &Metadata) -> bool {
        fingerprint(a)[..2] == fingerprint(b)[..2]
    }

    /// Whether no name leads to the file any more.
    pub(in crate::local) fn is_nameless(data: &Metadata) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        data.nlink() == 0
    }

    /// Gives a new file the owner of the one that it replaces, where that is allowed, and what that one lets its owner do. What is in a
    /// state is nobody else's business, whoever made the file.
    pub(in crate::local) fn take_after(new: &File, old: &Metadata) -> io::Result<()> {
        use std::fs::Permissions;
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
        // Only root may give files away; for everybody else the file is theirs already or stays theirs.
        let _ = fchown(new, Some(old.uid()), Some(old.gid()));
        new.set_permissions(Permissions::from_mode(old.mode() & 0o700))
    }
}

#[cfg(not(unix))]
mod imp {
    use super::{File, Metadata, TryLock, io};

    pub(in crate::local) fn try_lock(file: &File) -> io::Result<TryLock> {
        match file.try_lock() {
            Ok(()) => Ok(TryLock::Locked),
            Err(std::fs::TryLockError::WouldBlock) => Ok(TryLock::Busy(None)),
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }

    pub(in crate::local) fn unlock(file: &File) {
        let _ = file.unlock();
    }

    pub(in crate::local) fn fingerprint(data: &Metadata) -> [i128; 7] {
        let since = data.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let nanos = since.and_then(|since| i128::try_from(since.as_nanos()).ok()).unwrap_or_default();
        [data.len().into(), nanos, 0, 0, 0, 0, 0]
    }

    pub(in crate::local) fn same_file(_: &Metadata, _: &Metadata) -> bool {
        true
    }

    pub(in crate::local) fn is_nameless(_: &Metadata) -> bool {
        false
    }

    pub(in crate::local) fn take_after(_: &File, _: &Metadata) -> io::Result<()> {
        Ok(())
    }
}

pub(super) use imp::{fingerprint, is_nameless, same_file, take_after, try_lock, unlock};
