//! The rules of a tree of modules: which files belong to it, and reading each of them once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_lang::load::{ModuleNode, ModuleTree, SourceTree, is_ignored, read_body};
use groma_model::address::{Module, ResourceMode};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_syntax::body::Block;
use sha2::{Digest, Sha256};

use crate::Rules;
use crate::file::{self, Said};
use crate::pattern::Pattern;
use crate::replace::catalogue;
use crate::replace::decode::{self, Decoded};
use crate::replace::problem::Code;
use crate::replace::{RuleFile, reach};

/// Endings of files with rules.
const ENDINGS: [&str; 2] = [".groma.hcl", ".groma.json"];

/// Whether a file name means a file with rules.
pub fn is_rule_file(name: &str) -> bool {
    !is_ignored(name) && ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Reads the rules beside the modules of a tree. What is wrong with the files is told once, however often a module is called; that
/// a pattern means nothing that is declared is a warning.
pub fn load(map: &mut SourceMap, files: &dyn SourceTree, tree: &ModuleTree) -> (Rules, Diagnostics) {
    let mut loading = Loading {
        map,
        files,
        directories: BTreeMap::new(),
        rules: Rules::default(),
        unused: BTreeMap::new(),
        diagnostics: Diagnostics::new(),
    };
    let mut modules = vec![&tree.root];
    // Callers come before those that they call.
    while let Some(node) = modules.pop() {
        loading.module(node);
        modules.extend(node.children.values().rev());
    }
    loading.check_use(&tree.root);
    loading.diagnostics.extend(reach::check(&loading.rules.replace, &tree.root));
    let Loading { mut rules, mut diagnostics, unused, .. } = loading;
    if rules.replace.settings.catalogue != Some(false) {
        rules.replace.catalogue = Some(catalogue::VERSION);
    }
    diagnostics.extend(unused.into_iter().map(|(label, pattern)| means_nothing(&pattern, label)));
    (rules, diagnostics)
}

struct Loading<'a> {
    map: &'a mut SourceMap,
    files: &'a dyn SourceTree,
    /// What the files of a directory say.
    directories: BTreeMap<PathBuf, Arc<Directory>>,
    rules: Rules,
    /// Patterns that have not been found to mean anything.
    unused: BTreeMap<Span, Pattern>,
    diagnostics: Diagnostics,
}

/// What the files of a directory say.
#[derive(Default)]
struct Directory {
    said: Vec<Said>,
    replace: Decoded,
}

impl Loading<'_> {
    fn module(&mut self, node: &ModuleNode) {
        let dir = &node.module.source_dir;
        let directory = match self.directories.get(dir) {
            Some(directory) => Arc::clone(directory),
            None => self.directory(dir, node.path.is_empty()),
        };
        let module = Module::new(node.path.iter().cloned());
        let dir = Arc::new(dir.clone());
        for rule in &directory.said {
            rule.put(&mut self.rules, &module, &dir);
        }
        self.rules.replace.add(&directory.replace, &module);
    }

    fn directory(&mut self, dir: &Path, is_root: bool) -> Arc<Directory> {
        // That the directory can be read was seen when the module was.
        let mut names = self.files.list_files(dir).unwrap_or_default();
        names.retain(|name| is_rule_file(name));
        names.sort_unstable();
        let (mut said, mut replacements) = (Vec::new(), Vec::new());
        for name in names {
            let (body, found) = read_body(self.map, self.files, dir, &name);
            self.diagnostics.extend(found);
            if let Some(body) = body {
                let (decoded, found) = file::decode(self.map, &body);
                self.diagnostics.extend(found);
                said.extend(decoded.said);
                if let Some(block) = decoded.replacements.first() {
                    self.rules.replace.files.push(rule_file(self.map, block.span));
                }
                replacements.extend(decoded.replacements);
            }
        }
        let replace = self.replacements(&replacements, is_root);
        self.refuse_duplicates(&mut said);
        self.unused.extend(said.iter().map(|rule| {
            let (_, pattern, label) = rule.subject();
            (label, pattern.clone())
        }));
        let directory = Arc::new(Directory { said, replace });
        self.directories.insert(dir.to_owned(), Arc::clone(&directory));
        directory
    }

    fn replacements(&mut self, blocks: &[Block], is_root: bool) -> Decoded {
        let (mut replace, found) = decode::directory(self.map, blocks);
        self.diagnostics.extend(found);
        self.rules.replace.lints.extend(std::mem::take(&mut replace.lints));
        if let Some((_, place)) = replace.settings.as_ref().filter(|_| !is_root) {
            let detail = "Only the root module can say what becomes of rules: a module that is called is not asked whether they are heeded. \
                          Move this block to the root module.";
            self.diagnostics.push(Code(1122).error("Settings outside of the root module", detail).at(*place));
        }
        replace
    }

    fn refuse_duplicates(&mut self, said: &mut Vec<Said>) {
        let mut first: BTreeMap<(&str, Pattern), Span> = BTreeMap::new();
        said.retain(|rule| {
            let (kind, pattern, label) = rule.subject();
            let earlier = *first.entry((kind, pattern.clone())).or_insert(label);
            if earlier == label {
                return true;
            }
            let place = format!("{}:{}", self.map.file(earlier.file).name(), self.map.start(earlier).line);
            let detail = format!("There is a {kind} block for \"{pattern}\" already, at {place}.");
            self.diagnostics.push(Diagnostic::error("Duplicate rule", detail).at(label));
            false
        });
    }

    /// Crosses off what the resources of a module, and of those that it calls, use.
    fn check_use(&mut self, root: &ModuleNode) {
        let mut modules = vec![root];
        while let Some(node) = modules.pop() {
            let module = Module::new(node.path.iter().cloned());
            for resource in node.module.resources_of(ResourceMode::Managed) {
                let Rules { waits, on_create_error, .. } = &self.rules;
                let waits: Vec<Span> = waits.about(&module, &resource.key).collect();
                let errors: Vec<Span> = on_create_error.about(&module, &resource.key).collect();
                for label in waits.into_iter().chain(errors) {
                    self.unused.remove(&label);
                }
            }
            modules.extend(node.children.values());
        }
    }
}

fn means_nothing(pattern: &Pattern, label: Span) -> Diagnostic {
    let detail = format!(
        "No resource that is declared matches \"{pattern}\". Addresses are relative to the module whose directory the file is in."
    );
    Diagnostic::warning("Rule matches nothing", detail).at(label)
}

fn rule_file(map: &SourceMap, place: Span) -> RuleFile {
    let file = map.file(place.file);
    let mut sha256 = String::with_capacity(64);
    for byte in Sha256::digest(file.text().as_bytes()) {
        for digit in [byte >> 4, byte & 15] {
            sha256.extend(char::from_digit(digit.into(), 16));
        }
    }
    RuleFile { path: file.name().to_owned(), sha256 }
}
