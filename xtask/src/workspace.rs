//! Where things are: the repository root, the target directory, the packages, the tracked files.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// `cargo`, started in the root, as the one that runs us.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root());
    // What `cargo run` sets for xtask must not leak into the cargo that xtask starts.
    for leaked in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION"] {
        command.env_remove(leaked);
    }
    command
}

/// The answer of `cargo metadata`; `with_dependencies` resolves the whole tree.
pub(crate) fn metadata(with_dependencies: bool) -> Result<Value> {
    let mut command = cargo();
    command.args(["metadata", "--format-version=1"]);
    if !with_dependencies {
        command.arg("--no-deps");
    }
    let text = crate::process::capture(&mut command)?;
    serde_json::from_str(&text).context("cargo metadata gave no JSON")
}

/// The directory that cargo builds into.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let metadata = metadata(false)?;
    let dir = metadata["target_directory"].as_str().context("cargo metadata: no target_directory")?;
    Ok(PathBuf::from(dir))
}

/// The names of the workspace's packages.
pub(crate) fn packages() -> Result<Vec<String>> {
    let metadata = metadata(false)?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(packages.iter().filter_map(|package| package["name"].as_str()).map(str::to_owned).collect())
}

/// Every file that git tracks or would track, relative to the root, sorted.
pub(crate) fn files() -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let mut files: Vec<PathBuf> = match crate::process::capture(&mut git) {
        Ok(list) => list.split('\0').filter(|path| !path.is_empty()).map(PathBuf::from).collect(),
        Err(_) => walk(&root())?, // An unpacked archive has no git: look at the files themselves.
    };
    files.sort();
    files.dedup();
    files.retain(|file| root().join(file).is_file());
    Ok(files)
}

/// Every file below the root but build output and hidden version control.
fn walk(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(&dir).with_context(|| format!("{}", dir.display()))? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                if !matches!(name, "target" | ".git") {
                    pending.push(path);
                }
            } else if let Ok(relative) = path.strip_prefix(root) {
                found.push(relative.to_path_buf());
            }
        }
    }
    Ok(found)
}
