//! Who else looks after a configuration. Two who change the same things from two states make everything twice, so whoever is not the owner
//! only looks, unless they say that they know.
//!
//! A file `.groma/owner` says so, beside the configuration or above it, up to the root of its repository; so does the place of a state.

use std::path::{Path, PathBuf};

use groma_model::diag::{Diagnostic, Diagnostics};

use crate::session::Start;

/// Where it is said, in a directory.
pub const FILE: &str = ".groma/owner";

/// Who looks after a state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Owner {
    /// That does not matter here.
    #[default]
    Unheeded,
    /// A file says so.
    Named(Managed),
    /// No file says so.
    Unknown,
}

/// Something that somebody else looks after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Managed {
    /// By whom: `Stack team/app in https://…`.
    pub name: String,
    /// Where that is said.
    pub said_by: String,
}

/// What such a file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnerFile {
    /// The Stack: `team/app`.
    pub stack: String,
    /// The address of the cluster, for people.
    pub cluster: Option<String>,
    /// The directory of the root module, from the directory that `.groma` is in.
    pub path: Option<String>,
    /// The workspace. All of them if none is named.
    pub workspace: Option<String>,
}

impl OwnerFile {
    /// As it is written.
    pub fn text(&self) -> String {
        let mut text =
            "# Whoever changes this configuration by hand makes everything twice: an operator looks after it.\n"
                .to_owned();
        let more = [("cluster", &self.cluster), ("path", &self.path), ("workspace", &self.workspace)];
        let all = [("stack", Some(&self.stack))].into_iter().chain(more.map(|(key, value)| (key, value.as_ref())));
        for (key, value) in all.filter_map(|(key, value)| Some((key, value?))) {
            text.extend([key, ": ", value, "\n"]);
        }
        text
    }

    /// From its text: lines with a key and a value.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut file = Self::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let at = number + 1;
            let (key, value) = line.split_once(':').ok_or_else(|| format!("line {at} has no \":\""))?;
            let value = Some(value.trim().trim_matches('"').to_owned()).filter(|value| !value.is_empty());
            match key.trim() {
                "stack" => file.stack = value.unwrap_or_default(),
                "cluster" => file.cluster = value,
                "path" => file.path = value,
                "workspace" => file.workspace = value,
                other => {
                    return Err(format!("line {at} says {other:?}, which is none of stack, cluster, path, workspace"));
                }
            }
        }
        if file.stack.is_empty() {
            return Err("it does not say which Stack: \"stack: NAMESPACE/NAME\"".to_owned());
        }
        Ok(file)
    }

    /// Whether it is about a module, seen from the directory of the file.
    fn is_about(&self, below: &Path, workspace: &str) -> bool {
        let clean = |path: &Path| path.components().filter(|part| part.as_os_str() != ".").collect::<PathBuf>();
        let path = self.path.as_deref().unwrap_or(".");
        clean(Path::new(path)) == clean(below) && self.workspace.as_deref().is_none_or(|named| named == workspace)
    }
}

impl Owner {
    pub(super) fn of(start: &Start, workspace: &str) -> Result<Self, Diagnostics> {
        if !start.heeds_owner {
            return Ok(Self::Unheeded);
        }
        let module = start.working_dir.join(&start.root_dir);
        Ok(find(&module, workspace)?.map_or(Self::Unknown, Self::Named))
    }
}

/// Who looks after a module, as files say.
fn find(module: &Path, workspace: &str) -> Result<Option<Managed>, Diagnostic> {
    let module = std::path::absolute(module).unwrap_or_else(|_| module.to_owned());
    let module: PathBuf = module.components().filter(|part| part.as_os_str() != ".").collect();
    let repository = module.ancestors().find(|directory| directory.join(".git").exists());
    let above = module.ancestors().take_while(|directory| repository.is_some_and(|root| directory.starts_with(root)));
    for directory in std::iter::once(module.as_path()).chain(above.skip(1)) {
        let path = directory.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => continue,
            // A file where a directory would be is nothing of ours.
            Err(problem) if problem.kind() == std::io::ErrorKind::NotADirectory => continue,
            Err(problem) => return Err(unreadable(&path, &problem.to_string())),
        };
        let file = OwnerFile::parse(&text).map_err(|problem| unreadable(&path, &problem))?;
        let below = module.strip_prefix(directory).unwrap_or(Path::new(""));
        if file.is_about(below, workspace) {
            let cluster = file.cluster.as_ref().map(|cluster| format!(" in {cluster}")).unwrap_or_default();
            let name = format!("Stack {}{cluster}", file.stack);
            return Ok(Some(Managed { name, said_by: path.display().to_string() }));
        }
    }
    Ok(None)
}

fn unreadable(path: &Path, problem: &str) -> Diagnostic {
    let detail =
        format!("{} cannot be read, so it is not known who looks after this configuration: {problem}.", path.display());
    Diagnostic::error("Invalid owner file", detail)
}

/// Whether an operation changes something. Whoever only looks is in nobody's way; nor is who mends what an earlier run has left.
pub(super) fn changes(operation: &str) -> bool {
    !matches!(operation, "OperationTypePlan" | "OperationTypeInvalid" | "doctor")
}

/// What somebody is told who would change what others look after.
pub(super) fn refusal(managed: &Managed) -> Diagnostic {
    let Managed { name, said_by } = managed;
    let detail = format!(
        "The {name} looks after this, as {said_by} says. Two who change the same things work against each other, or make everything \
         twice: change the Stack or its source, and let the operator carry it out. If you know what you do, add -i-know."
    );
    Diagnostic::error("Managed by an operator", detail)
}

/// What somebody is told who only looks.
pub(crate) fn remark(managed: &Managed) -> Diagnostic {
    let Managed { name, said_by } = managed;
    let detail = format!(
        "The {name} looks after this, as {said_by} says. What is planned here is for you to read; it cannot be applied."
    );
    Diagnostic::warning("Managed by an operator", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_goes_round() {
        let file = OwnerFile {
            stack: "team/app".to_owned(),
            cluster: Some("https://cluster.example".to_owned()),
            path: Some("infra/app".to_owned()),
            workspace: None,
        };
        assert_eq!(OwnerFile::parse(&file.text()).unwrap(), file);
        for (wrong, said) in [("", "which Stack"), ("stack", "line 1"), ("stack: a/b\nnmae: x", "line 2 says \"nmae\"")]
        {
            let told = OwnerFile::parse(wrong).unwrap_err();
            assert!(told.contains(said), "{told}");
        }
    }

    #[test]
    fn owners_are_found_up_to_the_root_of_the_repository() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".groma/owner", "stack: outside/it\npath: repository/infra/app\n");
        write("repository/.git/HEAD", "");
        write("repository/.groma/owner", "stack: team/app\npath: ./infra/app/\nworkspace: default\n");
        write("repository/infra/own/.groma/owner", "stack: \"team/own\"\n");
        write("repository/infra/app/main.tf", "");
        let owner = |module: &str, workspace: &str| {
            find(&dir.path().join(module), workspace).unwrap().map(|managed| managed.name)
        };
        assert_eq!(owner("repository/infra/app", "default").as_deref(), Some("Stack team/app"));
        assert_eq!(owner("repository/infra/app", "other"), None);
        assert_eq!(owner("repository/infra", "default"), None);
        assert_eq!(owner("repository/infra/own", "any").as_deref(), Some("Stack team/own"));
        assert_eq!(owner("elsewhere", "default"), None);
    }
}
