//! Which path an expression stands for, as far as its text tells.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::text::Str;
use groma_syntax::ast::{Expr, ExprKind, Step, TemplatePart, Traversal};

/// Locals that are made of locals that are made of locals.
const MOST_LOCALS: usize = 8;

/// What an expression names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// A file or a directory.
    Whole(String),
    /// Something below a directory.
    Beginning {
        /// The directory.
        directory: String,
        /// Whether it is said by `path.module` and its like, so that it is a path for sure.
        from_module: bool,
    },
    /// Nobody can tell, or it is not in the tree.
    Nothing,
}

/// Where an expression stands.
pub(super) struct Scope<'a> {
    /// The directory of its module. None where no module is.
    pub(super) module: Option<&'a str>,
    /// The directory of the root module, which is also where everything happens.
    pub(super) root: &'a str,
    /// The locals of its module.
    pub(super) locals: &'a BTreeMap<Str, Arc<Expr>>,
}

/// The static beginning of a text: what is known of it, and whether that is all.
struct Text {
    known: String,
    is_whole: bool,
    from_module: bool,
}

impl Scope<'_> {
    /// What an expression names.
    pub(super) fn named(&self, expr: &Expr) -> Named {
        let Some(text) = self.text(expr, 0) else { return Named::Nothing };
        // Relative paths are seen from where everything happens; those of modules are complete.
        let base = if text.from_module { "" } else { self.root };
        if text.is_whole {
            return joined(base, &text.known).map_or(Named::Nothing, Named::Whole);
        }
        let Some((above, _)) = text.known.rsplit_once('/') else { return Named::Nothing };
        match joined(base, above) {
            Some(directory) => Named::Beginning { directory, from_module: text.from_module },
            None => Named::Nothing,
        }
    }

    fn text(&self, expr: &Expr, depth: usize) -> Option<Text> {
        if depth > MOST_LOCALS {
            return None;
        }
        match &expr.kind {
            ExprKind::Template(template) => Some(self.parts(&template.parts, depth)),
            ExprKind::TemplateWrap(inner) | ExprKind::Parens(inner) => self.text(inner, depth),
            ExprKind::Traversal(traversal) => self.traversal(traversal, depth),
            ExprKind::Call(call) if matches!(call.name.as_str(), "abspath" | "pathexpand") => {
                self.text(call.args.first()?, depth)
            }
            _ => None,
        }
    }

    fn traversal(&self, traversal: &Traversal, depth: usize) -> Option<Text> {
        let [Step::Attr { name, .. }] = traversal.steps.as_slice() else { return None };
        match (traversal.root.name.as_str(), name.as_str()) {
            ("path", "module") => Some(Text { known: rooted(self.module?), is_whole: true, from_module: true }),
            ("path", "root" | "cwd") => Some(Text { known: rooted(self.root), is_whole: true, from_module: true }),
            ("local", name) => self.text(self.locals.get(name)?, depth + 1),
            _ => None,
        }
    }

    fn parts(&self, parts: &[TemplatePart], depth: usize) -> Text {
        let mut whole = Text { known: String::new(), is_whole: true, from_module: false };
        for (at, part) in parts.iter().enumerate() {
            let next = match part {
                TemplatePart::Literal { text, .. } => {
                    whole.known.push_str(text);
                    continue;
                }
                TemplatePart::Interpolation { expr, .. } => self.text(expr, depth),
                TemplatePart::If { .. } | TemplatePart::For { .. } => None,
            };
            match next {
                // The path of a module behind something else is none.
                Some(next) if at == 0 || !next.from_module => {
                    whole.known.push_str(&next.known);
                    whole.from_module |= next.from_module;
                    whole.is_whole = next.is_whole;
                }
                _ => whole.is_whole = false,
            }
            if !whole.is_whole {
                break;
            }
        }
        whole
    }
}

/// A directory of the tree, so that something can be written behind it.
fn rooted(directory: &str) -> String {
    if directory.is_empty() { ".".to_owned() } else { format!("./{directory}") }
}

/// A path relative to a directory of the tree, without `.` and `..`. None if it leads out of the tree.
pub(super) fn joined(base: &str, path: &str) -> Option<String> {
    if path.starts_with(['/', '~']) || path.contains(['\0', '\n']) {
        return None;
    }
    let mut parts: Vec<&str> = base.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
