//! What the language may ask of the outside: files, time, randomness. Implemented by `groma-run`; a fake one serves tests.

use std::io;
use std::path::{Path, PathBuf};

/// The outside as functions see it.
pub trait Environment: Send + Sync {
    /// The bytes of a file. Relative paths are relative to [`Environment::working_dir`].
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// What is at a path, following links. `None` if there is nothing.
    fn file_kind(&self, path: &Path) -> io::Result<Option<FileKind>>;

    /// Names in a directory with their kinds (links followed), in any order.
    fn read_dir(&self, path: &Path) -> io::Result<Vec<(String, FileKind)>>;

    /// The directory that relative paths start from, absolute.
    fn working_dir(&self) -> PathBuf;

    /// The directory that the user was in, before `-chdir`. Absolute; what `path.cwd` gives.
    fn invocation_dir(&self) -> PathBuf {
        self.working_dir()
    }

    /// The user's home, for `~`.
    fn home_dir(&self) -> Option<PathBuf>;

    /// Seconds and nanoseconds since 1970, UTC.
    fn now(&self) -> (i64, u32);

    /// Fills a buffer with random bytes.
    fn random(&self, buffer: &mut [u8]);

    /// How deep `templatefile` may call itself.
    fn template_recursion_limit(&self) -> usize {
        1024
    }

    /// How large the stack is that the language is evaluated on. Decides how deep evaluation may go.
    fn stack_bytes(&self) -> usize {
        2 << 20
    }
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A device, socket, pipe.
    Other,
}
