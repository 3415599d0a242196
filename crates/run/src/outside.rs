//! The real outside: files, clock and randomness as the language asks for them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use groma_kit::confines::Confines;
use groma_lang::environment::{Environment, FileKind};

/// The machine that we run on.
#[derive(Debug, Clone)]
pub struct Machine {
    working_dir: PathBuf,
    invocation_dir: PathBuf,
    home_dir: Option<PathBuf>,
    template_recursion_limit: usize,
    stack_bytes: usize,
    /// Where files may be read; None for everywhere.
    confines: Option<Confines>,
}

impl Machine {
    /// `working_dir` is absolute; relative paths start there.
    pub fn new(working_dir: PathBuf, home_dir: Option<PathBuf>) -> Self {
        let invocation_dir = working_dir.clone();
        let (template_recursion_limit, stack_bytes) = (1024, 2 << 20);
        Self { working_dir, invocation_dir, home_dir, template_recursion_limit, stack_bytes, confines: None }
    }

    /// Reads nothing elsewhere.
    pub fn bound_to(mut self, confines: Confines) -> Self {
        self.confines = Some(confines);
        self
    }

    /// The user was somewhere else before `-chdir`.
    pub fn invoked_in(mut self, dir: PathBuf) -> Self {
        self.invocation_dir = dir;
        self
    }

    /// How deep `templatefile` may call itself.
    pub fn with_template_recursion_limit(mut self, limit: usize) -> Self {
        self.template_recursion_limit = limit;
        self
    }

    /// How large the stack of the calling thread is, if it is larger than usual.
    pub fn with_stack_bytes(mut self, bytes: usize) -> Self {
        self.stack_bytes = bytes;
        self
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let path = self.working_dir.join(path);
        self.confines.as_ref().map_or(Ok(path.clone()), |confines| confines.read(&path))
    }
}

fn kind_of(metadata: &fs::Metadata) -> FileKind {
    if metadata.is_file() {
        FileKind::File
    } else if metadata.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Other
    }
}

impl Environment for Machine {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(self.resolve(path)?)
    }

    fn file_kind(&self, path: &Path) -> io::Result<Option<FileKind>> {
        match self.resolve(path).and_then(fs::metadata) {
            Ok(metadata) => Ok(Some(kind_of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<(String, FileKind)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.resolve(path)?)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            // A link that leads nowhere is neither a file nor a directory.
            let kind = self
                .resolve(&entry.path())
                .and_then(fs::metadata)
                .map_or(FileKind::Other, |metadata| kind_of(&metadata));
            found.push((name, kind));
        }
        Ok(found)
    }

    fn working_dir(&self) -> PathBuf {
        self.working_dir.clone()
    }

    fn invocation_dir(&self) -> PathBuf {
        self.invocation_dir.clone()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        self.home_dir.clone()
    }

    fn now(&self) -> (i64, u32) {
        #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock for the language")]
        let now = SystemTime::now();
        now.duration_since(UNIX_EPOCH).map_or((0, 0), |since| (since.as_secs() as i64, since.subsec_nanos()))
    }

    fn random(&self, buffer: &mut [u8]) {
        // The system's generator does not fail on any platform that we support once it is seeded.
        if getrandom::fill(buffer).is_err() {
            buffer.fill(0);
        }
    }

    fn template_recursion_limit(&self) -> usize {
        self.template_recursion_limit
    }

    fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }
}
