//! The directories that the compared programs work in: copies below the target directory, so that
//! nothing they write reaches the repository.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context as _, Result};

use crate::workspace;

/// The directory of everything that conformance runs leave behind.
pub(super) fn root() -> Result<PathBuf> {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    if let Some(root) = ROOT.get() {
        return Ok(root.clone());
    }
    let root = workspace::target_dir()?.join("conformance");
    std::fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
    Ok(ROOT.get_or_init(|| root).clone())
}

/// A home directory with nothing in it but an empty CLI configuration.
pub(super) fn home() -> Result<PathBuf> {
    let home = root()?.join("home");
    let config = home.join("empty.tfrc");
    if !config.is_file() {
        std::fs::create_dir_all(&home)?;
        std::fs::write(&config, "")?;
    }
    Ok(home)
}

/// Where the copies of this run lie: runs at the same time must not share any, the peers lock them.
fn copies() -> Result<PathBuf> {
    Ok(root()?.join(format!("scratch-{}", std::process::id())))
}

/// Removes the copies of this run.
pub(super) fn remove_copies() -> Result<()> {
    let copies = copies()?;
    if copies.exists() {
        std::fs::remove_dir_all(&copies).with_context(|| format!("cannot remove {}", copies.display()))?;
    }
    Ok(())
}

/// A fresh copy of `from` for one program.
pub(super) fn copy(from: &Path, program: &str, suite: &str, name: &str) -> Result<PathBuf> {
    let to = copies()?.join(suite).join(program).join(name);
    if to.exists() {
        std::fs::remove_dir_all(&to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    copy_tree(from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(to)
}

/// An empty directory for one program.
pub(super) fn empty(suite: &str, program: &str, name: &str) -> Result<PathBuf> {
    let to = copies()?.join(suite).join(program).join(name);
    if to.exists() {
        std::fs::remove_dir_all(&to).with_context(|| format!("cannot remove {}", to.display()))?;
    }
    std::fs::create_dir_all(&to).with_context(|| format!("cannot create {}", to.display()))?;
    Ok(to)
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
