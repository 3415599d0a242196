//! What changed outside since the last apply, as far as the plan was worked out from it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use groma_model::path::Path;
use groma_run::engine::change::{Action, Change};
use groma_run::engine::plan::{Mode, Plan};

use super::{Page, headline, is_moved, is_shown, veil};
use crate::render::diff::{self, Act, Diff, Pair, Paths};
use crate::render::paint::Tone;

/// Writes the section, if there is anything to say. Whether there was.
pub(super) fn section(page: &mut Page<'_>, plan: &Plan) -> bool {
    let refresh_only = plan.mode == Mode::RefreshOnly;
    let changes_nothing =
        !plan.changes.iter().any(is_shown) && plan.outputs.values().all(|output| output.action == Action::NoOp);
    if plan.drift.is_empty() || (changes_nothing && !refresh_only) {
        return false;
    }
    let drift: Vec<Cow<'_, Change>> = plan.drift.iter().map(veil::veiled).collect();
    let shown = if refresh_only { everything(&drift) } else { relevant(plan, &drift) };
    if shown.is_empty() {
        return false;
    }
    page.out.push('\n');
    page.paint.write(&mut page.out, Tone::Read, "Note:");
    page.out.push(' ');
    page.paint.write(&mut page.out, Tone::Bold, "Objects have changed outside of groma");
    page.out.push_str("\n\n");
    page.paragraph(
        "groma detected the following changes made outside of groma since the last \"groma apply\" which may have affected \
         this plan:",
    );
    for (change, diff) in &shown {
        page.out.push('\n');
        page.change(change, headline::Cause::Outside, diff);
    }
    page.paragraph(if refresh_only {
            "\n\nThis is a refresh-only plan, so groma will not take any actions to undo these. If you were expecting these \
             changes then you can apply this plan to record the updated values in the state without changing any real \
             objects."
        } else {
            "\n\nUnless your configuration says the same, or tells groma to leave it with ignore_changes, the following plan \
             may undo these changes or follow from them."
    });
    true
}

fn everything<'c>(drift: &'c [Cow<'_, Change>]) -> Vec<(&'c Change, Diff<'c>)> {
    let told = |change: &&Change| change.action != Action::NoOp || is_moved(change);
    drift.iter().map(AsRef::as_ref).filter(told).map(|change| (change, compared(change, Paths::All))).collect()
}

/// What the plan was worked out from.
fn relevant<'c>(plan: &'c Plan, drift: &'c [Cow<'_, Change>]) -> Vec<(&'c Change, Diff<'c>)> {
    let mut by_resource: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for relevant in &plan.relevant {
        by_resource.entry(&relevant.resource).or_default().push(&relevant.attribute);
    }
    let mut shown = Vec::new();
    for change in drift.iter().map(AsRef::as_ref).filter(|change: &&Change| change.action != Action::NoOp) {
        let instance = change.address.to_string();
        let resource = change.address.resource().to_string();
        let of = |name: &str| by_resource.get(name).into_iter().flatten().copied();
        let same = instance == resource;
        let paths: Vec<&Path> = of(&instance).chain(of(&resource).filter(|_| !same)).collect();
        if paths.is_empty() {
            continue;
        }
        let diff = compared(change, Paths::and_below(paths));
        if diff.act != Act::Keep {
            shown.push((change, diff));
        }
    }
    shown
}

fn compared<'c>(change: &'c Change, relevant: Paths<'c>) -> Diff<'c> {
    let pair = Pair { relevant, ..Pair::new(Some(&change.before), Some(&change.after)) };
    diff::block(&pair.implicit(), &change.schema.block)
}
