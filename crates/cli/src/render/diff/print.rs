//! Differences as text. Everything is written to the end of one string: the cost is that of what is written.

mod blocks;

use std::borrow::Cow;

use groma_model::address::is_identifier;
use groma_model::schema;
use groma_model::value::{Value, ValueKind, go_quote};
use unicode_width::UnicodeWidthStr as _;

use super::{Act, Diff, ListKind, Nested, Secrecy, Shape};
use crate::render::paint::{Paint, Tone};

/// Attributes that tell objects apart, so they are shown even if they stay as they are.
const IMPORTANT: [&str; 3] = ["id", "name", "tags"];

/// How a part is written.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::render) struct Mode {
    /// Whether `-> null` is left out.
    pub(in crate::render) hide_null: bool,
    /// Whether it is a reason for a replacement because what it belongs to is. Does not hold for its parts.
    pub(in crate::render) forces: bool,
    /// Whether what stays is shown as well.
    pub(in crate::render) everything: bool,
}

impl Mode {
    /// For parts.
    fn inner(self) -> Self {
        Self { forces: false, ..self }
    }

    pub(super) fn without_null(self) -> Self {
        Self { hide_null: true, ..self }
    }

    pub(super) fn with_everything(self) -> Self {
        Self { everything: true, ..self }
    }
}

/// Writes differences.
pub(in crate::render) struct Printer<'o> {
    /// Where to.
    pub(in crate::render) out: &'o mut String,
    /// In which colours.
    pub(in crate::render) paint: Paint,
    /// Whether sensitive values are shown.
    pub(in crate::render) show_sensitive: bool,
    /// Whether `+`, `-` and `~` are left out, and the room for them.
    pub(in crate::render) hide_symbols: bool,
    /// Leaves out the values that the provider chose, so that objects that differ in nothing else give the same text.
    pub(in crate::render) mask: Option<&'o schema::Block>,
}

impl<'o> Printer<'o> {
    /// A printer that shows what may be shown.
    pub(in crate::render) fn new(out: &'o mut String, paint: Paint, show_sensitive: bool) -> Self {
        Self { out, paint, show_sensitive, hide_symbols: false, mask: None }
    }

    /// Writes a difference. The cursor stands where its first line goes on; its last line is not ended.
    pub(in crate::render) fn diff(&mut self, diff: &Diff<'_>, indent: usize, mode: Mode) {
        match &diff.shape {
            Shape::Leaf(before, after) => self.leaf(diff, *before, *after, indent, mode),
            Shape::List(parts, kind) => self.list(diff, parts, *kind, indent, mode),
            Shape::Map(parts, nested) => self.map(diff, parts, *nested, indent, mode),
            Shape::Object(parts, nested) => self.object(diff, parts, *nested, indent, mode),
            Shape::Block(attributes, blocks) => self.block(diff, attributes, blocks, indent, mode),
            Shape::Sensitive(inner, _) | Shape::SensitiveBlock(inner, _) if self.show_sensitive => {
                self.diff(inner, indent, mode);
            }
            Shape::Sensitive(..) => {
                self.out.push_str("(sensitive value)");
                self.null_suffix(diff.act, mode);
                self.forces(diff.replace, mode);
            }
            Shape::SensitiveBlock(..) => self.sensitive_block(diff.replace, indent, mode),
            Shape::Unknown(before) => {
                if let Some(before) = before {
                    self.diff(before, indent, mode.without_null());
                    self.out.push_str(" -> ");
                }
                self.out.push_str("(known after apply)");
                self.forces(diff.replace, mode);
            }
            Shape::WriteOnly => {
                self.out.push_str("(write-only attribute)");
                self.forces(diff.replace, mode);
                self.null_suffix(diff.act, mode);
            }
            Shape::Kinds(before, after) => {
                self.diff(before, indent, mode.inner().without_null());
                self.arrow();
                self.diff(after, indent, mode.inner().without_null());
                self.forces(diff.replace, mode);
            }
        }
    }

    fn leaf(&mut self, diff: &Diff<'_>, before: Option<&Value>, after: Option<&Value>, indent: usize, mode: Mode) {
        let text = |side: Option<&Value>| side.is_some_and(|value| value.as_str().is_some());
        if text(before) || text(after) {
            return self.string(diff, before, after, indent, mode);
        }
        match diff.act {
            Act::Add => self.scalar(after),
            Act::Keep => self.scalar(before),
            Act::Drop => {
                self.scalar(before);
                if before.is_some_and(|value| !value.is_null()) {
                    self.null_suffix(diff.act, mode);
                }
            }
            Act::Change => {
                self.scalar(before);
                self.arrow();
                self.scalar(after);
            }
        }
        self.forces(diff.replace, mode);
    }

    /// A value without parts that is no string.
    pub(super) fn scalar(&mut self, value: Option<&Value>) {
        match value.map(Value::kind) {
            Some(ValueKind::Bool(value)) => self.out.push_str(if value { "true" } else { "false" }),
            // Plans have no negative zero: what is sent to providers has none. States may.
            Some(ValueKind::Number(number)) if number.is_zero() && !self.hide_symbols => self.out.push('0'),
            Some(ValueKind::Number(number)) => self.out.push_str(&number.to_string()),
            _ => self.paint.write(self.out, Tone::Faint, "null"),
        }
    }

    fn list(&mut self, diff: &Diff<'_>, parts: &[Diff<'_>], kind: ListKind, indent: usize, mode: Mode) {
        // Sets of objects leave it to their elements to say that they are why something is replaced.
        let (own, of_parts) = match kind {
            ListKind::NestedSet => (false, diff.replace),
            _ => (diff.replace, false),
        };
        if parts.is_empty() {
            self.out.push_str("[]");
            self.null_suffix(diff.act, mode);
            return self.forces(own, mode);
        }
        self.out.push('[');
        self.forces(own, mode);
        self.out.push('\n');
        let part_mode = Mode { forces: of_parts, ..mode.inner().without_null() };
        if kind == ListKind::List {
            self.in_context(parts, indent, mode, part_mode);
        } else {
            let shown = parts.iter().filter(|part| mode.everything || part.act != Act::Keep);
            let count = shown.map(|part| self.element(part, indent, part_mode)).count();
            self.hidden("element", parts.len() - count, indent);
        }
        self.line_start(indent, Act::Keep);
        self.out.push(']');
        self.null_suffix(diff.act, mode);
    }

    /// Elements that change, each with its neighbours.
    fn in_context(&mut self, parts: &[Diff<'_>], indent: usize, mode: Mode, part_mode: Mode) {
        let mut hidden: &[Diff<'_>] = &[];
        let mut behind_a_change = false;
        for (at, part) in parts.iter().enumerate() {
            let keeps = part.act == Act::Keep;
            if keeps && !behind_a_change && !mode.everything {
                hidden = &parts[at - hidden.len()..=at];
                continue;
            }
            if let Some((last, others)) = hidden.split_last() {
                self.hidden("element", others.len(), indent);
                self.element(last, indent, mode.inner().with_everything());
            }
            hidden = &[];
            behind_a_change = !keeps;
            self.element(part, indent, if keeps { mode.inner().with_everything() } else { part_mode });
        }
        self.hidden("element", hidden.len(), indent);
    }

    fn element(&mut self, part: &Diff<'_>, indent: usize, mode: Mode) {
        self.warnings(part, indent + 1);
        self.line_start(indent + 1, part.act);
        self.diff(part, indent + 1, mode);
        self.out.push_str(",\n");
    }

    fn map(&mut self, diff: &Diff<'_>, parts: &[(&str, Diff<'_>)], nested: Nested, indent: usize, mode: Mode) {
        let (own, of_parts) = match nested {
            Nested::Yes => (false, diff.replace),
            Nested::No => (diff.replace, false),
        };
        if parts.is_empty() {
            self.out.push_str("{}");
            self.null_suffix(diff.act, mode);
            return self.forces(own, mode);
        }
        self.out.push('{');
        self.forces(own, mode);
        self.out.push('\n');
        let hide_null = diff.act == Act::Drop || nested == Nested::Yes;
        let part_mode = Mode { forces: of_parts, hide_null, ..mode.inner() };
        let keys: Vec<String> = parts.iter().map(|(key, _)| go_quote(key)).collect();
        let width = if nested == Nested::Yes { 0 } else { widest(keys.iter()) };
        let mut hidden = 0;
        for ((_, part), key) in parts.iter().zip(&keys) {
            if part.act == Act::Keep && !mode.everything {
                hidden += 1;
                continue;
            }
            self.warnings(part, indent + 1);
            self.named(key, width, part, indent, part_mode);
            self.out.push_str(if matches!(part.shape, Shape::Object(..)) { ",\n" } else { "\n" });
        }
        self.hidden("element", hidden, indent);
        self.line_start(indent, Act::Keep);
        self.out.push('}');
        self.null_suffix(diff.act, mode);
    }

    fn object(&mut self, diff: &Diff<'_>, parts: &[(&str, Diff<'_>)], nested: Nested, indent: usize, mode: Mode) {
        if parts.is_empty() {
            self.out.push_str("{}");
            self.null_suffix(diff.act, mode);
            return self.forces(diff.replace, mode);
        }
        self.out.push('{');
        self.forces(diff.replace, mode);
        self.out.push('\n');
        self.attributes(parts, indent, Mode { hide_null: nested == Nested::No, ..mode });
        self.line_start(indent, Act::Keep);
        self.out.push('}');
        self.null_suffix(diff.act, mode);
    }

    /// The attributes of an object, each on a line.
    fn attributes(&mut self, parts: &[(&str, Diff<'_>)], indent: usize, mode: Mode) {
        let names: Vec<Cow<'_, str>> = parts.iter().map(|(name, _)| attribute_name(name)).collect();
        let width = widest(names.iter());
        let mut hidden = 0;
        for ((name, part), shown) in parts.iter().zip(&names) {
            let mut part_mode = mode.inner();
            if IMPORTANT.contains(name) {
                part_mode.everything = true;
            } else if part.act == Act::Keep && !mode.everything {
                hidden += 1;
                continue;
            }
            self.warnings(part, indent + 1);
            if indent == 0 && self.mask.is_some_and(|schema| is_chosen(schema, name)) {
                self.line_start(1, part.act);
                self.out.push_str(shown);
            } else {
                self.named(shown, width, part, indent, part_mode);
            }
            self.out.push('\n');
        }
        self.hidden("attribute", hidden, indent);
    }

    /// `name = value`, without the line break.
    fn named(&mut self, name: &str, width: usize, part: &Diff<'_>, indent: usize, mode: Mode) {
        self.line_start(indent + 1, part.act);
        self.out.push_str(name);
        self.spaces(width.saturating_sub(name.width()));
        self.out.push_str(" = ");
        self.diff(part, indent + 1, mode);
    }

    /// Says that something becomes a secret, or is none any more.
    fn warnings(&mut self, diff: &Diff<'_>, indent: usize) {
        match &diff.shape {
            Shape::Sensitive(inner, secrecy) => self.secrecy_warning("attribute value", *secrecy, inner.act, indent),
            Shape::SensitiveBlock(inner, secrecy) => self.secrecy_warning("block", *secrecy, inner.act, indent),
            _ => {}
        }
    }

    fn secrecy_warning(&mut self, what: &str, secrecy: Secrecy, act: Act, indent: usize) {
        if !secrecy.changes() || matches!(act, Act::Add | Act::Drop) {
            return;
        }
        let (first, second) = if secrecy.before {
            ("will no longer be marked as sensitive", "after applying this change.")
        } else {
            ("will be marked as sensitive and will not", "display in UI output after applying this change.")
        };
        self.spaces(indent * 4);
        self.out.push_str("  # ");
        self.paint.write(self.out, Tone::Changed, "Warning");
        self.out.push_str(": this ");
        self.out.push_str(what);
        self.out.push(' ');
        self.out.push_str(first);
        self.out.push('\n');
        self.spaces(indent * 4);
        self.out.push_str("  # ");
        self.out.push_str(second);
        if act == Act::Keep && what != "block" {
            self.out.push_str(" The value is unchanged.");
        }
        self.out.push('\n');
    }

    /// Says how many were left out.
    fn hidden(&mut self, what: &str, count: usize, indent: usize) {
        if count == 0 {
            return;
        }
        self.line_start(indent + 1, Act::Keep);
        let plural = if count == 1 { "" } else { "s" };
        self.paint.write(self.out, Tone::Faint, &format!("# ({count} unchanged {what}{plural} hidden)"));
        self.out.push('\n');
    }

    /// The beginning of a line: room for the outer levels, and the symbol.
    pub(super) fn line_start(&mut self, indent: usize, act: Act) {
        self.spaces(indent * 4);
        self.symbol(act);
    }

    pub(super) fn symbol(&mut self, act: Act) {
        if self.hide_symbols {
            return;
        }
        self.out.push_str("  ");
        match act {
            Act::Keep => self.out.push(' '),
            Act::Add => self.paint.write(self.out, Tone::Added, "+"),
            Act::Drop => self.paint.write(self.out, Tone::Removed, "-"),
            Act::Change => self.paint.write(self.out, Tone::Changed, "~"),
        }
        self.out.push(' ');
    }

    pub(super) fn spaces(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
    }

    pub(super) fn arrow(&mut self) {
        self.out.push(' ');
        self.paint.write(self.out, Tone::Changed, "->");
        self.out.push(' ');
    }

    pub(super) fn null_suffix(&mut self, act: Act, mode: Mode) {
        if act == Act::Drop && !mode.hide_null {
            self.out.push(' ');
            self.paint.write(self.out, Tone::Faint, "-> null");
        }
    }

    pub(super) fn forces(&mut self, replace: bool, mode: Mode) {
        if replace || mode.forces {
            self.out.push(' ');
            self.paint.write(self.out, Tone::Removed, "# forces replacement");
        }
    }
}

/// Whether the provider alone says what is in an attribute.
fn is_chosen(schema: &schema::Block, name: &str) -> bool {
    schema.attributes.get(name).is_some_and(|attribute| attribute.computed && !attribute.optional)
}

/// A name as it can be written in front of `=`.
pub(in crate::render) fn attribute_name(name: &str) -> Cow<'_, str> {
    if is_identifier(name) { Cow::Borrowed(name) } else { Cow::Owned(go_quote(name)) }
}

fn widest<S: AsRef<str>>(names: impl Iterator<Item = S>) -> usize {
    names.map(|name| name.as_ref().width()).max().unwrap_or_default()
}
