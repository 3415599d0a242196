//! Which of many things that wait for each other can start.

use std::collections::BTreeSet;

/// Things by number, and what each waits for. What can start is given out in the order of the numbers.
pub(crate) struct Schedule {
    unmet: Vec<usize>,
    needed_by: Vec<Vec<usize>>,
    /// What failed that each needs, if anything did.
    blocked: Vec<Option<usize>>,
    ready: BTreeSet<usize>,
}

impl Schedule {
    /// Of things that need others. A need counts as often as it is named.
    pub(crate) fn new(needs: &[Vec<usize>]) -> Self {
        let mut schedule = Self {
            unmet: needs.iter().map(Vec::len).collect(),
            needed_by: vec![Vec::new(); needs.len()],
            blocked: vec![None; needs.len()],
            ready: BTreeSet::new(),
        };
        for (at, needs) in needs.iter().enumerate() {
            for need in needs {
                schedule.needed_by[*need].push(at);
            }
            if needs.is_empty() {
                schedule.ready.insert(at);
            }
        }
        schedule
    }

    /// The next that can start.
    pub(crate) fn next(&mut self) -> Option<usize> {
        self.ready.pop_first()
    }

    /// What failed that it needs, however indirectly. None if nothing did.
    pub(crate) fn blocked_by(&self, at: usize) -> Option<usize> {
        self.blocked[at]
    }

    /// It is over. If it failed, or never started because it was blocked, so is what needs it.
    pub(crate) fn done(&mut self, at: usize, failed: bool) {
        let cause = failed.then(|| self.blocked[at].unwrap_or(at));
        for needing in std::mem::take(&mut self.needed_by[at]) {
            self.blocked[needing] = self.blocked[needing].or(cause);
            self.unmet[needing] -= 1;
            if self.unmet[needing] == 0 {
                self.ready.insert(needing);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_start_when_what_they_need_is_done() {
        let mut schedule = Schedule::new(&[vec![1], vec![], vec![0, 1], vec![]]);
        assert_eq!(schedule.next(), Some(1));
        assert_eq!(schedule.next(), Some(3));
        assert_eq!(schedule.next(), None);
        schedule.done(1, false);
        assert_eq!(schedule.next(), Some(0));
        schedule.done(0, true);
        assert_eq!(schedule.next(), Some(2));
        assert_eq!(schedule.blocked_by(2), Some(0));
    }
}
