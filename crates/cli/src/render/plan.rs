//! Plans as text, in the notation that people know: `+` makes, `~` changes, `-` deletes.

mod drift;
mod fold;
mod headline;
mod veil;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::Path;

use groma_model::address::ResourceMode;
use groma_model::mark::Mark;
use groma_model::value::Value;
use groma_run::engine::change::{Action, Change};
use groma_run::engine::plan::{Mode as PlanMode, Plan};
use unicode_width::UnicodeWidthStr as _;

use super::diff::{self, Act, Mode, Pair, Paths, Printer};
use super::paint::{Paint, Tone};
use super::{Look, wrap};

/// Everything about a plan that a person should see before saying yes. Begins with an empty line and ends with a whole one.
pub(crate) fn plan(plan: &Plan, look: &Look) -> String {
    let mut page = Page { out: String::new(), paint: Paint(look.style.color), look };
    let drifted = drift::section(&mut page, plan);
    let changes: Vec<&Change> = plan.changes.iter().filter(|change| is_shown(change)).collect();
    let counts = Counts::of(&changes);
    let outputs = output_changes(plan, look);
    if changes.is_empty() && outputs.is_empty() && page.no_changes(plan, drifted) {
        return page.out;
    }
    if drifted {
        page.rule();
    }
    if counts.acts() {
        page.legend(&counts);
    }
    if !changes.is_empty() {
        page.out.push_str(if plan.errored {
            "\ngroma planned the following actions, but then encountered a problem:\n"
        } else {
            "\ngroma will perform the following actions:\n"
        });
        page.changes(&changes);
        page.out.push('\n');
        page.paint.write(&mut page.out, Tone::Bold, "Plan:");
        let _ = writeln!(page.out, " {}", counts.in_words());
    }
    if !outputs.is_empty() {
        page.out.push_str("\nChanges to Outputs:\n");
        page.out.push_str(&outputs);
        if !counts.acts() {
            page.paragraph(
                "\nYou can apply this plan to save these new output values to the state, without changing any real \
                 infrastructure.",
            );
        }
    }
    page.out
}

/// What to do with the plan now: where it was saved, where configuration was written. Empty in automation.
pub(crate) fn next_step(saved: Option<&Path>, generated: Option<&Path>, look: &Look) -> String {
    if look.in_automation {
        return String::new();
    }
    let mut page = Page { out: String::new(), paint: Paint(look.style.color), look };
    page.rule();
    if let Some(path) = generated {
        page.paragraph(&format!(
            "\ngroma has generated configuration and written it to {}. Look it through, and change what needs to be \
             changed, before you keep it.",
            path.display()
        ));
    }
    match saved {
        None => page.paragraph(
            "\nNote: You didn't use the -out option to save this plan, so groma can't guarantee to take exactly these \
             actions if you run \"groma apply\" now.",
        ),
        Some(path) => page.paragraph(&format!(
            "\nSaved the plan to: {0}\n\nTo perform exactly these actions, run the following command to apply:\n    groma \
             apply {1}",
            path.display(),
            groma_model::value::go_quote(&path.display().to_string())
        )),
    }
    page.out
}

/// What is written.
struct Page<'l> {
    out: String,
    paint: Paint,
    look: &'l Look,
}

impl Page<'_> {
    /// A text that is broken into lines, and a line break.
    fn paragraph(&mut self, text: &str) {
        for line in wrap::wrap(text, self.look.style.width.saturating_sub(1).max(20)) {
            self.out.push_str(&line);
            self.out.push('\n');
        }
    }

    /// A line from left to right.
    fn rule(&mut self) {
        self.out.push('\n');
        let line = "─".repeat(self.look.style.width.saturating_sub(1));
        self.paint.write(&mut self.out, Tone::Faint, &line);
        self.out.push('\n');
    }

    /// A headline without anything behind it.
    fn verdict(&mut self, tone: Tone, verdict: &str, text: &str) {
        self.out.push('\n');
        self.paint.write(&mut self.out, tone, verdict);
        self.out.push(' ');
        self.paint.write(&mut self.out, Tone::Bold, text);
        self.out.push_str("\n\n");
    }

    /// Says that nothing is to be done. Whether that was all.
    fn no_changes(&mut self, plan: &Plan, drifted: bool) -> bool {
        if plan.errored {
            if drifted {
                self.rule();
            }
            self.verdict(Tone::Bad, "Planning failed.", "groma encountered an error while generating this plan.");
            return true;
        }
        let (headline, text) = match plan.mode {
            // What would be done was said with what changed outside.
            PlanMode::RefreshOnly if drifted => return true,
            PlanMode::RefreshOnly => (
                "Your infrastructure still matches the configuration.",
                "groma has checked that the real objects are as your last changes left them, and found no differences.",
            ),
            PlanMode::Destroy => (
                "No objects need to be destroyed.",
                "Either you have not created any objects yet or the existing objects were already deleted outside of groma.",
            ),
            PlanMode::Normal if drifted => (
                "Your infrastructure matches the configuration.",
                "Your configuration already matches the changes detected above. If you'd like to update the state to match, \
                 create and apply a refresh-only plan:\n  groma apply -refresh-only",
            ),
            PlanMode::Normal => (
                "Your infrastructure matches the configuration.",
                "groma has compared your real infrastructure with your configuration and found no differences, so no changes \
                 are needed.",
            ),
        };
        if drifted {
            self.rule();
        }
        self.verdict(Tone::Good, "No changes.", headline);
        let text =
            if self.look.in_automation { text.replace(":\n  groma apply -refresh-only", ".") } else { text.to_owned() };
        self.paragraph(&text);
        true
    }

    /// What the symbols mean, as far as they occur.
    fn legend(&mut self, counts: &Counts) {
        self.paragraph(
            "\ngroma used the selected providers to generate the following execution plan. Resource actions are indicated \
             with the following symbols:",
        );
        for action in LEGEND {
            if counts.of_action(action) > 0 {
                symbol(&mut self.out, self.paint, action);
                let meaning = match action {
                    Action::Create => "create",
                    Action::Update => "update in-place (current -> planned)",
                    Action::Delete => "destroy",
                    Action::DeleteThenCreate => "destroy and then create replacement",
                    Action::CreateThenDelete => "create replacement and then destroy",
                    Action::Read => "read (data resources)",
                    Action::ForgetThenCreate => "forget and then create replacement",
                    Action::Forget => "forget",
                    Action::NoOp => "",
                };
                let _ = writeln!(self.out, " {meaning}");
            }
        }
    }

    /// The changes, one after the other, or the first few of many that are alike.
    fn changes(&mut self, changes: &[&Change]) {
        let folded = if self.look.fold { fold::plan(changes) } else { fold::Folded::default() };
        for (at, change) in changes.iter().enumerate() {
            if !folded.is_hidden(at) {
                self.out.push('\n');
                let change = veil::veiled(change);
                self.change(&change, headline::Cause::Plan, &body(&change));
            }
            if let Some(group) = folded.ends_with(at) {
                self.out.push('\n');
                let first = &changes[group.first].address;
                let last = &changes[group.last].address;
                let text = format!("  # … and {} more like {first}, up to {last}", group.count);
                self.paint.write(&mut self.out, Tone::Faint, &text);
                self.out.push('\n');
            }
        }
    }

    /// One change.
    fn change(&mut self, change: &Change, cause: headline::Cause, diff: &diff::Diff<'_>) {
        headline::write(&mut self.out, self.paint, change, cause);
        symbol(&mut self.out, self.paint, change.action);
        let resource = &change.address.instance.resource;
        let kind = if resource.mode == ResourceMode::Managed { "resource" } else { "data" };
        let _ = write!(self.out, " {kind} \"{}\" \"{}\" ", resource.ty, resource.name);
        let forgets = change.action == Action::Forget;
        let mut printer = Printer::new(&mut self.out, self.paint, self.look.show_sensitive);
        printer.hide_symbols = forgets;
        let mode = Mode { hide_null: forgets, everything: change.importing.is_some(), ..Mode::default() };
        printer.diff(diff, 0, mode);
        self.out.push('\n');
    }
}

const LEGEND: [Action; 8] = [
    Action::Create,
    Action::Update,
    Action::Delete,
    Action::DeleteThenCreate,
    Action::CreateThenDelete,
    Action::Read,
    Action::ForgetThenCreate,
    Action::Forget,
];

/// What is done with an object, in three characters.
fn symbol(out: &mut String, paint: Paint, action: Action) {
    let (space, parts): (&str, &[(Tone, &str)]) = match action {
        Action::NoOp => ("   ", &[]),
        Action::Create => ("  ", &[(Tone::Added, "+")]),
        Action::Read => (" ", &[(Tone::Read, "<=")]),
        Action::Update => ("  ", &[(Tone::Changed, "~")]),
        Action::Delete => ("  ", &[(Tone::Removed, "-")]),
        Action::DeleteThenCreate => ("", &[(Tone::Removed, "-"), (Tone::Added, "+")]),
        Action::CreateThenDelete => ("", &[(Tone::Added, "+"), (Tone::Removed, "-")]),
        Action::Forget => ("  ", &[(Tone::Removed, ".")]),
        Action::ForgetThenCreate => ("", &[(Tone::Removed, "."), (Tone::Added, "+")]),
    };
    out.push_str(space);
    for (at, (tone, text)) in parts.iter().enumerate() {
        if at > 0 {
            out.push('/');
        }
        paint.write(out, *tone, text);
    }
}

/// What changes in an object.
fn body(change: &Change) -> diff::Diff<'_> {
    let pair =
        Pair { replace: Paths::exactly(&change.replace_paths), ..Pair::new(Some(&change.before), Some(&change.after)) };
    diff::block(&pair.implicit(), &change.schema.block)
}

fn is_moved(change: &Change) -> bool {
    change.previous_address.as_ref().is_some_and(|from| *from != change.address)
}

/// Whether a person wants to know. Data sources that are only dropped from the state, and ephemeral resources, leave no trace.
fn is_shown(change: &Change) -> bool {
    match change.address.instance.resource.mode {
        ResourceMode::Managed => {
            let acts = change.action != Action::NoOp || change.only_waits();
            acts || is_moved(change) || change.importing.is_some()
        }
        ResourceMode::Data => !matches!(change.action, Action::NoOp | Action::Delete),
        ResourceMode::Ephemeral => false,
    }
}

/// How often what is done.
#[derive(Default)]
struct Counts {
    by_action: std::collections::BTreeMap<Action, usize>,
    imports: usize,
    waits: usize,
}

impl Counts {
    fn of(changes: &[&Change]) -> Self {
        let mut counts = Self::default();
        for change in changes {
            counts.imports += usize::from(change.importing.is_some());
            counts.waits += usize::from(change.only_waits());
            if change.action != Action::NoOp {
                *counts.by_action.entry(change.action).or_default() += 1;
            }
        }
        counts
    }

    fn of_action(&self, action: Action) -> usize {
        self.by_action.get(&action).copied().unwrap_or_default()
    }

    fn acts(&self) -> bool {
        !self.by_action.is_empty()
    }

    fn sum(&self, wanted: impl Fn(Action) -> bool) -> usize {
        self.by_action.iter().filter(|(action, _)| wanted(**action)).map(|(_, count)| count).sum()
    }

    /// `1 to add, 0 to change, 0 to destroy.`
    fn in_words(&self) -> String {
        let mut text = String::new();
        if self.imports > 0 {
            let _ = write!(text, "{} to import, ", self.imports);
        }
        let (add, change) = (self.sum(Action::creates), self.of_action(Action::Update));
        let _ = write!(text, "{add} to add, {change} to change, {} to destroy", self.sum(Action::deletes));
        let forget = self.sum(|action| matches!(action, Action::Forget | Action::ForgetThenCreate));
        if forget > 0 {
            let _ = write!(text, ", {forget} to forget");
        }
        if self.waits > 0 {
            let _ = write!(text, ", {} to wait for", self.waits);
        }
        text.push('.');
        text
    }
}

/// The outputs that change, each on lines of its own.
fn output_changes(plan: &Plan, look: &Look) -> String {
    let paint = Paint(look.style.color);
    let names = plan.outputs.keys().map(|name| diff::attribute_name(name));
    let width = names.map(|name| name.width()).max().unwrap_or_default();
    let mut out = String::new();
    for (name, output) in &plan.outputs {
        // That an output becomes a secret changes no value, but its old value is none to show.
        let secret = output.sensitive || output.before.marks().is_sensitive() || output.after.marks().is_sensitive();
        let veiled = |value: &Value| if secret { value.clone().mark(Mark::Sensitive) } else { value.clone() };
        let (before, after) = (veiled(&output.before), veiled(&output.after));
        let diff = diff::dynamic(&Pair::new(Some(&before), Some(&after)).implicit());
        let action = match diff.act {
            Act::Keep => continue,
            Act::Add => Action::Create,
            Act::Drop => Action::Delete,
            Act::Change => Action::Update,
        };
        symbol(&mut out, paint, action);
        let _ = write!(out, " {name:width$} = ", name = diff::attribute_name(name));
        Printer::new(&mut out, paint, look.show_sensitive).diff(&diff, 0, Mode::default());
        out.push('\n');
    }
    out
}
