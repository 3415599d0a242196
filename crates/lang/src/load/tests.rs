//! Modules from texts: what is read, and what is wrong.

mod blocks;
mod overrides;
mod providers;
mod trees;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_syntax::ast::Expr;

use super::{ModuleChain, ModuleRequest, ModuleTree, SourceTree, StaticEvaluator, load_module, load_tree};
use crate::config::Module;
use crate::eval::{EmptyScope, evaluate};

/// Files in memory.
struct Texts(BTreeMap<PathBuf, Vec<u8>>);

impl Texts {
    fn new(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec())).collect())
    }
}

impl SourceTree for Texts {
    fn list_files(&self, dir: &Path) -> io::Result<Vec<String>> {
        let dir = if dir == Path::new(".") { Path::new("") } else { dir };
        let inside: Vec<&PathBuf> = self.0.keys().filter(|path| path.starts_with(dir)).collect();
        if inside.is_empty() && !dir.as_os_str().is_empty() {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        let direct = inside.into_iter().filter(|path| path.parent() == Some(dir));
        Ok(direct.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect())
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.get(path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics> {
        let installed = (request.path == [Str::new("installed")]).then(|| PathBuf::from("cache"));
        request.local_dir().or(installed).ok_or_else(|| request.not_installed().into())
    }
}

/// Knows constants only.
struct Constants;

impl StaticEvaluator for Constants {
    fn evaluate(&self, _: &ModuleChain<'_>, expr: &Expr, _: &str) -> (Value, Diagnostics) {
        evaluate(expr, &EmptyScope)
    }
}

/// `error main.tf:3 Summary`
fn shown(map: &SourceMap, diagnostic: &Diagnostic) -> String {
    let severity = if diagnostic.is_error() { "error" } else { "warning" };
    match diagnostic.subject {
        Some(span) => {
            format!("{severity} {}:{} {}", map.file(span.file).name(), map.start(span).line, diagnostic.summary)
        }
        None => format!("{severity} {}", diagnostic.summary),
    }
}

fn load(files: &[(&str, &str)]) -> (Option<ModuleTree>, Module, Vec<String>) {
    let texts = Texts::new(files);
    let mut map = SourceMap::new();
    let (module, mut diagnostics) = load_module(&mut map, &texts, Path::new("."));
    let mut tree = None;
    if !diagnostics.has_errors() {
        let (found, more) = load_tree(&mut map, &texts, module.clone(), &Constants);
        diagnostics.extend(more);
        tree = Some(found);
    }
    (tree, module, diagnostics.iter().map(|diagnostic| shown(&map, diagnostic)).collect())
}

/// Loads files and compares what is wrong with them, in any order.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let (_, _, mut found) = load(files);
    let mut expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

/// As [`check`], for `main.tf` alone.
#[track_caller]
fn check_main(text: &str, expected: &[&str]) {
    let expected: Vec<String> = expected
        .iter()
        .map(|line| {
            let (severity, rest) = line.split_once(' ').unwrap();
            if rest.starts_with(|c: char| c.is_ascii_digit()) {
                format!("{severity} main.tf:{rest}")
            } else {
                (*line).to_owned()
            }
        })
        .collect();
    check(&[("main.tf", text)], &expected.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Loads `main.tf`, which must be without fault.
#[track_caller]
fn module(text: &str) -> Module {
    let (_, module, found) = load(&[("main.tf", text)]);
    assert_eq!(found, Vec::<String>::new());
    module
}
