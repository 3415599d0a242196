//! Following module calls: where each leads, and what a child module may not do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_syntax::ast::{Expr, ExprKind, Ident, Step, Traversal};

use super::files::{self, LoadedModule};
use super::source::{self, BadSource, Source};
use super::{ModuleChain, ModuleNode, ModuleRequest, SourceTree, StaticEvaluator};
use crate::config::version::VersionConstraint;
use crate::config::{Module, ModuleCall};
use crate::walk::expansion::for_each_problems;

/// How many modules a configuration may have, so that modules that call themselves come to an end.
const MAX_MODULES: usize = 20_000;
/// How deep module calls may be nested.
const MAX_DEPTH: usize = 100;

/// Builds the tree under a root module.
pub(super) fn build(
    map: &mut SourceMap,
    tree: &dyn SourceTree,
    root: Module,
    statics: &dyn StaticEvaluator,
) -> (ModuleNode, Diagnostics) {
    let mut builder =
        Builder { map, tree, statics, cache: BTreeMap::new(), diagnostics: Diagnostics::new(), modules: 1 };
    let node =
        builder.node(Arc::new(root), None, Place { path: Vec::new(), source: None, remote: false, call_span: None });
    (node, builder.diagnostics)
}

/// Evaluates what a single module needs to be known early.
pub(super) fn check_statics(module: &Module, tree: &dyn SourceTree, statics: &dyn StaticEvaluator) -> Diagnostics {
    let mut map = SourceMap::new();
    let mut builder =
        Builder { map: &mut map, tree, statics, cache: BTreeMap::new(), diagnostics: Diagnostics::new(), modules: 1 };
    let chain = ModuleChain { module, caller: None };
    for call in module.module_calls.values() {
        builder.source(&chain, call);
    }
    builder.check_provider_instances(&chain);
    builder.check_constants(&chain);
    builder.diagnostics
}

struct Builder<'a> {
    map: &'a mut SourceMap,
    tree: &'a dyn SourceTree,
    statics: &'a dyn StaticEvaluator,
    /// Modules by directory: one that is called often is read once.
    cache: BTreeMap<PathBuf, CachedModule>,
    diagnostics: Diagnostics,
    modules: usize,
}

/// A module that was read, and what to report again wherever it is called.
struct CachedModule {
    module: Arc<Module>,
    unreadable: bool,
    declarations: Diagnostics,
}

/// Where a module stands in the tree.
struct Place {
    path: Vec<Str>,
    source: Option<Str>,
    remote: bool,
    call_span: Option<Span>,
}

/// What a call says about where it leads.
struct Target {
    kind: Source,
    source: Str,
    version: Option<VersionConstraint>,
}

impl Builder<'_> {
    fn error(&mut self, summary: &str, detail: impl Into<String>, at: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(at));
    }

    fn node(&mut self, module: Arc<Module>, caller: Option<(&Str, &ModuleChain<'_>)>, place: Place) -> ModuleNode {
        let chain = ModuleChain { module: &module, caller };
        let mut children = BTreeMap::new();
        let targets: Vec<_> =
            module.module_calls.iter().map(|(name, call)| (name, call, self.target(&chain, call, &place))).collect();
        self.check_provider_instances(&chain);
        self.check_constants(&chain);
        // What the root module calls is not looked at while the root itself is wrong.
        let stop = caller.is_none() && self.diagnostics.has_errors();
        for (name, call, target) in targets {
            let Some(target) = target.filter(|_| !stop) else { continue };
            let mut path = place.path.clone();
            path.push(name.clone());
            let located = self.tree.locate(&ModuleRequest {
                path: &path,
                caller_dir: &chain.module.source_dir,
                source: &target.source,
                kind: &target.kind,
                version: target.version.as_ref(),
                call_span: call.declared.header,
                source_span: call.source.as_ref().map_or(call.declared.header, |expr| expr.span),
            });
            let Some(dir) = self.diagnostics.take(located) else { continue };
            let Some(child) = self.module_at(&dir, call) else { continue };
            let inner = Place {
                path,
                source: Some(target.source),
                remote: place.remote || !matches!(target.kind, Source::Local(_)),
                call_span: Some(call.declared.header),
            };
            children.insert(name.clone(), self.node(child, Some((name, &chain)), inner));
        }
        if caller.is_some() {
            self.check_child(&module, &place.path);
        }
        let Place { path, source, remote, call_span } = place;
        ModuleNode { path, module, children, source, remote, call_span }
    }

    /// `for_each` of provider configurations must be known now.
    fn check_provider_instances(&mut self, chain: &ModuleChain<'_>) {
        for config in chain.module.provider_configs.values() {
            let Some(expr) = &config.for_each else { continue };
            let subject = format!("provider.{}.for_each", config.key);
            let (value, found) = self.statics.evaluate(chain, expr, &subject);
            let failed = found.has_errors();
            self.diagnostics.extend(found);
            let problems = if failed { Vec::new() } else { for_each_problems(&value, false, false) };
            for problem in problems {
                self.error("Invalid for_each argument", problem, expr.span);
            }
        }
    }

    /// Variables that say they are constant must be known now.
    fn check_constants(&mut self, chain: &ModuleChain<'_>) {
        let call = chain.caller.and_then(|(name, parent)| parent.module.module_calls.get(name));
        for variable in chain.module.variables.values().filter(|variable| variable.constant == Some(true)) {
            let span = call.map_or(variable.declared.header, |call| call.declared.header);
            let root = Ident { name: Str::new("var"), span };
            let steps = vec![Step::Attr { name: variable.name.clone(), span }];
            let expr = Expr { kind: ExprKind::Traversal(Box::new(Traversal { root, steps, span })), span };
            let (_, found) = self.statics.evaluate(chain, &expr, &format!("var.{}", variable.name));
            self.diagnostics.extend(found);
        }
    }

    fn check_child(&mut self, module: &Module, path: &[Str]) {
        if let Some(backend) = &module.backend {
            self.diagnostics.push(
                Diagnostic::warning(
                    "Backend configuration ignored",
                    "Any selected backend applies to the entire configuration, so backends are expected only in the root \
                     module.\n\nThis is a warning rather than an error because it's sometimes convenient to temporarily \
                     call a root module as a child module for testing purposes, but this backend configuration block \
                     will have no effect.",
                )
                .at(backend.header),
            );
        }
        if let Some(import) = module.imports.first() {
            let path: Vec<&str> = path.iter().map(Str::as_str).collect();
            self.error(
                "Invalid import configuration",
                format!(
                    "An import block was detected in \"module.{}\". Import blocks are only allowed in the root module.",
                    path.join(".module.")
                ),
                import.header,
            );
        }
    }

    /// Where a call leads. None if that cannot be said, which is reported.
    fn target(&mut self, chain: &ModuleChain<'_>, call: &ModuleCall, place: &Place) -> Option<Target> {
        if place.path.len() >= MAX_DEPTH || self.modules >= MAX_MODULES {
            self.error(
                "Too many modules",
                "The module calls do not come to an end: probably a module calls itself.",
                call.declared.header,
            );
            return None;
        }
        let (kind, source, version) = self.source(chain, call)?;
        Some(Target { kind, source, version })
    }

    /// What `source` and `version` of a call say.
    fn source(
        &mut self,
        chain: &ModuleChain<'_>,
        call: &ModuleCall,
    ) -> Option<(Source, Str, Option<VersionConstraint>)> {
        let version = self.version(chain, call);
        let expr = call.source.as_ref()?;
        let text = self.source_text(chain, call, expr)?;
        // Even a bad version says that a registry is meant.
        match source::parse(&text, version != Ok(None)) {
            Ok(found) => Some((found, text, version.ok()?)),
            Err(problem) => {
                self.diagnostics.push(bad_source(&text, problem, expr.span));
                None
            }
        }
    }

    /// The version that a call asks for; null means none. An error is reported.
    fn version(&mut self, chain: &ModuleChain<'_>, call: &ModuleCall) -> Result<Option<VersionConstraint>, ()> {
        let Some(attribute) = &call.version else { return Ok(None) };
        let (value, diagnostics) =
            self.statics.evaluate(chain, &attribute.expr, &format!("module.{}.version", call.name));
        let failed = diagnostics.has_errors();
        self.diagnostics.extend(diagnostics);
        if failed {
            return Err(());
        }
        if value.is_null() {
            return Ok(None);
        }
        let (value, marks) = value.unmark_deep();
        let problem = if marks.is_sensitive() {
            "Sensitive values, or values derived from sensitive values, cannot be used as version arguments."
        } else if marks.is_ephemeral() {
            "Ephemeral values, or values derived from ephemeral values, cannot be used as version arguments."
        } else {
            match convert(&value, &Type::String).ok().as_ref().and_then(|value| value.as_str()) {
                None => "A string value is required for version.",
                Some(text) => match VersionConstraint::parse(text, attribute.span) {
                    Some(version) => return Ok(Some(version)),
                    None => "This string does not use correct version constraint syntax.",
                },
            }
        };
        self.error("Invalid version constraint", problem, attribute.expr.span);
        Err(())
    }

    fn source_text(&mut self, chain: &ModuleChain<'_>, call: &ModuleCall, expr: &Expr) -> Option<Str> {
        let subject = format!("module.{}.source", call.name);
        let (value, diagnostics) = self.statics.evaluate(chain, expr, &subject);
        let failed = diagnostics.has_errors();
        self.diagnostics.extend(diagnostics);
        if failed {
            return None;
        }
        let (value, marks) = value.unmark_deep();
        for (marked, what) in [(marks.is_sensitive(), "Sensitive"), (marks.is_ephemeral(), "Ephemeral")] {
            if marked {
                let lower = what.to_lowercase();
                self.error(
                    &format!("{what} value not allowed"),
                    format!("{what} values, or values derived from {lower} values, cannot be used as {subject}."),
                    expr.span,
                );
                return None;
            }
        }
        let problem = match convert(&value, &Type::String) {
            Ok(value) if value.is_null() => "a string is required".to_owned(),
            Ok(value) => match value.as_str() {
                Some(text) => return Some(text.into()),
                None => "value must be known".to_owned(),
            },
            Err(error) => error.to_string(),
        };
        self.error("Unsuitable value type", format!("Unsuitable value: {problem}"), expr.span);
        None
    }

    /// The module in a directory. None if there is no such directory, which is reported.
    fn module_at(&mut self, dir: &Path, call: &ModuleCall) -> Option<Arc<Module>> {
        let known = self.cache.contains_key(dir);
        if !known {
            let LoadedModule { module, unreadable, syntax, declarations } = files::load_dir(self.map, self.tree, dir);
            self.diagnostics.extend(syntax.into_iter().filter(|_| !unreadable));
            self.cache.insert(dir.to_owned(), CachedModule { module: Arc::new(module), unreadable, declarations });
        }
        let loaded = self.cache.get(dir)?;
        if loaded.unreadable {
            self.error(
                "Module not installed",
                format!("This module's directory {} could not be read.", dir.display()),
                call.declared.header,
            );
            return None;
        }
        self.modules += 1;
        self.diagnostics.extend(loaded.declarations.clone());
        Some(Arc::clone(&loaded.module))
    }
}

/// What to say about a source that cannot be understood.
pub(super) fn bad_source(text: &str, problem: BadSource, at: Span) -> Diagnostic {
    let (summary, detail) = match problem {
        BadSource::MaybeRelativePath => (
            "Invalid module source address",
            format!(
                "The installation method for module package {text:?} is not clear.\n\nIf you intended this as a path \
                 relative to the current module, use \"./{text}\" instead. The \"./\" prefix indicates that the \
                 address is a relative filesystem path."
            ),
        ),
        BadSource::NotRegistry(reason) => (
            "Invalid registry module source address",
            format!(
                "Failed to parse module registry address: {reason}.\n\nA module registry source address is assumed \
                 because the argument \"version\", which applies only to registry modules, is set."
            ),
        ),
        BadSource::Other(reason) => {
            ("Invalid module source address", format!("Failed to parse module source address: {reason}."))
        }
    };
    Diagnostic::error(summary, detail).at(at)
}
