//! Conditions, as kstatus reads them: `Ready`, and `Reconciling` and `Stalled` only while they are so.

use std::borrow::Cow;

use crate::api::shared::{Condition, Moment, Truth};

/// What is said about an object at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Whether it is ready.
    pub ready: Truth,
    /// Why, in one word.
    pub reason: Cow<'static, str>,
    /// Why, for people.
    pub message: String,
    /// Whether something is under way, or will be tried again by itself.
    pub activity: Activity,
}

/// Whether waiting makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Nothing is to be done.
    Idle,
    /// Something is under way, or will be tried again.
    Reconciling,
    /// Nothing happens until somebody changes something.
    Stalled,
}

/// No message is longer than that.
const MOST_CHARACTERS: usize = 4_000;

/// Puts what is said into the conditions. What was so before is so since then.
pub fn say(conditions: &mut Vec<Condition>, said: &Said, generation: Option<i64>, now: Moment) {
    let message = shortened(&said.message);
    let mut set = |kind: &str, status: Option<Truth>| {
        let at = conditions.iter().position(|known| known.kind == kind);
        let Some(status) = status else {
            at.map(|at| conditions.remove(at));
            return;
        };
        let since = at.and_then(|at| conditions.get(at)).filter(|known| known.status == status);
        let condition = Condition {
            kind: kind.to_owned(),
            status,
            observed_generation: generation,
            last_transition_time: since.map_or(now, |known| known.last_transition_time),
            reason: said.reason.clone().into_owned(),
            message: message.clone(),
        };
        match at.and_then(|at| conditions.get_mut(at)) {
            Some(known) => *known = condition,
            None => conditions.push(condition),
        }
    };
    set("Ready", Some(said.ready));
    set("Reconciling", (said.activity == Activity::Reconciling).then_some(Truth::True));
    set("Stalled", (said.activity == Activity::Stalled).then_some(Truth::True));
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= MOST_CHARACTERS {
        return text.to_owned();
    }
    let kept: String = text.chars().take(MOST_CHARACTERS - 3).collect();
    format!("{kept}...")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(second: i64) -> Moment {
        Moment(jiff::Timestamp::from_second(second).unwrap())
    }

    fn said(ready: Truth, message: &str, activity: Activity) -> Said {
        Said { ready, reason: "Because".into(), message: message.to_owned(), activity }
    }

    #[test]
    fn what_stays_so_is_so_since_then() {
        let mut conditions = Vec::new();
        say(&mut conditions, &said(Truth::Unknown, "a", Activity::Reconciling), Some(1), moment(1));
        say(&mut conditions, &said(Truth::Unknown, "b", Activity::Reconciling), Some(1), moment(2));
        assert_eq!(conditions.len(), 2);
        assert!(conditions.iter().all(|known| known.last_transition_time == moment(1) && known.message == "b"));
        say(&mut conditions, &said(Truth::True, "c", Activity::Idle), Some(1), moment(3));
        assert_eq!(conditions.len(), 1);
        assert_eq!(conditions[0].last_transition_time, moment(3));
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        let mut conditions = Vec::new();
        say(&mut conditions, &said(Truth::False, &"\u{e4}".repeat(5_000), Activity::Stalled), None, moment(1));
        assert_eq!(conditions[0].message.chars().count(), MOST_CHARACTERS);
        assert!(conditions[0].message.ends_with("..."));
    }
}
