//! Work done by a few threads at once, results in the order of the work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

/// Two: the programs are started thousands of times, and the machine has other things to do.
pub(super) const THREADS: usize = 2;

/// Does `work` on every item; the first error is the result. `work` is also told which of the
/// [`THREADS`] it runs on, for what threads cannot share.
pub(super) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (next, done, work) = (&next, &done, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { return };
                    let result = work(thread, item);
                    let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    done.push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..100).collect();
        let doubled = super::map(&items, |_, item| Ok(item * 2)).unwrap();
        assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
    }

    #[test]
    fn an_error_of_one_item_is_the_result() {
        let result = super::map(&[1, 2, 3], |_, item| if *item == 2 { anyhow::bail!("two") } else { Ok(*item) });
        assert_eq!(result.unwrap_err().to_string(), "two");
    }
}
