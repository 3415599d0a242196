//! The objects that there are: a file that processes share, and change one after the other.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Everything that exists.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Objects {
    /// How many things the cloud has made up.
    pub made_up: u64,
    /// By id.
    pub objects: BTreeMap<String, Object>,
    /// What stays taken though nobody has it.
    pub quarantined: Vec<Claimed>,
}

/// An object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// Its type.
    pub ty: String,
    /// As its provider knows it: JSON that needs the type to be read.
    pub stored: String,
    /// For everybody.
    pub fields: Json,
}

/// Something that only one object can have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claimed {
    /// What it is.
    pub what: String,
    /// Which one, and where.
    pub parts: Vec<Part>,
}

/// A part of what is claimed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// What is there.
    pub value: Json,
    /// Whether it is a range of addresses.
    pub range: bool,
}

/// Where they are.
#[derive(Debug, Clone)]
pub struct World {
    path: PathBuf,
}

impl World {
    /// In a file, which need not be there yet.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What there is now.
    pub fn read(&self) -> io::Result<Objects> {
        let _locked = self.lock()?;
        self.objects()
    }

    /// Changes something, or nothing if that is refused. Nobody else does so meanwhile.
    pub fn change<T, E: From<io::Error>>(&self, change: impl FnOnce(&mut Objects) -> Result<T, E>) -> Result<T, E> {
        let _locked = self.lock()?;
        let mut objects = self.objects()?;
        let done = change(&mut objects)?;
        self.put(&objects)?;
        Ok(done)
    }

    /// Makes everything as it was once.
    pub fn restore(&self, objects: &Objects) -> io::Result<()> {
        let _locked = self.lock()?;
        self.put(objects)
    }

    fn lock(&self) -> io::Result<File> {
        let file = File::create(self.path.with_extension("lock"))?;
        file.lock()?;
        Ok(file)
    }

    fn objects(&self) -> io::Result<Objects> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Objects::default()),
            Err(error) => Err(error),
        }
    }

    fn put(&self, objects: &Objects) -> io::Result<()> {
        let whole = self.path.with_extension("new");
        fs::write(&whole, serde_json::to_vec(objects)?)?;
        fs::rename(whole, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_changes_it_is_alone() {
        let path = std::env::temp_dir().join(format!("simulated-world-{}.json", std::process::id()));
        let add = || {
            World::at(path.clone()).change(|objects| {
                objects.made_up += 1;
                Ok::<(), io::Error>(())
            })
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..25).for_each(|_| add().unwrap_or_default()));
            }
        });
        let left = World::at(path.clone()).read().map(|objects| objects.made_up);
        for ending in ["json", "lock", "new"] {
            // What is not there need not go.
            let _ = fs::remove_file(path.with_extension(ending));
        }
        assert_eq!(left.unwrap_or_default(), 100);
    }
}
