//! Which program is driven: where it is, whether it is what it should be, and whether it is new enough.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use groma_model::diag::Diagnostic;

/// An engine that is not groma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Terraform.
    Terraform,
    /// OpenTofu.
    OpenTofu,
}

impl Kind {
    /// What the program is called.
    pub fn program(self) -> &'static str {
        match self {
            Self::Terraform => "terraform",
            Self::OpenTofu => "tofu",
        }
    }

    /// What it calls itself.
    pub fn title(self) -> &'static str {
        match self {
            Self::Terraform => "Terraform",
            Self::OpenTofu => "OpenTofu",
        }
    }

    /// The first version that tells enough in JSON.
    fn least(self) -> (u64, u64) {
        match self {
            Self::Terraform => (1, 1),
            Self::OpenTofu => (1, 6),
        }
    }
}

/// A program that was found and has said what it is.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Which engine.
    pub kind: Kind,
    /// Where it is.
    pub program: PathBuf,
    /// As it says.
    pub version: String,
}

/// Looks for the program: where somebody says that it is, or in the directories of `PATH`.
pub fn find(kind: Kind, given: Option<&Path>, search: Option<&OsStr>, dir: &Path) -> Result<PathBuf, Diagnostic> {
    let summary = "Engine not found";
    if let Some(given) = given {
        let path = dir.join(given);
        if is_program(&path) {
            return Ok(path);
        }
        let detail = format!(
            "There is no program {}. Say with -engine-binary or GROMA_ENGINE_BINARY where {} is, or leave both out to have \
             \"{}\" looked for in the directories of PATH.",
            given.display(),
            kind.title(),
            kind.program(),
        );
        return Err(Diagnostic::error(summary, detail));
    }
    let directories = search.map(std::env::split_paths).into_iter().flatten();
    let found = directories.map(|directory| dir.join(directory).join(kind.program())).find(|path| is_program(path));
    found.ok_or_else(|| {
        let detail = format!(
            "-engine={program} needs {}, and no directory of PATH has a program \"{program}\". Install it, or say with \
             -engine-binary=PATH where it is.",
            kind.title(),
            program = kind.program(),
        );
        Diagnostic::error(summary, detail)
    })
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// Reads what `version` has printed: `OpenTofu v1.12.6`, and more that does not matter.
pub fn recognise(kind: Kind, program: PathBuf, printed: &str) -> Result<Tool, Diagnostic> {
    let first = printed.lines().next().unwrap_or_default().trim();
    let shown = program.display();
    let Some((title, version)) = first.split_once(" v") else {
        let detail = format!("{shown} was asked for its version and said {first:?}. That is not {}.", kind.title());
        return Err(Diagnostic::error("Not the engine that was asked for", detail));
    };
    if title != kind.title() {
        let detail = format!(
            "{shown} is {title} {version}, and -engine={} means {}. Ask for the engine that it is.",
            kind.program(),
            kind.title(),
        );
        return Err(Diagnostic::error("Not the engine that was asked for", detail));
    }
    let mut numbers = version.split(['.', '-', '+']).map_while(|part| part.parse::<u64>().ok());
    let (major, minor) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let least = kind.least();
    if (major, minor) < least {
        let detail = format!("{shown} is {title} {version}; {}.{} is the first that can be driven.", least.0, least.1);
        return Err(Diagnostic::error("Engine too old", detail));
    }
    Ok(Tool { kind, program, version: version.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognised(kind: Kind, printed: &str) -> Result<String, String> {
        let found = recognise(kind, PathBuf::from("bin/x"), printed);
        found.map(|tool| tool.version).map_err(|problem| format!("{}: {}", problem.summary, problem.detail))
    }

    #[test]
    fn programs_say_what_they_are() {
        assert_eq!(recognised(Kind::Terraform, "Terraform v1.11.4\non linux_amd64\n").as_deref(), Ok("1.11.4"));
        assert_eq!(recognised(Kind::OpenTofu, "OpenTofu v1.12.0-rc1\n").as_deref(), Ok("1.12.0-rc1"));
        let wrong = recognised(Kind::Terraform, "OpenTofu v1.12.6\n").unwrap_err();
        assert!(wrong.contains("bin/x is OpenTofu 1.12.6"), "{wrong}");
        assert!(recognised(Kind::Terraform, "Terraform v0.11.15\n").unwrap_err().starts_with("Engine too old"));
        assert!(recognised(Kind::OpenTofu, "usage: x\n").unwrap_err().starts_with("Not the engine"));
        assert!(recognised(Kind::OpenTofu, "").is_err());
    }

    #[test]
    fn a_program_is_looked_for_where_somebody_says_or_in_path() {
        let dir = tempfile::tempdir().unwrap();
        let missing = find(Kind::OpenTofu, None, Some(dir.path().as_os_str()), dir.path()).unwrap_err();
        assert!(missing.detail.contains("no directory of PATH has a program \"tofu\""), "{}", missing.detail);
        // Not everything that is there can be run.
        fs::write(dir.path().join("tofu"), "").unwrap();
        #[cfg(unix)]
        assert!(find(Kind::OpenTofu, None, Some(dir.path().as_os_str()), dir.path()).is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(dir.path().join("tofu"), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let found = find(Kind::OpenTofu, None, Some(dir.path().as_os_str()), dir.path()).unwrap();
        assert_eq!(found, dir.path().join("tofu"));
        assert_eq!(find(Kind::OpenTofu, Some(Path::new("tofu")), None, dir.path()).unwrap(), found);
        assert!(find(Kind::OpenTofu, Some(Path::new("nope")), None, dir.path()).is_err());
    }
}
