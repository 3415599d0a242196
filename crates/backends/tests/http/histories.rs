//! Two processes that write many states, and are stopped for longer than a lock may be silent. Whatever was acknowledged must be
//! there in the end.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use groma_state::StoreError;

use super::actor::{Actor, Other, backend, clock, since};

/// How long a process is stopped: longer than a lock may be silent.
const STOPPED: Duration = Duration::from_millis(16_500);

/// How many histories, unless the environment says otherwise.
const USUAL: usize = 50;
/// How many at the same time.
const BATCH: usize = 50;

/// The environment variable that says how many.
const COUNT: &str = "GROMA_HISTORIES";

/// Pseudo-random, so that a seed says everything but the timing.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Does a batch of histories in this process. `what` is: name, seed, seconds.
#[allow(clippy::print_stdout, reason = "it is how one process tells another")]
pub(crate) fn run_all(kind: &str, settings: &[(&str, &str)], scratch: &Path, what: &str) {
    let words: Vec<&str> = what.split(' ').collect();
    let (who, seed, seconds): (&str, u64, u64) = (words[0], words[1].parse().unwrap(), words[2].parse().unwrap());
    let end = clock() + Duration::from_secs(seconds);
    let out = Mutex::new(());
    std::thread::scope(|scope| {
        for number in 0..BATCH {
            let mut chance =
                Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (number as u64 + 1) << 20 ^ who.len() as u64);
            // The settings have a place for the number.
            let own: Vec<(&str, String)> =
                settings.iter().map(|(name, value)| (*name, value.replace("{n}", &number.to_string()))).collect();
            let out = &out;
            scope.spawn(move || {
                let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let backend = backend(kind, &own, scratch);
                let mut round = 0;
                while clock() < end {
                    round += 1;
                    let said = one_round(&mut Actor::new(&*backend), &mut chance, &format!("{who}_{number}_{round}"));
                    let _guard = out.lock().unwrap();
                    for line in said {
                        println!("@ {number} {line}");
                    }
                }
            });
        }
    });
}

/// Locks, reads, and stores a few times. What came of it.
fn one_round(actor: &mut Actor, chance: &mut Chance, id: &str) -> Vec<String> {
    let nap = |chance: &mut Chance, most: u64| std::thread::sleep(Duration::from_millis(chance.below(most)));
    let before = clock();
    if actor.lock(id).is_err() {
        nap(chance, 300);
        return Vec::new();
    }
    // A lock that was waited for that long was taken from somebody who was silent.
    let waited = since(before);
    let mut said = Vec::new();
    if waited > Duration::from_secs(14) && waited < STOPPED {
        said.push(format!("took {id}"));
    }
    nap(chance, 200);
    if actor.read().is_ok() {
        for number in 0..=chance.below(3) {
            let name = format!("{id}_{number}");
            match actor.write(&name) {
                Ok(()) => said.push(format!("stored {name}")),
                Err(StoreError::Remote { .. }) => said.push(format!("trouble {name}")),
                Err(_) => {
                    said.push(format!("refused {name}"));
                    break;
                }
            }
            nap(chance, 400);
        }
    }
    nap(chance, 300);
    let _ = actor.unlock();
    nap(chance, 300);
    said
}

/// What happened in one batch.
#[derive(Debug, Default)]
struct Tally {
    stored: Vec<BTreeSet<String>>,
    taken: usize,
    refused: usize,
}

impl Tally {
    fn count(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[1] {
            "stored" => drop(self.stored[words[0].parse::<usize>().unwrap()].insert(words[2].to_owned())),
            "took" => self.taken += 1,
            "refused" => self.refused += 1,
            _ => {}
        }
    }
}

/// Lets two processes do all histories, and looks at what is there in the end.
#[allow(clippy::print_stdout, reason = "for whoever runs a thousand")]
pub(crate) fn check(kind: &str, settings: &[(&str, String)], scratch: &Path) {
    #[allow(clippy::disallowed_methods, reason = "how many is for whoever runs the tests to say")]
    let count: usize = std::env::var(COUNT).ok().map_or(USUAL, |text| text.parse().unwrap());
    let (mut done, mut lost, mut total) = (0, Vec::new(), Tally::default());
    while done < count {
        let seed = (done / BATCH + 1) as u64;
        let in_batch: Vec<(&str, String)> =
            settings.iter().map(|(name, value)| (*name, value.replace("{b}", &seed.to_string()))).collect();
        let borrowed: Vec<(&str, &str)> = in_batch.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let tally = one_batch(kind, &borrowed, scratch, seed);
        for (number, stored) in tally.stored.iter().enumerate() {
            let own: Vec<(&str, String)> =
                borrowed.iter().map(|(name, value)| (*name, value.replace("{n}", &number.to_string()))).collect();
            let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let there = Actor::new(&*backend(kind, &own, scratch)).read().unwrap();
            let there: BTreeSet<String> = there.into_iter().collect();
            lost.extend(stored.difference(&there).map(|name| format!("batch {seed}, state {number}: {name}")));
        }
        total.taken += tally.taken;
        total.refused += tally.refused;
        total.stored.extend(tally.stored);
        done += BATCH;
    }
    let stored: usize = total.stored.iter().map(BTreeSet::len).sum();
    println!(
        "{done} histories: {stored} stored, {} taken over, {} refused, {} lost",
        total.taken,
        total.refused,
        lost.len()
    );
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(stored >= done && total.taken > 0 && total.refused > 0, "nothing was tried");
}

fn one_batch(kind: &str, settings: &[(&str, &str)], scratch: &Path, seed: u64) -> Tally {
    let mut tally = Tally { stored: vec![BTreeSet::new(); BATCH], ..Tally::default() };
    let mut others = ["a", "bb"].map(|name| (name, Other::start(kind, settings, scratch)));
    for (name, other) in &mut others {
        other.tell(&format!("histories {name} {seed} 42"));
    }
    // They are on their way once each has stored something.
    let mut listen = |other: &mut Other, until: &dyn Fn(&str) -> bool| {
        loop {
            let line = other.answer();
            if line == "done" {
                return true;
            }
            tally.count(&line);
            if until(&line) {
                return false;
            }
        }
    };
    for (_, other) in &mut others {
        listen(other, &|line| line.contains(" stored "));
    }
    for (_, other) in &others {
        other.pause();
        std::thread::sleep(STOPPED);
        other.resume();
    }
    for (_, other) in &mut others {
        while !listen(other, &|_| false) {}
    }
    tally
}
