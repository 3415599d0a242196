//! Documents that must stay true: the code map names every crate and no other, every decision
//! and every page of the book is listed, and links inside the repository lead somewhere.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{Problem, SourceFile};

/// Documents in which every path of the repository that is named must exist.
const GUIDES: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md"];

/// Folders by which a path of the repository is recognised.
const FOLDERS: &[&str] = &["crates/", "xtask/", "tests/", "docs/", "fuzz/", "examples/", "tools/", ".ci/"];

/// Checks the documents against the tree.
pub(super) fn check(files: &[SourceFile]) -> Vec<Problem> {
    let paths: BTreeSet<&Path> = files.iter().map(|file| file.path.as_path()).collect();
    let mut problems = check_code_map(files);
    problems.extend(check_listed(files, "docs/adr/README.md", "docs/adr"));
    problems.extend(check_listed(files, "docs/book/src/SUMMARY.md", "docs/book/src"));
    for file in files.iter().filter(|file| is_markdown(&file.path)) {
        problems.extend(check_links(file, &paths));
        if GUIDES.iter().any(|guide| file.path == Path::new(guide)) {
            problems.extend(check_named_paths(file, &paths));
        }
    }
    problems
}

/// ARCHITECTURE.md has one heading "### `crates/name`" per crate.
fn check_code_map(files: &[SourceFile]) -> Vec<Problem> {
    let path = Path::new("ARCHITECTURE.md");
    let Some(map) = files.iter().find(|file| file.path == path) else {
        return vec![Problem::in_file(path, "missing")];
    };
    let described: BTreeSet<String> = map
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("### `crates/"))
        .filter_map(|rest| rest.split('`').next())
        .map(str::to_owned)
        .collect();
    let existing: BTreeSet<String> = files
        .iter()
        .filter(|file| file.path.ends_with("Cargo.toml"))
        .filter_map(|file| file.path.parent()?.strip_prefix("crates").ok())
        .map(|name| name.display().to_string())
        .collect();
    existing
        .difference(&described)
        .map(|name| Problem::in_file(path, format!("no heading \"### `crates/{name}`\"")))
        .collect()
}

/// Every page of a folder is linked from its list.
fn check_listed(files: &[SourceFile], list: &str, folder: &str) -> Vec<Problem> {
    let list = Path::new(list);
    let Some(listing) = files.iter().find(|file| file.path == list) else {
        return vec![Problem::in_file(list, "missing")];
    };
    let targets: BTreeSet<PathBuf> = links(&listing.text).filter_map(|(_, link)| resolve(list, link)).collect();
    files
        .iter()
        .map(|file| file.path.as_path())
        .filter(|path| path.starts_with(folder) && is_markdown(path) && *path != list)
        .filter(|path| !targets.contains(*path))
        .map(|path| Problem::in_file(path, format!("not listed in {}", list.display())))
        .collect()
}

/// Links to files of the repository lead to a file or a folder.
fn check_links(file: &SourceFile, paths: &BTreeSet<&Path>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, link) in links(&file.text) {
        let Some(target) = resolve(&file.path, link) else {
            continue;
        };
        if target.as_os_str().is_empty() || paths.iter().any(|path| path.starts_with(&target)) {
            continue;
        }
        problems.push(Problem::at(&file.path, line, format!("`{link}` leads nowhere")));
    }
    problems
}

/// Paths in code spans, like `crates/model/src`, lead to a file or a folder. Those with a placeholder are left alone.
fn check_named_paths(file: &SourceFile, paths: &BTreeSet<&Path>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for span in line.split('`').skip(1).step_by(2) {
            let named = span.split(':').next().unwrap_or_default();
            let ours = FOLDERS.iter().any(|folder| named.starts_with(folder));
            let plain = !named.contains(['<', '*', ' ', '…']);
            if ours && plain && !paths.iter().any(|path| path.starts_with(named)) {
                problems.push(Problem::at(&file.path, index + 1, format!("`{named}` is not there")));
            }
        }
    }
    problems
}

/// The targets of inline links, with their line numbers. Code blocks are not prose.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().flat_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let parts: Vec<&str> = if in_code { Vec::new() } else { line.split("](").skip(1).collect() };
        parts.into_iter().filter_map(move |part| Some((index + 1, part.split(')').next()?)))
    })
}

/// The path a relative link means, from the root; nothing for links elsewhere.
fn resolve(from: &Path, link: &str) -> Option<PathBuf> {
    let link = link.split('#').next().unwrap_or_default();
    if link.is_empty() || link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let mut path = PathBuf::new();
    for part in from.parent()?.join(link).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    Some(path)
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(map: &str, more: &[(&str, &str)]) -> Vec<String> {
        let mut files = vec![
            SourceFile::new("ARCHITECTURE.md", map),
            SourceFile::new("crates/model/Cargo.toml", ""),
            SourceFile::new("docs/adr/README.md", "[one](0001-one.md)"),
            SourceFile::new("docs/adr/0001-one.md", ""),
            SourceFile::new("docs/book/src/SUMMARY.md", "[start](start.md)"),
            SourceFile::new("docs/book/src/start.md", ""),
        ];
        files.extend(more.iter().map(|(path, text)| SourceFile::new(path, text)));
        check(&files).iter().map(ToString::to_string).collect()
    }

    const MAP: &str = "### `crates/model`\n";

    #[test]
    fn a_true_map_is_silent() {
        assert_eq!(tree(MAP, &[]), Vec::<String>::new());
    }

    #[test]
    fn a_crate_without_a_heading_is_found() {
        assert_eq!(tree("", &[]), ["ARCHITECTURE.md: no heading \"### `crates/model`\""]);
    }

    #[test]
    fn a_heading_without_a_crate_is_found() {
        let map = format!("{MAP}### `crates/dream`\n");
        assert_eq!(tree(&map, &[]), ["ARCHITECTURE.md:2: `crates/dream` is not there"]);
    }

    #[test]
    fn a_decision_that_is_not_listed_is_found() {
        let problems = tree(MAP, &[("docs/adr/0002-two.md", "")]);
        assert_eq!(problems, ["docs/adr/0002-two.md: not listed in docs/adr/README.md"]);
    }

    #[test]
    fn a_dead_link_is_found_with_its_line() {
        let problems = tree(MAP, &[("README.md", "ok\n[x](docs/nothing.md#a) [y](docs/adr)\n")]);
        assert_eq!(problems, ["README.md:2: `docs/nothing.md#a` leads nowhere"]);
    }

    #[test]
    fn a_path_that_is_not_there_is_found_in_a_guide() {
        let text = "see `crates/model/src` and `crates/model` and `fuzz/<target>`\n";
        let problems = tree(MAP, &[("CONTRIBUTING.md", text)]);
        assert_eq!(problems, ["CONTRIBUTING.md:1: `crates/model/src` is not there"]);
    }

    #[test]
    fn links_elsewhere_and_code_are_left_alone() {
        let text = "[x](https://example.com/a.md) [y](#here)\n```\na[1](nothing)\n```\n";
        assert!(tree(MAP, &[("README.md", text)]).is_empty());
    }
}
