//! `cargo xtask dist`: what people download. One static binary, completions, man pages, checksums.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

use crate::{process, product, workspace};

/// Build the static binary, shell completions, man pages and checksums into `target/dist`.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Shells that we ship completions for, with the file name each expects.
const SHELLS: &[(&str, &str)] = &[("bash", "groma.bash"), ("zsh", "_groma"), ("fish", "groma.fish")];

/// Builds everything and prints what lies where.
pub(crate) fn run(_args: &Args) -> Result<()> {
    let dir = build()?;
    println!("{}", std::fs::read_to_string(dir.join("SHA256SUMS"))?.trim_end());
    println!("in {}", dir.display());
    Ok(())
}

/// Builds, then tries what was built: static, runs without an environment, complete.
pub(crate) fn smoke() -> Result<()> {
    let dir = build()?;
    let groma = dir.join("groma");
    if !is_static(&std::fs::read(&groma)?) {
        bail!("{} asks for a dynamic loader", groma.display());
    }
    let version = process::capture(Command::new(&groma).env_clear().args(["version", "-json"]))?;
    let version: serde_json::Value = serde_json::from_str(&version).context("`groma version -json` gave no JSON")?;
    println!("    groma version -json: {version}");
    for name in SHELLS.iter().map(|(_, file)| dir.join("completions").join(file)) {
        if std::fs::metadata(&name)?.len() == 0 {
            bail!("{} is empty", name.display());
        }
    }
    if !dir.join("man/groma.1").is_file() {
        bail!("there is no man/groma.1");
    }
    Ok(())
}

/// Builds into a fresh folder.
fn build() -> Result<PathBuf> {
    let groma = product::groma()?;
    let dir = workspace::target_dir()?.join("dist");
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    std::fs::create_dir_all(dir.join("completions"))?;
    std::fs::create_dir_all(dir.join("man"))?;
    std::fs::copy(&groma, dir.join("groma"))?;
    for (shell, file) in SHELLS {
        let text = process::capture(Command::new(&groma).args(["completions", shell]))?;
        std::fs::write(dir.join("completions").join(file), text)?;
    }
    process::capture(Command::new(&groma).arg("man").arg(dir.join("man")))?;
    for file in ["LICENSE", "README.md", "CHANGELOG.md"] {
        std::fs::copy(workspace::root().join(file), dir.join(file))?;
    }
    std::fs::write(dir.join("SHA256SUMS"), checksums(&dir)?)?;
    Ok(dir)
}

/// One line per file, as `sha256sum --check` reads it.
fn checksums(dir: &Path) -> Result<String> {
    let mut files = Vec::new();
    let mut pending = vec![dir.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                pending.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut text = String::new();
    for file in files {
        let digest = Sha256::digest(std::fs::read(&file)?);
        for byte in digest {
            write!(text, "{byte:02x}")?;
        }
        writeln!(text, "  {}", file.strip_prefix(dir)?.display())?;
    }
    Ok(text)
}

/// Whether an ELF file names no interpreter (program header type 3), i.e. needs no loader.
pub(crate) fn is_static(elf: &[u8]) -> bool {
    let number = |at: usize, size: usize| -> Option<usize> {
        let bytes = elf.get(at..at + size)?;
        Some(bytes.iter().rev().fold(0, |sum, byte| (sum << 8) | usize::from(*byte)))
    };
    let headers = || -> Option<bool> {
        let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
        let mut interpreted = false;
        for index in 0..count {
            interpreted |= number(start + index * size, 4)? == 3;
        }
        Some(!interpreted)
    };
    elf.starts_with(b"\x7fELF") && headers().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A little 64-bit ELF with one program header of the given type.
    fn elf(header_type: u8) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56];
        bytes[..4].copy_from_slice(b"\x7fELF");
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[64] = header_type;
        bytes
    }

    #[test]
    fn a_binary_with_an_interpreter_is_not_static() {
        assert!(is_static(&elf(1)));
        assert!(!is_static(&elf(3)));
        assert!(!is_static(b"#!/bin/sh"));
        assert!(!is_static(b"\x7fELF"));
    }

    #[test]
    fn checksums_are_what_sha256sum_reads() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("b")).unwrap();
        std::fs::write(dir.path().join("a"), "").unwrap();
        std::fs::write(dir.path().join("b/c"), "abc").unwrap();
        assert_eq!(
            checksums(dir.path()).unwrap(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n\
             ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b/c\n"
        );
    }
}
