//! Actions and reasons in words, for somebody who has never seen this plan.

use groma_model::address::{InstanceKey, ResourceMode};

use super::attributes::{AttributeChange, Difference};
use crate::change::{Action, Change, Note, Reason};
use crate::pending::Pending;
use crate::plan::{Mode, Plan};

/// What is done, in a sentence.
pub(super) fn summary(change: &Change) -> String {
    let Change { address, deposed, action, .. } = change;
    let subject = match deposed {
        Some(key) => format!("An old object of {address}, put aside as {key},"),
        None => address.to_string(),
    };
    match action {
        Action::NoOp if change.importing.is_some() => format!("{subject} will be imported, and nothing else."),
        Action::NoOp if change.only_waits() => format!("{subject} is waited for: it is there, and not ready."),
        Action::NoOp => format!("Nothing is done with {address}."),
        Action::Create => format!("{subject} will be created."),
        Action::Read => format!("{subject} will be read when the plan is applied."),
        Action::Update => format!("{subject} will be updated in place."),
        Action::Delete => format!("{subject} will be destroyed."),
        Action::DeleteThenCreate => format!("{subject} will be replaced: destroyed first, then created anew."),
        Action::CreateThenDelete => {
            format!("{subject} will be replaced: a new one is created, then the old one destroyed.")
        }
        Action::Forget => format!("{subject} will be forgotten: the object stays, and leaves the state."),
        Action::ForgetThenCreate => format!("{subject} will be replaced: the old object is forgotten, not destroyed."),
    }
}

/// What it lacks.
pub(super) fn not_ready(pending: &Pending) -> String {
    let seen = pending.seen_in_brief().map(|seen| format!(" Last seen: {seen}.")).unwrap_or_default();
    format!("It was not ready when it was last looked at: waiting for {}.{seen}", pending.waiting_for)
}

/// Why, where the planner wrote down why.
pub(super) fn reason(reason: Reason, change: &Change) -> String {
    let resource = &change.address.instance.resource;
    match reason {
        Reason::ReplaceBecauseTainted => {
            "It is tainted: an earlier apply failed while creating it, or \"taint\" marked it, so it is replaced."
                .to_owned()
        }
        Reason::ReplaceByRequest => "A replacement was asked for with -replace.".to_owned(),
        Reason::ReplaceByTriggers => "Something that its replace_triggered_by names changes.".to_owned(),
        Reason::ReplaceBecauseCannotUpdate => cannot_update(change),
        Reason::DeleteBecauseNoResourceConfig => {
            format!("The configuration has no {} block for {resource} any more.", resource.mode.block_name())
        }
        Reason::DeleteBecauseNoModule => format!("The configuration does not call {} any more.", change.address.module),
        Reason::DeleteBecauseWrongRepetition => wrong_repetition(change),
        Reason::DeleteBecauseCountIndex => {
            format!("Its index {} is beyond the present count.", change.address.key())
        }
        Reason::DeleteBecauseEachKey => format!("Its key {} is not in for_each any more.", change.address.key()),
        Reason::DeleteBecauseEnabledFalse => "Its lifecycle says enabled = false.".to_owned(),
        Reason::DeleteBecauseNoMoveTarget => {
            "It was moved to this address, and the configuration declares nothing here.".to_owned()
        }
        Reason::ReadBecauseConfigUnknown => {
            "Its configuration refers to values that are not known before the apply.".to_owned()
        }
        Reason::ReadBecauseDependencyPending => "Something that it depends on changes first.".to_owned(),
        Reason::ReadBecauseCheckNested => {
            "It belongs to a check block, which reads it at the end of each apply.".to_owned()
        }
        Reason::ForgotBecauseLifecycleDestroyInConfig => {
            "Its lifecycle block says destroy = false, so the object is kept.".to_owned()
        }
        Reason::ForgotBecauseLifecycleDestroyInState => {
            "When it was last applied its lifecycle block said destroy = false, so the object is kept.".to_owned()
        }
    }
}

fn cannot_update(change: &Change) -> String {
    let paths: Vec<String> = change.replace_paths.iter().map(attribute_name).collect();
    match paths.as_slice() {
        [] => "The provider cannot make this change in place.".to_owned(),
        [one] => format!("The provider cannot change {one} in place."),
        many => format!("The provider cannot change these in place: {}.", many.join(", ")),
    }
}

/// A path without the dot in front.
pub(super) fn attribute_name(path: &groma_model::path::Path) -> String {
    path.to_string().trim_start_matches('.').to_owned()
}

fn wrong_repetition(change: &Change) -> String {
    match change.address.key() {
        InstanceKey::None => "The resource now has count or for_each, and this instance has no key.".to_owned(),
        InstanceKey::Int(_) => "The resource has no count any more, and this instance has a number.".to_owned(),
        InstanceKey::String(_) => "The resource has no for_each any more, and this instance has a key.".to_owned(),
    }
}

/// Why, where the values say it all.
pub(super) fn plain_reason(plan: &Plan, change: &Change, attributes: &[AttributeChange], gone: bool) -> Option<String> {
    let moved = change.previous_address.as_ref().is_some_and(|from| *from != change.address);
    let text = match change.action {
        Action::Create if gone => {
            "It was there when the last run ended and is gone now: something else deleted it. It is created again."
                .to_owned()
        }
        Action::Create => "The configuration declares it, and the state has no object for it.".to_owned(),
        Action::Update if attributes.iter().all(|found| found.difference == Difference::Sensitivity) => {
            "Only which of its values may be shown changes.".to_owned()
        }
        Action::Update => "Its configuration and the object as it is differ.".to_owned(),
        Action::Delete if change.deposed.is_some() => {
            "It was replaced in an earlier run that could not delete it. It is deleted now.".to_owned()
        }
        Action::Delete | Action::Forget if plan.mode == Mode::Destroy => "The plan takes everything down.".to_owned(),
        Action::Delete | Action::Forget => "The configuration does not ask for it any more.".to_owned(),
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => cannot_update(change),
        Action::Read => "It can be read only when the plan is applied.".to_owned(),
        Action::NoOp if change.importing.is_some() || moved => return None,
        Action::NoOp if change.address.instance.resource.mode == ResourceMode::Managed => {
            "The object is as its configuration says.".to_owned()
        }
        Action::NoOp => "Nothing is to be done for it.".to_owned(),
    };
    Some(text)
}

/// Another decision in words. Those that are shown as lists are left out.
pub(super) fn note(note: &Note) -> Option<String> {
    match note {
        Note::Ignored(_) | Note::MadeFirstFor(_) | Note::Ordered(_) | Note::Requested => None,
        Note::TriggeredBy(entry) => Some(format!("Its replace_triggered_by names {entry}, which changes.")),
        Note::TakenAlong(with, rule) => Some(format!(
            "It depends on {with}, which is replaced, and the rule {rule:?} has it replaced as well (replace_dependents)."
        )),
        Note::NotDestroyed => Some(
            "The object is kept: its lifecycle block, a removed block or the state says destroy = false.".to_owned(),
        ),
    }
}

/// Why the new object comes first, or the old one goes first. None if nothing is replaced.
pub(super) fn replacement_order(change: &Change) -> Option<String> {
    let made_first_for = change.notes.iter().find_map(|note| match note {
        Note::MadeFirstFor(resource) => Some(resource),
        _ => None,
    });
    let ordered = change.notes.iter().find_map(|note| match note {
        Note::Ordered(who) => Some(who),
        _ => None,
    });
    if let Some(who) = ordered {
        return Some(format!("Its order is decided otherwise than by the configuration: {who}."));
    }
    let text = match (change.action, made_first_for) {
        (Action::CreateThenDelete, Some(resource)) => format!(
            "The new object is created first because {resource}, which depends on it, says create_before_destroy: it must \
             never be without this one."
        ),
        (Action::CreateThenDelete, None) => {
            "The new object is created first because its lifecycle block says create_before_destroy = true.".to_owned()
        }
        (Action::DeleteThenCreate, _) => {
            "The old object is destroyed first, as nothing says create_before_destroy. In \
                                          between there is none."
                .to_owned()
        }
        _ => return None,
    };
    Some(text)
}
