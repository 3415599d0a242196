//! The comment in front of a change: what is done with which object, and why.

use std::fmt::Write as _;

use groma_model::address::InstanceKey;
use groma_model::codec::json;
use groma_model::value::go_quote;
use groma_run::engine::ImportTarget;
use groma_run::engine::change::{Action, Change, Note, Reason};

use super::is_moved;
use crate::render::paint::{Paint, Tone};

/// Who changes the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// We do, if the plan is applied.
    Plan,
    /// Somebody else did.
    Outside,
}

/// Writes the comment.
pub(super) fn write(out: &mut String, paint: Paint, change: &Change, cause: Cause) {
    let mut address = change.address.to_string();
    if let Some(deposed) = &change.deposed {
        let _ = write!(address, " (deposed object {})", deposed.as_str());
    }
    // What was there under another name is told first.
    let moved_only = change.action == Action::NoOp && is_moved(change);
    if let (true, Some(from)) = (moved_only, &change.previous_address) {
        paint.write(out, Tone::Bold, &format!("  # {from}"));
        out.push_str(" has moved to ");
        paint.write(out, Tone::Bold, &address);
    } else {
        paint.write(out, Tone::Bold, &format!("  # {address}"));
        verdict(out, paint, change, cause);
    }
    out.push('\n');
    for line in reasons(change) {
        let _ = writeln!(out, "  # ({line})");
    }
    if let (true, false, Some(from)) = (is_moved(change), moved_only, &change.previous_address) {
        let _ = writeln!(out, "  # (moved from {from})");
    }
    if let Some(target) = &change.importing {
        import(out, target);
        if matches!(change.action, Action::CreateThenDelete | Action::DeleteThenCreate) {
            out.push_str("  # ");
            paint.write(out, Tone::Changed, "Warning: this will destroy the imported resource");
            out.push('\n');
        }
    }
    for note in &change.notes {
        if let Some(text) = note_text(note) {
            let _ = writeln!(out, "  # ({text})");
        }
    }
}

/// What is done, behind the address.
fn verdict(out: &mut String, paint: Paint, change: &Change, cause: Cause) {
    let outside = cause == Cause::Outside;
    match change.action {
        Action::Create => out.push_str(" will be created"),
        Action::Read => out.push_str(" will be read during apply"),
        Action::Update if outside => out.push_str(" has changed"),
        Action::Update => out.push_str(" will be updated in-place"),
        Action::Delete if outside => out.push_str(" has been deleted"),
        Action::Delete => {
            out.push_str(" will be ");
            paint.write(out, Tone::Bad, "destroyed");
        }
        Action::DeleteThenCreate | Action::CreateThenDelete => replaced(out, paint, change.reason),
        Action::ForgetThenCreate => {
            replaced(out, paint, change.reason);
            out.push_str(" - ");
            paint.write(out, Tone::Changed, "older instance will not be destroyed");
            out.push_str(" (lifecycle.destroy = false)");
        }
        Action::Forget => {
            out.push_str(" will be removed from the groma state ");
            paint.write(out, Tone::Bad, "but will not be destroyed");
        }
        Action::NoOp if change.only_waits() => {
            out.push_str(" is ");
            paint.write(out, Tone::Changed, "not ready");
            let waiting = change.not_ready.as_ref().map(|pending| pending.waiting_for.as_str()).unwrap_or_default();
            let _ = write!(out, ": waiting for {waiting}");
        }
        Action::NoOp => out.push_str(" will be imported"),
    }
}

fn replaced(out: &mut String, paint: Paint, reason: Option<Reason>) {
    let (before, after) = match reason {
        Some(Reason::ReplaceBecauseTainted) => (" is tainted, so it must be ", ""),
        Some(Reason::ReplaceByRequest) => (" will be ", ", as requested"),
        Some(Reason::ReplaceByTriggers) => (" will be ", " due to changes in replace_triggered_by"),
        _ => (" must be ", ""),
    };
    out.push_str(before);
    paint.write(out, Tone::Bad, "replaced");
    out.push_str(after);
}

/// Whether a reason says more than the headline does.
fn is_told(action: Action, reason: Reason) -> bool {
    let forgot =
        matches!(reason, Reason::ForgotBecauseLifecycleDestroyInConfig | Reason::ForgotBecauseLifecycleDestroyInState);
    match action {
        Action::Read | Action::Delete => true,
        Action::Forget => forgot,
        _ => false,
    }
}

/// Why, a line each.
fn reasons(change: &Change) -> Vec<String> {
    let resource = &change.address.instance.resource;
    let key = change.address.key();
    let mut lines = Vec::new();
    let because = match change.reason.filter(|reason| is_told(change.action, *reason)) {
        Some(Reason::ReadBecauseConfigUnknown) => Some("config refers to values not yet known".to_owned()),
        Some(Reason::ReadBecauseDependencyPending) => {
            Some("depends on a resource or a module with changes pending".to_owned())
        }
        Some(Reason::ReadBecauseCheckNested) => Some("config will be reloaded to verify a check block".to_owned()),
        Some(Reason::DeleteBecauseNoResourceConfig) => {
            Some(format!("because {}.{} is not in configuration", resource.ty, resource.name))
        }
        Some(Reason::DeleteBecauseNoMoveTarget) => {
            let from = change.previous_address.as_ref().unwrap_or(&change.address);
            Some(format!("because {from} was moved to {}, which is not in configuration", change.address))
        }
        Some(Reason::DeleteBecauseNoModule) => {
            Some(format!("because {} is not in configuration", change.address.module))
        }
        Some(Reason::DeleteBecauseWrongRepetition) => Some(
            match key {
                InstanceKey::None => "because resource uses count or for_each",
                InstanceKey::String(_) => "because resource does not use for_each",
                InstanceKey::Int(_) => "because resource does not use count",
            }
            .to_owned(),
        ),
        Some(Reason::DeleteBecauseCountIndex) => Some(format!("because index {key} is out of range for count")),
        Some(Reason::DeleteBecauseEachKey) => Some(format!("because key {key} is not in for_each map")),
        Some(Reason::DeleteBecauseEnabledFalse) => Some("because enabled is false".to_owned()),
        Some(Reason::ForgotBecauseLifecycleDestroyInConfig) => {
            Some("because lifecycle.destroy = false is set in the configuration".to_owned())
        }
        Some(Reason::ForgotBecauseLifecycleDestroyInState) => {
            Some("because lifecycle.destroy = false was configured before this resource was removed".to_owned())
        }
        _ => None,
    };
    lines.extend(because);
    if let Some(pending) = &change.not_ready {
        if !change.only_waits() {
            lines.push(format!("not ready: waiting for {}", pending.waiting_for));
        }
        lines.extend(pending.seen_in_brief().map(|seen| format!("last seen: {seen}")));
    }
    let removes = matches!(change.action, Action::Delete | Action::Forget | Action::ForgetThenCreate);
    if removes && change.deposed.is_some() {
        lines.push("left over from a partially-failed replacement of this instance".to_owned());
    }
    if change.action == Action::NoOp && change.importing.is_some() && change.generated_config.is_some() {
        lines.push("config will be generated".to_owned());
    }
    lines
}

fn import(out: &mut String, target: &ImportTarget) {
    match target {
        ImportTarget::Id(id) if id.is_empty() => out.push_str("  # (will be imported first)\n"),
        ImportTarget::Id(id) => {
            let _ = writeln!(out, "  # (imported from {})", go_quote(id));
        }
        ImportTarget::Identity(identity) => {
            let shown = identity.clone().unmark_deep().0;
            let text = json::encode_plain(&shown).ok().and_then(|text| {
                let document: serde_json::Value = serde_json::from_str(&text).ok()?;
                serde_json::to_string_pretty(&document).ok()
            });
            match text {
                Some(text) => {
                    let _ = writeln!(out, "  # imported using resource identity: {}", text.replace('\n', "\n  # "));
                }
                None => out.push_str("  # (will be imported first)\n"),
            }
        }
    }
}

/// What else was decided, where the headline does not tell it already.
fn note_text(note: &Note) -> Option<String> {
    match note {
        Note::Ignored(path) => Some(format!("ignore_changes keeps {}", path.to_string().trim_start_matches('.'))),
        Note::TriggeredBy(trigger) => Some(format!("replace_triggered_by: {trigger} changes")),
        Note::TakenAlong(with, rule) => Some(format!("replaced along with {with}: rule {rule:?}, replace_dependents")),
        Note::MadeFirstFor(resource) => Some(format!("its replacement is made first, as {resource} asks for")),
        Note::Ordered(who) => Some(format!("order: {who}")),
        Note::Requested | Note::NotDestroyed => None,
    }
}
