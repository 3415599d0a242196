//! Archives of all kinds, most of them hostile: nothing may be written outside, and nothing may stay after an error.

mod bombs;
mod build;
mod good;
mod hostile;
mod mutated;

use std::io::Write;
use std::path::Path;

use super::*;

/// A place with something to protect beside the destination.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("outside")).unwrap();
        std::fs::write(root.path().join("outside/secret"), "secret").unwrap();
        Self { root }
    }

    fn unpack(&self, bytes: &[u8], format: Format, limits: &Limits) -> Result<Unpacked, ArchiveError> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let result = unpack(&mut file, format, &self.destination(), limits);
        self.check_outside();
        if result.is_err() {
            assert!(!self.destination().exists(), "something half unpacked is left");
        }
        result
    }

    fn destination(&self) -> std::path::PathBuf {
        self.root.path().join("destination")
    }

    /// Nothing beside the destination has changed or appeared.
    fn check_outside(&self) {
        assert_eq!(std::fs::read_to_string(self.root.path().join("outside/secret")).unwrap(), "secret");
        assert_eq!(names(&self.root.path().join("outside")), ["secret"]);
        let mut here = names(self.root.path());
        here.retain(|name| name != "destination");
        assert_eq!(here, ["outside"]);
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
