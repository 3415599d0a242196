//! Our own programs in Go, cached by what their sources are: provider plugins from `tests/providers`, oracles that tests run, and
//! what runs in the pods of tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

use super::Group;
use super::build::{self, Recipe};
use crate::workspace;

/// A provider plugin that misbehaves on cue, an oracle, or what runs in a pod.
pub(super) struct Fixture {
    pub(super) name: &'static str,
    /// The environment variable by which tests find it.
    pub(super) variable: &'static str,
    pub(super) group: Group,
    /// The folder of its Go module.
    module: &'static str,
    package: &'static str,
    binary: &'static str,
}

/// One on each of the two libraries on which plugins are written, a reader of plans, and what runs in pods.
pub(super) const FIXTURES: &[Fixture] = &[
    Fixture {
        name: "fixture-sdk",
        variable: "GROMA_FIXTURE_SDK",
        group: Group::Test,
        module: "tests/providers",
        package: "./cmd/terraform-provider-fixsdk",
        binary: "terraform-provider-fixsdk",
    },
    Fixture {
        name: "fixture-framework",
        variable: "GROMA_FIXTURE_FRAMEWORK",
        group: Group::Test,
        module: "tests/providers",
        package: "./cmd/terraform-provider-fixfw",
        binary: "terraform-provider-fixfw",
    },
    Fixture {
        name: "oracle-planjson",
        variable: "GROMA_ORACLE_PLANJSON",
        group: Group::Test,
        module: "tests/oracles/planjson",
        package: ".",
        binary: "planjson",
    },
    Fixture {
        name: "pod",
        variable: "GROMA_POD",
        group: Group::Cluster,
        module: "tests/pods",
        package: ".",
        binary: "pod",
    },
];

impl Fixture {
    /// Where it lies once it is built from the sources as they are now.
    pub(super) fn path(&self) -> Result<PathBuf> {
        Ok(build::cache()?.join(self.name).join(fingerprint(self.module)?).join(self.binary))
    }

    /// How to build it.
    pub(super) fn recipe(&self) -> Result<Recipe> {
        let module = workspace::root().join(self.module);
        Ok(Recipe { title: self.name.to_owned(), module, package: self.package, link: "", output: self.path()? })
    }
}

/// A short name of the content of a module's sources, found once.
fn fingerprint(module: &'static str) -> Result<String> {
    static FOUND: Mutex<BTreeMap<&str, String>> = Mutex::new(BTreeMap::new());
    let mut known = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(module) {
        return Ok(found.clone());
    }
    let found = digest(&workspace::root().join(module)).context("cannot read the sources of the fixtures")?;
    known.insert(module, found.clone());
    Ok(found)
}

/// The digest of everything that goes into a build: Go files and the pins of their dependencies.
fn digest(module: &Path) -> Result<String> {
    let mut sources = Vec::new();
    collect(module, &mut sources)?;
    sources.sort();
    let mut digest = Sha256::new();
    for source in sources {
        let content = std::fs::read(&source).with_context(|| format!("cannot read {}", source.display()))?;
        let name = source.strip_prefix(module)?.to_string_lossy();
        digest.update(format!("{name}\0{}\0", content.len()));
        digest.update(content);
    }
    Ok(digest.finalize().iter().take(8).fold(String::new(), |text, byte| format!("{text}{byte:02x}")))
}

fn collect(folder: &Path, sources: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, sources)?;
        } else if matches!(path.extension().and_then(|extension| extension.to_str()), Some("go" | "mod" | "sum")) {
            sources.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_follows_names_and_content_of_sources_only() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("inner")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write("go.mod", "module x");
        write("inner/a.go", "package a");
        let first = digest(dir.path()).unwrap();
        write("README.md", "words");
        assert_eq!(digest(dir.path()).unwrap(), first);
        write("inner/a.go", "package b");
        let second = digest(dir.path()).unwrap();
        assert_ne!(second, first);
        std::fs::rename(dir.path().join("inner/a.go"), dir.path().join("inner/b.go")).unwrap();
        assert_ne!(digest(dir.path()).unwrap(), second);
    }
}
