//! Who waits for the journal. Everyone is told when their own record is safe, and not before: an apply has many waiting, and waking all of
//! them for each other's records costs more than the disk does.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::journal::{Journal, JournalError, Ticket};
use tokio::sync::oneshot;

/// What a waiter is told.
type Settled = Result<(), Diagnostics>;

/// How far the journal is safe, and who waits for more.
pub(super) struct Safety<T = Ticket>(Mutex<Queue<T>>);

struct Queue<T> {
    up_to: Option<T>,
    waiting: BTreeMap<T, Vec<oneshot::Sender<Settled>>>,
}

impl<T> Default for Safety<T> {
    fn default() -> Self {
        Self(Mutex::new(Queue { up_to: None, waiting: BTreeMap::new() }))
    }
}

impl<T: Ord + Copy> Safety<T> {
    fn queue(&self) -> MutexGuard<'_, Queue<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until everything is safe up to there. `flush` gets things moving.
    pub(super) async fn wait_for(&self, ticket: T, flush: &mpsc::Sender<()>) -> Settled {
        let told = {
            let mut queue = self.queue();
            if queue.up_to >= Some(ticket) {
                return Ok(());
            }
            let (tell, told) = oneshot::channel();
            queue.waiting.entry(ticket).or_default().push(tell);
            told
        };
        flush.send(()).map_err(|_| ended())?;
        told.await.map_err(|_| ended())?
    }

    /// Everything up to there is safe.
    fn reached(&self, ticket: T) {
        let settled = {
            let mut queue = self.queue();
            queue.up_to = queue.up_to.max(Some(ticket));
            let later = queue.waiting.split_off(&ticket);
            let mut settled = std::mem::replace(&mut queue.waiting, later);
            settled.extend(queue.waiting.remove_entry(&ticket));
            settled
        };
        // One who has gone away needs no answer.
        settled.into_values().flatten().for_each(|tell| drop(tell.send(Ok(()))));
    }

    /// What was waited for did not become safe. Whoever comes later may have more luck.
    fn failed(&self, why: &Diagnostics) {
        let waiting = std::mem::take(&mut self.queue().waiting);
        waiting.into_values().flatten().for_each(|tell| drop(tell.send(Err(why.clone()))));
    }
}

impl Safety {
    /// Makes everything safe that was handed over, again and again, until nobody can hand anything over.
    pub(super) fn keep_flushing(&self, journal: &Journal, flushes: &mpsc::Receiver<()>) {
        // Even if it ends in a panic, nobody is left waiting.
        let _farewell = Farewell(self);
        while flushes.recv().is_ok() {
            while flushes.try_recv().is_ok() {}
            match journal.flush() {
                Ok(ticket) => self.reached(ticket),
                Err(error) => self.failed(&told(&error)),
            }
        }
    }
}

/// Tells all who wait still.
struct Farewell<'s, T: Ord + Copy>(&'s Safety<T>);

impl<T: Ord + Copy> Drop for Farewell<'_, T> {
    fn drop(&mut self) {
        self.0.failed(&ended().into());
    }
}

fn ended() -> Diagnostic {
    Diagnostic::error("Internal error", "What writes the journal has ended.")
}

/// A journal that cannot be written as it should.
pub(super) fn told(error: &JournalError) -> Diagnostics {
    let diagnostic = Diagnostic::error("Failed to write the journal of the state", format!("{error}."));
    match error {
        JournalError::Moved(trouble) => {
            let hint = format!(
                "It goes on in {}, where the next command finds it. Make room or mend what is wrong, and apply again.",
                trouble.to
            );
            diagnostic.hint(hint).into()
        }
        _ => diagnostic.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn everyone_is_told_of_their_own_record_only() {
        let safety = Arc::new(Safety::<u32>::default());
        let (flush, flushes) = mpsc::channel();
        let wait = |ticket| {
            let (safety, flush) = (Arc::clone(&safety), flush.clone());
            tokio::spawn(async move { safety.wait_for(ticket, &flush).await })
        };
        let (later, earlier) = (wait(3), [1, 2, 2].map(wait));
        while flushes.try_iter().count() == 0 || safety.queue().waiting.len() < 3 {
            tokio::task::yield_now().await;
        }
        safety.reached(2);
        for task in earlier {
            assert!(task.await.unwrap().is_ok());
        }
        assert!(!later.is_finished());
        assert_eq!(safety.queue().waiting.keys().collect::<Vec<_>>(), [&3]);
        assert!(safety.wait_for(1, &flush).await.is_ok(), "what is safe is not waited for");

        drop(Farewell(&safety));
        assert!(later.await.unwrap().is_err(), "nobody waits for ever");
    }

    #[tokio::test]
    async fn a_failure_is_told_to_those_who_wait_and_not_remembered() {
        let safety = Safety::<u32>::default();
        let (flush, _flushes) = mpsc::channel();
        let waiting = safety.wait_for(1, &flush);
        let failing = async {
            while safety.queue().waiting.is_empty() {
                tokio::task::yield_now().await;
            }
            safety.failed(&Diagnostic::error("Disk full", "").into());
        };
        let (settled, ()) = tokio::join!(waiting, failing);
        assert_eq!(settled.unwrap_err().iter().next().unwrap().summary, "Disk full");
        safety.reached(1);
        assert!(safety.wait_for(1, &flush).await.is_ok());
    }
}
