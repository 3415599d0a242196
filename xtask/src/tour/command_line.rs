//! The main job on an example, on the command line: plans and applies it, shows what there is, changes something, and destroys it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{process, workspace};

/// What is done, and what it shows.
const STOPS: [(&str, &[&str]); 8] = [
    ("What would be made", &["plan"]),
    ("It is made", &["apply", "-auto-approve"]),
    ("What there is", &["state", "list"]),
    ("What it tells others", &["output"]),
    ("Once more: nothing to do", &["plan"]),
    ("One service less, another one larger", &["apply", "-auto-approve", "-var=services={ web = { replicas = 4 } }"]),
    ("One object, in full", &["state", "show", "terraform_data.instance[\"web-03\"]"]),
    ("Everything goes", &["destroy", "-auto-approve"]),
];

/// Runs this part of the tour.
pub(super) fn run(groma: &Path) -> Result<()> {
    let dir = tempfile::tempdir().context("no place for a copy of the example")?;
    copy(&workspace::root().join("examples/quickstart"), dir.path())?;
    for (title, arguments) in STOPS {
        println!("\n── {title} ──\n$ groma {}", arguments.join(" "));
        process::run(Command::new(groma).args(arguments).current_dir(dir.path()))?;
    }
    println!("\nThe example is in examples/quickstart. Change it, and run groma there yourself.");
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "tf") {
            std::fs::copy(&path, to.join(path.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}
