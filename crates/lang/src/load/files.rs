//! The files of one directory: which of them belong to the module, and reading them.

use std::path::{Path, PathBuf};

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_syntax::body::Body;
use groma_syntax::{parse_json, parse_native};

use super::SourceTree;
use crate::config::Module;
use crate::config::file::{self, File};
use crate::config::test_file::{self, TestFile};

/// A module and what is wrong with it.
#[derive(Debug, Clone, Default)]
pub(super) struct LoadedModule {
    pub(super) module: Module,
    /// Whether the directory could not be read at all.
    pub(super) unreadable: bool,
    /// What is wrong with the texts.
    pub(super) syntax: Diagnostics,
    /// What is wrong with the declarations.
    pub(super) declarations: Diagnostics,
}

impl LoadedModule {
    /// Everything that is wrong.
    pub(super) fn all_diagnostics(&self) -> Diagnostics {
        self.syntax.iter().chain(&self.declarations).cloned().collect()
    }
}

/// Endings of configuration files. Of two files that differ only there, the second hides the first.
const ENDINGS: [(&str, &str); 2] = [(".tf", ".tofu"), (".tf.json", ".tofu.json")];

/// Whether a file name means an editor's or a hidden file.
pub fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

fn ending(name: &str) -> Option<&'static str> {
    ENDINGS.iter().flat_map(|(plain, tofu)| [*plain, *tofu]).find(|ending| name.ends_with(ending))
}

/// Whether the same file exists for OpenTofu alone. `names` are sorted.
fn is_hidden(name: &str, names: &[String], endings: &[(&str, &str)]) -> bool {
    endings.iter().any(|(plain, tofu)| {
        name.strip_suffix(plain).is_some_and(|base| names.binary_search(&format!("{base}{tofu}")).is_ok())
    })
}

/// Names of primary and of override files, each in the order in which they are read.
fn config_files(names: Vec<String>) -> (Vec<String>, Vec<String>) {
    let mut names: Vec<String> = names.into_iter().filter(|name| ending(name).is_some() && !is_ignored(name)).collect();
    names.sort_unstable();
    let shown: Vec<String> = names.iter().filter(|name| !is_hidden(name, &names, &ENDINGS)).cloned().collect();
    shown.into_iter().partition(|name| {
        let base = ending(name).and_then(|ending| name.strip_suffix(ending)).unwrap_or(name);
        base != "override" && !base.ends_with("_override")
    })
}

/// Reads all files of a directory.
pub(super) fn load_dir(map: &mut SourceMap, tree: &dyn SourceTree, dir: &Path) -> LoadedModule {
    let Ok(names) = tree.list_files(dir) else {
        let detail = format!("Module directory {} does not exist or cannot be read.", dir.display());
        let problem = Diagnostic::error("Failed to read module directory", detail);
        return LoadedModule { unreadable: true, syntax: problem.into(), ..LoadedModule::default() };
    };
    let (primary, overrides) = config_files(names);
    let mut reading = Reading { map, tree, dir, refused: Diagnostics::new(), loaded: LoadedModule::default() };
    let primary = reading.read_all(&primary, false);
    let overrides = reading.read_all(&overrides, true);
    let Reading { map, refused, mut loaded, .. } = reading;
    let (module, diagnostics) = Module::assemble(map, primary, overrides);
    loaded.declarations.extend(diagnostics);
    loaded.module = Module { source_dir: dir.to_owned(), ..module };
    // A module for another version may be written in ways that only look wrong.
    if !refused.is_empty() {
        loaded.module.module_calls.clear();
        loaded.module.provider_configs.clear();
        loaded.syntax = Diagnostics::new();
        loaded.declarations = refused;
    }
    loaded
}

/// Endings of test files, as [`ENDINGS`].
const TEST_ENDINGS: [(&str, &str); 2] = [(".tftest.hcl", ".tofutest.hcl"), (".tftest.json", ".tofutest.json")];

/// Reads the test files of a directory, by path. A directory that does not exist has none.
pub(super) fn load_tests(
    map: &mut SourceMap,
    tree: &dyn SourceTree,
    dir: &Path,
) -> (Vec<(PathBuf, TestFile)>, Diagnostics) {
    let Ok(mut names) = tree.list_files(dir) else { return (Vec::new(), Diagnostics::new()) };
    names.retain(|name| {
        let is_test = TEST_ENDINGS.iter().any(|(plain, tofu)| name.ends_with(plain) || name.ends_with(tofu));
        is_test && !is_ignored(name)
    });
    names.sort_unstable();
    let shown: Vec<String> = names.iter().filter(|name| !is_hidden(name, &names, &TEST_ENDINGS)).cloned().collect();
    let mut reading = Reading { map, tree, dir, refused: Diagnostics::new(), loaded: LoadedModule::default() };
    let mut diagnostics = Diagnostics::new();
    let mut files = Vec::new();
    for name in &shown {
        if let Some(body) = reading.read(name) {
            let (file, found) = test_file::decode(reading.map, &body);
            diagnostics.extend(found);
            files.push((clean(&dir.join(name)), file));
        }
    }
    reading.loaded.syntax.extend(diagnostics);
    (files, reading.loaded.syntax)
}

/// Reads one file that is not part of a module: rules, for example. None if it cannot be read.
pub fn read_body(map: &mut SourceMap, tree: &dyn SourceTree, dir: &Path, name: &str) -> (Option<Body>, Diagnostics) {
    let mut reading = Reading { map, tree, dir, refused: Diagnostics::new(), loaded: LoadedModule::default() };
    let body = reading.read(name);
    (body, reading.loaded.syntax)
}

struct Reading<'a> {
    map: &'a mut SourceMap,
    tree: &'a dyn SourceTree,
    dir: &'a Path,
    refused: Diagnostics,
    loaded: LoadedModule,
}

impl Reading<'_> {
    fn read_all(&mut self, names: &[String], is_override: bool) -> Vec<File> {
        let mut files = Vec::with_capacity(names.len());
        for name in names {
            let Some(body) = self.read(name) else { continue };
            let decoded = file::decode(self.map, &body, is_override);
            self.loaded.declarations.extend(decoded.diagnostics);
            self.refused.extend(decoded.refused);
            files.push(decoded.file);
        }
        files
    }

    fn read(&mut self, name: &str) -> Option<Body> {
        let path = clean(&self.dir.join(name));
        let Ok(bytes) = self.tree.read_file(&path) else {
            let detail = format!("The file {:?} could not be read.", path.display().to_string());
            self.loaded.syntax.push(Diagnostic::error("Failed to read file", detail));
            return None;
        };
        Some(self.parse(&path, bytes))
    }

    fn parse(&mut self, path: &Path, bytes: Vec<u8>) -> Body {
        let name = path.display().to_string();
        let is_json = path.extension().is_some_and(|ending| ending == "json");
        let (text, broken) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                (String::from_utf8_lossy(error.as_bytes()).into_owned(), Some(at))
            }
        };
        let file = self.map.add(name, text);
        let parsed = if is_json { parse_json(self.map, file) } else { parse_native(self.map, file) };
        match broken {
            // The replaced bytes would be complained about once more.
            Some(at) => self.loaded.syntax.push(
                Diagnostic::error(
                    "Invalid character encoding",
                    "All input files must be UTF-8 encoded. Ensure that UTF-8 encoding is selected in your editor.",
                )
                .at(Span::new(file, at, at + '\u{fffd}'.len_utf8())),
            ),
            None => self.loaded.syntax.extend(parsed.diagnostics),
        }
        parsed.value
    }
}

/// A path without `.` and, where possible, without `..`.
pub(super) fn clean(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut cleaned: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match (part, cleaned.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                cleaned.pop();
            }
            (Component::ParentDir, Some(Component::RootDir)) => {}
            _ => cleaned.push(part),
        }
    }
    if cleaned.is_empty() { PathBuf::from(".") } else { cleaned.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(names: &[&str]) -> (Vec<String>, Vec<String>) {
        config_files(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn tofu_files_hide_terraform_files_of_the_same_syntax() {
        let (primary, overrides) =
            split(&["b.tf", "a.tf", "a.tofu", "c.tf.json", "c.tofu.json", "d.tofu", "d.tf.json"]);
        assert_eq!(primary, ["a.tofu", "b.tf", "c.tofu.json", "d.tf.json", "d.tofu"]);
        assert!(overrides.is_empty());
    }

    #[test]
    fn override_files_come_apart() {
        let (primary, overrides) = split(&["z_override.tf", "override.tf.json", "main.tf", "nooverride.tf"]);
        assert_eq!(primary, ["main.tf", "nooverride.tf"]);
        assert_eq!(overrides, ["override.tf.json", "z_override.tf"]);
    }

    #[test]
    fn editor_files_are_ignored() {
        let (primary, overrides) = split(&[".hidden.tf", "a.tf~", "#b.tf#", "x.txt", "t.tftest.hcl", "x.tf.json.bak"]);
        assert!(primary.is_empty() && overrides.is_empty());
    }

    #[test]
    fn paths_are_cleaned() {
        assert_eq!(clean(Path::new("./a/../b/./c.tf")), Path::new("b/c.tf"));
        assert_eq!(clean(Path::new("../../x")), Path::new("../../x"));
        assert_eq!(clean(Path::new("a/..")), Path::new("."));
    }
}
