//! `cargo xtask tidy`: the rules of the house that no compiler checks.
//! Each rule is a module with a pure `check`; this one gathers the files and prints what they find.

mod documents;
mod edges;
mod licences;
mod manifests;
mod size;
mod source;

pub(crate) use edges::is_for_tests;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::workspace;

/// Check the rules of the house: crate edges, headers, sizes, forbidden words, licences, documents.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// A text file of the repository, with its path relative to the root.
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl SourceFile {
    #[cfg(test)]
    fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.to_owned() }
    }

    /// Whether this is Rust source.
    fn is_rust(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "rs")
    }

    /// Generated code is checked by its generator, not by us.
    fn is_generated(&self) -> bool {
        self.path.components().any(|part| part.as_os_str() == "generated")
            || self.text.lines().take(3).any(|line| line.contains("@generated"))
    }

    /// Whether the whole file is test code.
    fn is_test(&self) -> bool {
        let stem = self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        stem == "tests"
            || stem.ends_with("_tests")
            || self
                .path
                .components()
                .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "benches" | "testkit")))
    }
}

/// One broken rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    path: PathBuf,
    line: usize,
    message: String,
}

impl Problem {
    /// A problem of a whole file.
    fn in_file(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.to_path_buf(), line: 0, message: message.into() }
    }

    /// A problem at a line, counted from 1.
    fn at(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_path_buf(), line, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path.display(), self.message),
            line => write!(f, "{}:{line}: {}", self.path.display(), self.message),
        }
    }
}

/// Runs every check and prints what is wrong.
pub(crate) fn run(_args: &Args) -> Result<()> {
    let files = read_text_files()?;
    let packages = workspace::metadata(false)?;
    let resolved = workspace::metadata(true)?;

    let mut problems = Vec::new();
    problems.extend(edges::check(&packages));
    problems.extend(edges::check_external()?);
    problems.extend(manifests::check(&files));
    problems.extend(source::check(&files));
    problems.extend(size::check(&files));
    problems.extend(licences::check(&files, &resolved)?);
    problems.extend(documents::check(&files));
    problems.sort();

    for problem in &problems {
        println!("{problem}");
    }
    if problems.is_empty() {
        println!("tidy: {} files, no problems", files.len());
        return Ok(());
    }
    bail!("tidy: {} problems", problems.len())
}

/// Reads every tracked file that is text. Binary files have no rules here.
fn read_text_files() -> Result<Vec<SourceFile>> {
    let root = workspace::root();
    let mut files = Vec::new();
    for path in workspace::files()? {
        if let Ok(text) = String::from_utf8(std::fs::read(root.join(&path))?) {
            files.push(SourceFile { path, text });
        }
    }
    Ok(files)
}
