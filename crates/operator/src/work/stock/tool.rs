//! Which program is run, and with what around it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use groma_engines::{Kind, Program, find};
use groma_model::diag::Diagnostic;

use crate::api::stack::Engine;
use crate::work::Work;

/// Where the programs of other engines are, and how they are set up.
#[derive(Debug, Clone, Default)]
pub struct Engines {
    /// OpenTofu. Looked for in the directories of `PATH` if nothing is said.
    pub tofu: Option<PathBuf>,
    /// Terraform; the same.
    pub terraform: Option<PathBuf>,
    /// What they find in their environment besides what runs have: where their own configuration is.
    pub environment: BTreeMap<String, String>,
    /// A program of ours, with its arguments, that becomes one of them and ends with us.
    pub starter: Option<Vec<String>>,
}

/// Which engine it is, if it is not ours.
pub(crate) fn kind(engine: Engine) -> Option<Kind> {
    match engine {
        Engine::Native => None,
        Engine::Tofu => Some(Kind::OpenTofu),
        Engine::Terraform => Some(Kind::Terraform),
    }
}

/// The program, or what to do if there is none.
pub(super) fn program(work: &Work<'_>, kind: Kind, root: &Path, is_look: bool) -> Result<Program, Diagnostic> {
    let engines = &work.workshop.engines;
    let given = match kind {
        Kind::OpenTofu => &engines.tofu,
        Kind::Terraform => &engines.terraform,
    };
    let search = work.workshop.environment.get("PATH").map(std::ffi::OsString::from);
    // Never in the directory of the run: what is there is somebody else's.
    let found = find(kind, given.as_deref(), search.as_deref(), Path::new("/"));
    let path = found.map_err(|_| missing(kind, given.as_deref()))?;
    Ok(Program {
        path,
        invocation_dir: root.to_owned(),
        chdir: None,
        environment: Some(environment(work, is_look)),
        last_resort: Some(work.interrupt.clone()),
        starter: engines.starter.clone(),
    })
}

fn missing(kind: Kind, given: Option<&Path>) -> Diagnostic {
    let (name, title) = (kind.program(), kind.title());
    let place = match given {
        Some(given) => format!("{} is no program", given.display()),
        None => format!("no directory of PATH has a program \"{name}\""),
    };
    let detail = format!(
        "spec.engine: {name} needs {title} where the run is, and {place}. Start the operator with -{name}=PATH, or use an image that \
         has it (spec.podTemplate.image for Jobs); or set spec.engine to native."
    );
    Diagnostic::error("Engine not found", detail)
}

fn environment(work: &Work<'_>, is_look: bool) -> BTreeMap<String, String> {
    let mut all = work.workshop.environment.clone();
    all.extend(work.workshop.engines.environment.clone());
    all.extend(work.bundle.inputs.environment.clone());
    for (name, value) in [("TF_IN_AUTOMATION", "1"), ("TF_INPUT", "0"), ("CHECKPOINT_DISABLE", "1")] {
        all.insert(name.to_owned(), value.to_owned());
    }
    // Who only looks chooses nothing that would be written down.
    let workspace = work.bundle.workspace.clone().filter(|_| is_look);
    all.extend(workspace.map(|name| ("TF_WORKSPACE".to_owned(), name)));
    all
}

/// Takes away what a source must not bring along: what the engine takes for its own work of before, and for plugins that were put there
/// by whoever runs it.
pub(in crate::work) fn clear(kind: Kind, directory: &Path, allow_exec: bool) {
    remove_below(directory, &|path| {
        let name = path.file_name().unwrap_or_default();
        path.is_dir() && (name == ".terraform" || (name == "terraform.d" && !allow_exec))
    });
    clear_files(kind, directory);
}

/// Takes away what Terraform does not read, and we would.
pub(super) fn clear_files(kind: Kind, directory: &Path) {
    if kind == Kind::Terraform {
        remove_below(directory, &|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            !path.is_dir() && (name.ends_with(".tofu") || name.ends_with(".tofu.json"))
        });
    }
}

fn remove_below(directory: &Path, unwanted: &dyn Fn(&Path) -> bool) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let is_dir = path.is_dir() && !path.is_symlink();
        if unwanted(&path) {
            // What cannot be taken away is found by who looks at the configuration.
            let _ = if is_dir { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        } else if is_dir {
            remove_below(&path, unwanted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_source_must_not_bring_along_is_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        for path in ["main.tf", "main.tofu", "m/a.tofu.json", ".terraform/x", "m/.terraform/x", "terraform.d/plugins/x"]
        {
            put(path);
        }
        clear(Kind::OpenTofu, dir.path(), true);
        let there = |path: &str| dir.path().join(path).exists();
        assert!(there("main.tofu") && there("terraform.d/plugins/x"));
        assert!(!there(".terraform") && !there("m/.terraform"));
        clear(Kind::Terraform, dir.path(), false);
        assert!(there("main.tf") && there("m"));
        assert!(!there("main.tofu") && !there("m/a.tofu.json") && !there("terraform.d"));
    }
}
