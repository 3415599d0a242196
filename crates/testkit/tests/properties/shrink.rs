//! Makes histories that fail shorter: whatever can be left out is.

use crate::history::{Failure, History};

/// How many histories are tried at most.
const TRIES: usize = 400;

/// The shortest history found that fails in the same way.
pub(crate) fn smallest(mut history: History, mut failure: Failure) -> (History, Failure) {
    // What panics is shown once is enough.
    std::panic::set_hook(Box::new(|_| {}));
    let mut tries = 0;
    loop {
        let before = size(&history);
        for smaller in candidates(&history) {
            tries += 1;
            if tries > TRIES {
                break;
            }
            if let Err(found) = smaller.run()
                && found.sort() == failure.sort()
            {
                (history, failure) = (smaller, found);
                break;
            }
        }
        if size(&history) == before {
            break;
        }
    }
    let _ = std::panic::take_hook();
    (history, failure)
}

/// What is left out counts by how much there is.
fn size(history: &History) -> usize {
    let steps: usize = history.steps.iter().map(|step| 1000 * (1 + step.edits.len())).sum();
    steps + 500 - history.without.len().min(400) - usize::from(history.bare)
}

/// Each without one step, without one edit, or with one declaration less in all configurations.
fn candidates(history: &History) -> Vec<History> {
    let mut found = Vec::new();
    if !history.bare {
        found.push(History { bare: true, ..history.clone() });
    }
    for serial in (1..=history.serials()).filter(|serial| !history.without.contains(serial)) {
        let mut shorter = history.clone();
        shorter.without.insert(serial);
        found.push(shorter);
    }
    for at in (0..history.steps.len()).rev() {
        let mut shorter = history.clone();
        shorter.steps.remove(at);
        found.push(shorter);
    }
    for (at, step) in history.steps.iter().enumerate() {
        for edit in 0..step.edits.len() {
            let mut shorter = history.clone();
            shorter.steps[at].edits.remove(edit);
            found.push(shorter);
        }
    }
    found
}
