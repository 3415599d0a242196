//! Strings in differences: in quotes, as a heredoc with changes by line, or as the JSON that they contain.

use std::collections::BTreeMap;

use groma_model::codec::json;
use groma_model::value::{Value, go_quote};

use super::align::{Aligned, align};
use super::compute::{Pair, dynamic};
use super::print::{Mode, Printer};
use super::{Act, Diff, Shape};
use crate::render::paint::Tone;

/// What a string is best shown as.
enum Text<'s> {
    Null,
    /// A document, and its text.
    Json(Value),
    /// More than one line, without the space around them.
    Lines(&'s str),
    Plain(&'s str),
}

impl<'s> Text<'s> {
    fn of(value: Option<&'s Value>) -> Self {
        let Some(text) = value.and_then(Value::as_str) else { return Self::Null };
        if text.starts_with(['{', '['])
            && let Ok(document) = json::decode_implied(text)
        {
            return Self::Json(document);
        }
        if text.contains('\n') { Self::Lines(text.trim()) } else { Self::Plain(text) }
    }

    /// Its lines, whatever it is.
    fn lines(&self) -> Vec<&'s str> {
        match self {
            Self::Lines(text) | Self::Plain(text) => text.split('\n').collect(),
            Self::Null | Self::Json(_) => vec!["null"],
        }
    }
}

impl Printer<'_> {
    /// A string that comes, goes, stays or becomes another.
    pub(super) fn string(
        &mut self,
        diff: &Diff<'_>,
        before: Option<&Value>,
        after: Option<&Value>,
        indent: usize,
        mode: Mode,
    ) {
        if diff.act == Act::Change {
            return self.changed(diff, before, after, indent, mode);
        }
        let side = if diff.act == Act::Drop { before } else { after };
        match Text::of(side) {
            Text::Json(document) => {
                let shown = |there: bool| there.then_some(&document);
                self.json(diff, shown(diff.act != Act::Add), shown(diff.act != Act::Drop), indent, mode);
            }
            Text::Lines(text) => {
                self.heredoc(diff, indent, mode, |printer| {
                    for line in text.split('\n') {
                        printer.text_line(Act::Keep, line, indent);
                    }
                });
            }
            simple => {
                self.simple(&simple);
                if !matches!(simple, Text::Null) {
                    self.null_suffix(diff.act, mode);
                }
                self.forces(diff.replace, mode);
            }
        }
    }

    fn changed(&mut self, diff: &Diff<'_>, before: Option<&Value>, after: Option<&Value>, indent: usize, mode: Mode) {
        match (Text::of(before), Text::of(after)) {
            (Text::Json(before), Text::Json(after)) => self.json(diff, Some(&before), Some(&after), indent, mode),
            (Text::Json(_), _) | (_, Text::Json(_)) => {
                let side = |act, before, after| Diff { act, replace: false, shape: Shape::Leaf(before, after) };
                self.diff(&side(Act::Drop, before, None), indent, Mode { forces: false, ..mode.without_null() });
                self.arrow();
                self.diff(&side(Act::Add, None, after), indent, Mode { forces: false, ..mode.without_null() });
                self.forces(diff.replace, mode);
            }
            (before @ Text::Lines(_), after) | (before, after @ Text::Lines(_)) => {
                let (old, new) = (before.lines(), after.lines());
                self.heredoc(diff, indent, mode, |printer| printer.line_changes(&old, &new, indent));
            }
            (before, after) => {
                self.simple(&before);
                self.arrow();
                self.simple(&after);
                self.forces(diff.replace, mode);
            }
        }
    }

    fn simple(&mut self, text: &Text<'_>) {
        match text {
            Text::Plain(text) | Text::Lines(text) => self.out.push_str(&go_quote(text)),
            Text::Null | Text::Json(_) => self.paint.write(self.out, Tone::Faint, "null"),
        }
    }

    fn line_changes(&mut self, before: &[&str], after: &[&str], indent: usize) {
        let mut known: BTreeMap<&str, u32> = BTreeMap::new();
        let mut ids = Vec::with_capacity(before.len() + after.len());
        for line in before.iter().chain(after) {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            ids.push(*known.entry(line).or_insert(next));
        }
        let (before_ids, after_ids) = ids.split_at(before.len());
        for Aligned(b, a) in align(before_ids, after_ids, &|_, _| false) {
            match (b, a) {
                (Some(b), None) => self.text_line(Act::Drop, before[b], indent),
                (None, Some(a)) => self.text_line(Act::Add, after[a], indent),
                (Some(b), Some(_)) => self.text_line(Act::Keep, before[b], indent),
                (None, None) => {}
            }
        }
    }

    fn heredoc(&mut self, diff: &Diff<'_>, indent: usize, mode: Mode, lines: impl FnOnce(&mut Self)) {
        self.out.push_str("<<-EOT");
        self.forces(diff.replace, mode);
        self.out.push('\n');
        lines(self);
        self.line_start(indent, Act::Keep);
        self.out.push_str("EOT");
        self.null_suffix(diff.act, mode);
    }

    fn text_line(&mut self, act: Act, line: &str, indent: usize) {
        self.line_start(indent + 1, act);
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// A string that holds a document: the document changes.
    fn json(&mut self, diff: &Diff<'_>, before: Option<&Value>, after: Option<&Value>, indent: usize, mode: Mode) {
        let inner = dynamic(&Pair::new(before, after));
        let only_spaces = inner.act == Act::Keep && diff.act == Act::Change;
        let mut inner_mode = Mode { forces: false, ..mode.without_null() };
        inner_mode.everything |= only_spaces;
        self.out.push_str("jsonencode(");
        let note = match (only_spaces, diff.replace) {
            (true, true) => " # whitespace changes force replacement",
            (true, false) => " # whitespace changes",
            (false, _) => "",
        };
        let start = self.out.len();
        self.diff(&inner, indent + 1, inner_mode);
        if !self.out[start..].contains('\n') {
            self.out.push(')');
            self.out.push_str(note);
            if !only_spaces {
                self.forces(diff.replace, mode);
            }
            return;
        }
        let act = if diff.act == Act::Change && !only_spaces { Act::Change } else { Act::Keep };
        let body = self.out.split_off(start);
        self.out.push_str(note);
        self.out.push('\n');
        self.line_start(indent + 1, act);
        self.out.push_str(&body);
        if !only_spaces {
            self.forces(diff.replace, mode);
        }
        self.out.push('\n');
        self.line_start(indent, Act::Keep);
        self.out.push(')');
        self.null_suffix(diff.act, mode);
    }
}
