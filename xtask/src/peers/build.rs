//! Building one Go program into the cache, whole or not at all.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::ladder::seconds;
use crate::process;

/// How to build one program.
pub(super) struct Recipe {
    /// What it is called while it is being built.
    pub(super) title: String,
    /// The folder of the Go module that pins everything.
    pub(super) module: PathBuf,
    /// The main package, as that module names it.
    pub(super) package: &'static str,
    /// What goes to `-ldflags` beside stripping.
    pub(super) link: &'static str,
    /// Where the binary shall lie.
    pub(super) output: PathBuf,
}

/// The cache folder of all peers.
pub(super) fn cache() -> Result<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(dir) = from("GROMA_PEERS") {
        return Ok(dir.into());
    }
    if let Some(dir) = from("XDG_CACHE_HOME") {
        return Ok(PathBuf::from(dir).join("groma/peers"));
    }
    let home = from("HOME").context("set HOME or GROMA_PEERS: there is no place for the cache")?;
    Ok(PathBuf::from(home).join(".cache/groma/peers"))
}

/// The program's binary; builds it if the cache lacks it.
pub(super) fn ensure(recipe: &Recipe, rebuild: bool) -> Result<PathBuf> {
    if recipe.output.is_file() && !rebuild {
        return Ok(recipe.output.clone());
    }
    println!("    building {} with Go (once; kept in {}) ...", recipe.title, cache()?.display());
    let start = Instant::now();
    build(recipe).with_context(|| format!("cannot build {}", recipe.title))?;
    println!("    built {} in {}", recipe.title, seconds(start.elapsed()));
    Ok(recipe.output.clone())
}

/// Builds beside the final place and renames, so that a broken build is never taken for a program.
fn build(recipe: &Recipe) -> Result<()> {
    let Some(go) = process::find_on_path("go") else {
        bail!("`go` is not on PATH: install the Go toolchain, the peers are Go programs");
    };
    let dir = recipe.output.parent().context("a peer's path has a parent")?;
    let name = recipe.output.file_name().context("a peer's path has a name")?.to_string_lossy();
    std::fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let unfinished = dir.join(format!("{name}.{}.tmp", std::process::id()));
    let mut command = Command::new(go);
    command
        .current_dir(&recipe.module)
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .args(["build", "-trimpath", "-mod=readonly", "-ldflags"])
        .arg(format!("-s -w {}", recipe.link))
        .arg("-o")
        .arg(&unfinished)
        .arg(recipe.package);
    process::run_patiently(&mut command)?;
    std::fs::rename(&unfinished, &recipe.output).context("cannot move the binary into the cache")
}
