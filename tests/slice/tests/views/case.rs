//! Cases: files of a working directory, what stood there before, and how to plan. Each is a text with sections `-- name --`.
//!
//! - `before/FILE`: applied by OpenTofu first. `FILE`: what is planned.
//! - `state`: lines `old => new`, replaced in the state file. `world`: the same in the objects of the fixtures.
//! - `arguments`: of the plan, one on a line.
//! - `except`: beginnings of differences that are known; each with the reason in a comment.

use std::path::Path;

/// One case.
#[derive(Debug, Default)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) before: Vec<(String, String)>,
    pub(crate) files: Vec<(String, String)>,
    pub(crate) state: Vec<(String, String)>,
    pub(crate) world: Vec<(String, String)>,
    pub(crate) arguments: Vec<String>,
    pub(crate) except: Vec<String>,
}

/// All cases of a directory.
pub(crate) fn read_all(dir: &Path) -> Vec<Case> {
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let case = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Case { name, ..parse(&std::fs::read_to_string(path).unwrap()) }
    };
    paths.iter().map(case).collect()
}

fn parse(text: &str) -> Case {
    let mut sections: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let header = line.strip_prefix("-- ").and_then(|rest| rest.strip_suffix(" --"));
        match (header, sections.last_mut()) {
            (Some(name), _) => sections.push((name.to_owned(), String::new())),
            (None, Some((_, section))) => {
                section.push_str(line);
                section.push('\n');
            }
            // What stands before the first section is a comment.
            (None, None) => {}
        }
    }
    let mut case = Case::default();
    for (name, text) in sections {
        let lines = || text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned);
        let pairs = || lines().map(|line| line.split_once(" => ").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap());
        match (name.as_str(), name.strip_prefix("before/")) {
            ("arguments", _) => case.arguments = lines().collect(),
            ("except", _) => case.except = lines().collect(),
            ("state", _) => case.state = pairs().collect(),
            ("world", _) => case.world = pairs().collect(),
            (_, Some(file)) => case.before.push((file.to_owned(), text)),
            (file, None) => case.files.push((file.to_owned(), text)),
        }
    }
    case
}

/// Writes files into a directory.
pub(crate) fn write(dir: &Path, files: &[(String, String)]) {
    for (name, text) in files {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}
