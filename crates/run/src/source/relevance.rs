//! What of a tree of files matters to a root module. A function of the files: nothing is opened but through [`Files`].
//!
//! It is never too little. A module has its directory and those of local modules that it calls; expressions name files through `path.module` and
//! its like, as arguments of functions that read files, or as texts that happen to be paths. What has dynamic parts stands for the directory of
//! its static beginning. Where a function reads a file nobody can tell from the text, or the text cannot be read, everything matters.

mod paths;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use groma_lang::load::is_ignored;
use groma_model::span::{SourceMap, Span};
use groma_model::text::Str;
use groma_syntax::ast::{Call, Expr, ExprKind, TemplatePart};
use groma_syntax::body::{Block, Body, BodySchema};
use groma_syntax::{parse_json, parse_native, parse_template};

use paths::{Named, Scope, joined};

/// Functions that read the file that their first argument names.
const FILE_FUNCTIONS: [&str; 10] = [
    "file",
    "fileexists",
    "filebase64",
    "filebase64gzip",
    "filebase64sha256",
    "filebase64sha512",
    "filemd5",
    "filesha1",
    "filesha256",
    "filesha512",
];

/// No configuration has more modules than that in one tree of files.
const MOST_MODULES: usize = 1_000;

/// A tree of files, by paths with slashes and without `.` and `..`.
pub trait Files {
    /// All paths, in order.
    fn paths(&self) -> Vec<&str>;

    /// The content of one. None if it is not there, or cannot be read.
    fn read(&self, path: &str) -> Option<Vec<u8>>;
}

/// What matters of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relevance {
    /// All of it, and why.
    Everything(String),
    /// These files.
    Files(BTreeSet<String>),
}

/// What is asked about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// The directory of the root module; `.` or empty for the tree's own.
    pub root: String,
    /// Files with values of variables, relative to the tree.
    pub var_files: Vec<String>,
    /// Whether programs may be started. They read what they like below the modules.
    pub programs: bool,
}

/// Finds out what matters of a tree.
pub fn relevance(files: &dyn Files, question: &Question) -> Relevance {
    let all: BTreeSet<&str> = files.paths().into_iter().collect();
    let root = joined("", &question.root).unwrap_or_default();
    let mut finding = Finding { files, all: &all, root: root.clone(), found: BTreeSet::new(), seen: BTreeSet::new() };
    for path in &question.var_files {
        if let Some(path) = joined("", path) {
            finding.found.insert(path);
        }
    }
    let mut pending = vec![root];
    while let Some(dir) = pending.pop() {
        if !finding.seen.insert(dir.clone()) {
            continue;
        }
        if finding.seen.len() > MOST_MODULES {
            return Relevance::Everything(format!("there are more than {MOST_MODULES} modules"));
        }
        match finding.module(&dir, question.programs) {
            Ok(called) => pending.extend(called),
            Err(why) => return Relevance::Everything(why),
        }
    }
    let found = finding.found;
    Relevance::Files(found.into_iter().filter(|path| all.contains(path.as_str())).collect())
}

struct Finding<'a> {
    files: &'a dyn Files,
    all: &'a BTreeSet<&'a str>,
    root: String,
    found: BTreeSet<String>,
    seen: BTreeSet<String>,
}

impl Finding<'_> {
    /// What matters to the module in a directory; gives those that it calls.
    fn module(&mut self, dir: &str, with_all_below: bool) -> Result<Vec<String>, String> {
        let names = self.directly_in(dir);
        self.found.extend(names.iter().cloned());
        if with_all_below {
            self.add_directory(dir);
        }
        let mut map = SourceMap::new();
        let mut bodies = Vec::new();
        for path in names.iter().filter(|path| is_configuration(path)) {
            let read = self.files.read(path).and_then(|bytes| String::from_utf8(bytes).ok());
            let text = read.ok_or_else(|| format!("{path} is not text"))?;
            let file = map.add(path.as_str(), text);
            let parsed = if has_ending(path, "json") { parse_json(&map, file) } else { parse_native(&map, file) };
            if parsed.diagnostics.has_errors() {
                return Err(format!("{path} cannot be read"));
            }
            bodies.push(parsed.value);
        }
        let calls: Vec<(Span, Option<Str>)> = bodies.iter().flat_map(calls).collect();
        // Where modules are is said relative to the module, and not to where everything happens.
        let of_modules: Vec<Span> = calls.iter().map(|(span, _)| *span).collect();
        let (locals, root) = (locals(&bodies), self.root.clone());
        let scope = Scope { module: Some(dir), root: &root, locals: &locals };
        let mut problem = None;
        for body in &bodies {
            body.each_expr(&mut |expr| {
                let follow = problem.is_none() && !of_modules.contains(&expr.span);
                follow && self.expression(expr, &scope).unwrap_or_else(|found| problem.replace(found).is_some())
            });
        }
        if let Some(problem) = problem {
            return Err(problem);
        }
        let mut called = Vec::new();
        for (_, source) in calls {
            let source = source.ok_or_else(|| format!("nobody can tell from the text which modules {dir:?} calls"))?;
            let is_local = source.starts_with("./") || source.starts_with("../");
            called.extend(is_local.then(|| joined(dir, &source)).flatten());
        }
        Ok(called)
    }

    /// What an expression names. False if everything inside has been seen.
    fn expression(&mut self, expr: &Expr, scope: &Scope<'_>) -> Result<bool, String> {
        match &expr.kind {
            ExprKind::Call(call) => self.call(call, scope)?,
            ExprKind::Template(template) => {
                let named = scope.named(expr);
                let is_path = named != Named::Nothing;
                // Whoever has a path may do anything with it; and a text may be the path of something for a provider.
                match named {
                    Named::Whole(path) if self.is_worth_adding(&template.parts, &path) => self.add(&path),
                    Named::Beginning { directory, from_module: true } => self.add_directory(&directory),
                    _ => {}
                }
                self.parts(&template.parts, is_path, scope)?;
                return Ok(false);
            }
            ExprKind::Traversal(_) => {
                if let Named::Whole(path) = scope.named(expr) {
                    self.add(&path);
                }
            }
            _ => {}
        }
        Ok(true)
    }

    /// Texts such as `.` and `..` are rarely paths. With a slash, they are.
    fn is_worth_adding(&self, parts: &[TemplatePart], path: &str) -> bool {
        let is_above = path.is_empty() || self.root == path || self.root.starts_with(&format!("{path}/"));
        let has_slash = |part: &TemplatePart| match part {
            TemplatePart::Literal { text, .. } => text.contains('/'),
            _ => true,
        };
        !is_above || parts.iter().any(has_slash)
    }

    /// What is inside of a template. A reference that is part of its path has been seen with it.
    fn parts(&mut self, parts: &[TemplatePart], is_path: bool, scope: &Scope<'_>) -> Result<(), String> {
        for part in parts {
            match part {
                TemplatePart::Literal { .. } => {}
                TemplatePart::Interpolation { expr, .. } => {
                    if !(is_path && matches!(expr.kind, ExprKind::Traversal(_))) {
                        self.inside(expr, scope)?;
                    }
                }
                TemplatePart::If { condition, then, otherwise, .. } => {
                    self.inside(condition, scope)?;
                    self.parts(then, false, scope)?;
                    self.parts(otherwise, false, scope)?;
                }
                TemplatePart::For { collection, body, .. } => {
                    self.inside(collection, scope)?;
                    self.parts(body, false, scope)?;
                }
            }
        }
        Ok(())
    }

    fn inside(&mut self, expr: &Expr, scope: &Scope<'_>) -> Result<(), String> {
        let mut problem = None;
        expr.each(&mut |expr| {
            let follow = problem.is_none();
            follow && self.expression(expr, scope).unwrap_or_else(|found| problem.replace(found).is_some())
        });
        problem.map_or(Ok(()), Err)
    }

    /// What a function reads.
    fn call(&mut self, call: &Call, scope: &Scope<'_>) -> Result<(), String> {
        let name = call.name.as_str().strip_prefix("core::").unwrap_or(call.name.as_str());
        let (reads, is_template, is_set) = (FILE_FUNCTIONS.contains(&name), name == "templatefile", name == "fileset");
        let Some(first) = call.args.first().filter(|_| reads || is_template || is_set) else { return Ok(()) };
        let unclear = || format!("nobody can tell from the text which file {name}() reads");
        match (scope.named(first), is_set) {
            (Named::Nothing, _) => return Err(unclear()),
            (Named::Whole(path), false) => {
                self.add(&path);
                if is_template {
                    self.template(&path)?;
                }
            }
            (Named::Beginning { directory, .. }, false) => {
                self.add_directory(&directory);
                let templates = if is_template { self.below(&directory) } else { Vec::new() };
                for path in templates {
                    self.template(&path)?;
                }
            }
            (Named::Whole(directory) | Named::Beginning { directory, .. }, true) => {
                let pattern = call.args.get(1).and_then(Expr::as_constant_str).ok_or_else(unclear)?;
                let fixed = pattern.as_str().split(['*', '?', '[', '{']).next().unwrap_or_default();
                let above = fixed.rsplit_once('/').map_or("", |(above, _)| above);
                // The directory itself, as well: what is not there today may be tomorrow.
                self.add_directory(&joined(&directory, above).ok_or_else(unclear)?);
            }
        }
        Ok(())
    }

    /// What the template in a file reads. It sees nothing of the module but what it is given.
    fn template(&mut self, path: &str) -> Result<(), String> {
        let Some(text) = self.files.read(path).and_then(|bytes| String::from_utf8(bytes).ok()) else { return Ok(()) };
        if !text.contains("file") {
            return Ok(());
        }
        let mut map = SourceMap::new();
        let file = map.add(path, text);
        let parsed = parse_template(&map, file);
        let (root, locals) = (self.root.clone(), BTreeMap::new());
        let scope = Scope { module: None, root: &root, locals: &locals };
        let mut problem = None;
        parsed.value.each(&mut |expr| {
            // A template of a template is no template.
            if let ExprKind::Call(call) = &expr.kind
                && problem.is_none()
                && call.name.as_str() != "templatefile"
            {
                problem = self.call(call, &scope).err();
            }
            problem.is_none()
        });
        problem.map_or(Ok(()), Err)
    }

    /// A file, or everything below a directory.
    fn add(&mut self, path: &str) {
        if self.all.contains(path) {
            self.found.insert(path.to_owned());
        } else {
            self.add_directory(path);
        }
    }

    fn add_directory(&mut self, directory: &str) {
        let below = self.below(directory);
        self.found.extend(below);
    }

    fn below(&self, directory: &str) -> Vec<String> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let from = self.all.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
        from.take_while(|path| path.starts_with(&prefix)).map(|path| (*path).to_owned()).collect()
    }

    fn directly_in(&self, directory: &str) -> Vec<String> {
        let length = if directory.is_empty() { 0 } else { directory.len() + 1 };
        let mut below = self.below(directory);
        below.retain(|path| !path[length..].contains('/'));
        below
    }
}

fn has_ending(path: &str, ending: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, found)| found == ending)
}

/// Whether a file has expressions in it.
fn is_configuration(path: &str) -> bool {
    const ENDINGS: [&str; 6] = [".tf", ".tf.json", ".tofu", ".tofu.json", ".groma.hcl", ".groma.json"];
    let name = path.rsplit('/').next().unwrap_or_default();
    ENDINGS.iter().any(|ending| name.ends_with(ending)) && !is_ignored(name)
}

fn locals(bodies: &[Body]) -> BTreeMap<Str, Arc<Expr>> {
    let schema = BodySchema::new().block("locals", &[]);
    let blocks = bodies.iter().flat_map(|body| body.partial_content(&schema).0.blocks);
    let attributes = blocks.flat_map(|block| block.body.just_attributes().0);
    attributes.map(|attribute| (attribute.name.name.clone(), attribute.expr)).collect()
}

/// Where the modules are that are called: the place of that text, and the text if it is one.
fn calls(body: &Body) -> Vec<(Span, Option<Str>)> {
    let blocks = body.partial_content(&BodySchema::new().block("module", &["name"])).0.blocks;
    let source = |block: &Block| {
        let (content, _, _) = block.body.partial_content(&BodySchema::new().optional("source"));
        content.attr("source").map(|attribute| (attribute.expr.span, attribute.expr.as_constant_str()))
    };
    blocks.iter().filter_map(source).collect()
}
