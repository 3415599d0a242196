//! Every crate's manifest: lints and versions come from the workspace, once.

use std::path::Path;

use toml::{Table, Value};

use super::{Problem, SourceFile};

/// Keys of `[package]` that every crate takes from the workspace.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license"];

/// Checks every `Cargo.toml` but the root's.
pub(super) fn check(files: &[SourceFile]) -> Vec<Problem> {
    let manifests = files.iter().filter(|file| {
        file.path.file_name().is_some_and(|name| name == "Cargo.toml")
            && file.path.parent().is_some_and(|parent| parent != Path::new(""))
    });
    manifests.flat_map(|file| check_manifest(&file.path, &file.text)).collect()
}

fn check_manifest(path: &Path, text: &str) -> Vec<Problem> {
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Problem::in_file(path, format!("not TOML: {error}"))],
    };
    if manifest.contains_key("workspace") {
        return Vec::new(); // A tool that stands alone, on purpose: it has no workspace to inherit from.
    }
    let mut problems = Vec::new();
    if !from_workspace(manifest.get("lints")) {
        problems.push(Problem::in_file(path, "add `[lints] workspace = true`"));
    }
    for key in INHERITED {
        let value = manifest.get("package").and_then(|package| package.get(key));
        if !from_workspace(value) {
            let message = format!("`{key}` must come from the workspace: `{key}.workspace = true`");
            problems.push(Problem::in_file(path, message));
        }
    }
    let documented = manifest.get("package").and_then(|package| package.get("description"));
    if documented.is_none() {
        problems.push(Problem::in_file(path, "`description` is missing: say what the crate is for"));
    }
    for (section, dependencies) in dependency_tables(&manifest) {
        for (name, dependency) in dependencies {
            if !from_workspace(Some(dependency)) {
                let message = format!("{section}: `{name}` must come from `[workspace.dependencies]`");
                problems.push(Problem::in_file(path, message));
            }
        }
    }
    problems
}

/// Every table of dependencies, also those of a `[target.…]`.
fn dependency_tables(manifest: &Table) -> Vec<(String, &Table)> {
    const SECTIONS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let mut tables = Vec::new();
    for section in SECTIONS {
        if let Some(table) = manifest.get(section).and_then(Value::as_table) {
            tables.push((section.to_owned(), table));
        }
        let targets = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
        for (target, value) in targets {
            if let Some(table) = value.get(section).and_then(Value::as_table) {
                tables.push((format!("target.{target}.{section}"), table));
            }
        }
    }
    tables
}

fn from_workspace(value: Option<&Value>) -> bool {
    value.and_then(|value| value.get("workspace")).and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        [package]
        name = "groma-x"
        description = "An example"
        version.workspace = true
        edition.workspace = true
        rust-version.workspace = true
        license.workspace = true
        [dependencies]
        serde.workspace = true
        [lints]
        workspace = true
    "#;

    fn problems(text: &str) -> Vec<String> {
        let files = [SourceFile::new("crates/x/Cargo.toml", text)];
        check(&files).into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn a_good_manifest_is_silent() {
        assert_eq!(problems(GOOD), Vec::<String>::new());
    }

    #[test]
    fn lints_must_be_inherited() {
        let text = GOOD.replace("[lints]\n        workspace = true", "");
        assert_eq!(problems(&text), ["add `[lints] workspace = true`"]);
    }

    #[test]
    fn a_version_of_ones_own_is_refused() {
        let text = GOOD.replace("serde.workspace = true", "serde = \"1\"");
        assert_eq!(problems(&text), ["dependencies: `serde` must come from `[workspace.dependencies]`"]);
    }

    #[test]
    fn dependencies_of_a_target_count_too() {
        let text = format!("{GOOD}\n[target.'cfg(unix)'.dependencies]\nnix = \"1\"\n");
        assert_eq!(problems(&text).len(), 1);
    }

    #[test]
    fn the_edition_is_inherited() {
        let text = GOOD.replace("edition.workspace = true", "edition = \"2021\"");
        assert_eq!(problems(&text).len(), 1);
    }

    #[test]
    fn a_tool_with_a_workspace_of_its_own_stands_alone() {
        assert!(problems("[package]\nname = \"tool\"\n[workspace]\n").is_empty());
    }

    #[test]
    fn the_root_manifest_is_not_a_crate() {
        assert!(check(&[SourceFile::new("Cargo.toml", "[workspace]")]).is_empty());
    }
}
