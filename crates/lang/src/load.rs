//! From directories to a tree of modules. Files come through [`SourceTree`]; nothing here opens one.
//!
//! [`load_module`] reads one directory, [`load_tree`] follows the module calls from there.

mod arguments;
mod files;
mod providers;
mod source;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_model::text::Str;
use groma_model::value::Value;
use groma_syntax::ast::Expr;

use crate::config::Module;
use crate::config::test_file::{TestFile, TestModule};
use crate::config::version::VersionConstraint;

pub use files::{is_ignored, read_body};
pub use source::Source as ModuleSource;

/// Where configuration files come from.
pub trait SourceTree {
    /// Names of the regular files (links followed) of a directory, in any order.
    fn list_files(&self, dir: &Path) -> io::Result<Vec<String>>;

    /// The bytes of a file.
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The directory of a module that is called. Asked right before the module is read, callers before those that they call.
    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics>;
}

/// A call of a module, as far as it must be understood to find the module.
#[derive(Debug, Clone, Copy)]
pub struct ModuleRequest<'a> {
    /// The names of the calls on the way from the root, this one last.
    pub path: &'a [Str],
    /// The directory of the module that calls.
    pub caller_dir: &'a Path,
    /// `source`, evaluated.
    pub source: &'a str,
    /// What kind of source that is.
    pub kind: &'a ModuleSource,
    /// `version`, evaluated.
    pub version: Option<&'a VersionConstraint>,
    /// The header of the call.
    pub call_span: Span,
    /// The expression of `source`.
    pub source_span: Span,
}

impl ModuleRequest<'_> {
    /// The directory that a local source means. None if it is no local source.
    pub fn local_dir(&self) -> Option<PathBuf> {
        match self.kind {
            ModuleSource::Local(relative) => Some(files::clean(&self.caller_dir.join(relative))),
            ModuleSource::Registry | ModuleSource::Remote => None,
        }
    }

    /// What to say if the module is not there yet.
    pub fn not_installed(&self) -> Diagnostic {
        let detail = "This module is not yet installed. Run \"groma init\" to install all modules required by this \
                      configuration.";
        Diagnostic::error("Module not installed", detail).at(self.call_span)
    }
}

/// Evaluates expressions whose values are needed before anything else: of module sources and versions, of provider `for_each`.
pub trait StaticEvaluator {
    /// The value of `expr` in the module at the end of `chain`. `subject` names what it is for, e.g. `module.a.source`.
    fn evaluate(&self, chain: &ModuleChain<'_>, expr: &Expr, subject: &str) -> (Value, Diagnostics);
}

/// A module and the calls that lead to it from the root.
#[derive(Clone, Copy)]
pub struct ModuleChain<'a> {
    /// The module.
    pub module: &'a Module,
    /// The name of the call in the parent, and the parent. None for the root.
    pub caller: Option<(&'a Str, &'a ModuleChain<'a>)>,
}

/// A module in the tree.
#[derive(Debug, Clone)]
pub struct ModuleNode {
    /// The names of the calls on the way from the root.
    pub path: Vec<Str>,
    /// What is declared in it. Shared by all calls of the same directory.
    pub module: Arc<Module>,
    /// The modules that it calls, by the name of the call.
    pub children: BTreeMap<Str, ModuleNode>,
    /// `source` of the call; None for the root.
    pub source: Option<Str>,
    /// Whether it was fetched from elsewhere, or belongs to a module that was.
    pub remote: bool,
    /// The header of the call; None for the root.
    pub call_span: Option<Span>,
}

/// All modules of a configuration.
#[derive(Debug, Clone)]
pub struct ModuleTree {
    /// The root module.
    pub root: ModuleNode,
}

/// Reads the module in a directory. The module is empty or incomplete if there are errors.
pub fn load_module(map: &mut SourceMap, tree: &dyn SourceTree, dir: &Path) -> (Module, Diagnostics) {
    let loaded = files::load_dir(map, tree, dir);
    let diagnostics = loaded.all_diagnostics();
    (loaded.module, diagnostics)
}

/// Checks what must be known about a module before anything else: where its calls lead, and its provider instances.
/// For a module that is not followed any further, because something else is wrong with it.
pub fn check_statics(module: &Module, tree: &dyn SourceTree, statics: &dyn StaticEvaluator) -> Diagnostics {
    tree::check_statics(module, tree, statics)
}

/// Checks the test files beside a root module and in its directory for tests, relative to it.
pub fn check_test_files(map: &mut SourceMap, tree: &dyn SourceTree, dir: &Path, test_dir: &Path) -> Diagnostics {
    load_test_files(map, tree, dir, test_dir).1
}

/// Reads the test files beside a root module and in its directory for tests, by path.
pub fn load_test_files(
    map: &mut SourceMap,
    tree: &dyn SourceTree,
    dir: &Path,
    test_dir: &Path,
) -> (BTreeMap<PathBuf, TestFile>, Diagnostics) {
    let (mut files, mut diagnostics) = files::load_tests(map, tree, dir);
    let inner = files::clean(&dir.join(test_dir));
    if inner != files::clean(dir) {
        let (more, found) = files::load_tests(map, tree, &inner);
        files.extend(more);
        diagnostics.extend(found);
    }
    (files.into_iter().collect(), diagnostics)
}

/// The directory of the module that a run of a test file names. `path` is how the installed module is known.
pub fn locate_test_module(
    tree: &dyn SourceTree,
    root_dir: &Path,
    path: &[Str],
    module: &TestModule,
) -> Result<PathBuf, Diagnostics> {
    let kind = source::parse(&module.source, module.version.is_some())
        .map_err(|problem| tree::bad_source(&module.source, problem, module.source_span))?;
    tree.locate(&ModuleRequest {
        path,
        caller_dir: root_dir,
        source: &module.source,
        kind: &kind,
        version: module.version.as_ref(),
        call_span: module.header,
        source_span: module.source_span,
    })
}

/// Follows the module calls of a root module.
pub fn load_tree(
    map: &mut SourceMap,
    tree: &dyn SourceTree,
    root: Module,
    statics: &dyn StaticEvaluator,
) -> (ModuleTree, Diagnostics) {
    let (root, mut diagnostics) = tree::build(map, tree, root, statics);
    if !diagnostics.has_errors() {
        providers::validate(&root, &mut diagnostics);
    }
    if !diagnostics.has_errors() {
        arguments::check(&root, &mut diagnostics);
    }
    if !diagnostics.has_errors() {
        diagnostics.extend(providers::missing(&root));
    }
    (ModuleTree { root }, diagnostics)
}
