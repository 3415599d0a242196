//! A model of the table in `docs/adr/0018-journal-and-backends.md`: every backend with a holder that is killed or paused after
//! every step, and then another groma, on the same machine or not, or another tool. The journal and the folding are the real
//! ones; servers, machines and time are small.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

#[path = "backends/model.rs"]
mod model;
#[path = "backends/table.rs"]
mod table;

use std::collections::BTreeSet;

use model::{Machine, Process, STEPS, Server};
use table::{JournalPlace, LockKind, ROWS, Row};

/// How long a holder may be silent.
const SILENCE: u64 = 15;
/// When at the latest a silent holder is replaced.
const LATEST: u64 = 20;

#[test]
fn the_table_is_the_model() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/adr/0018-journal-and-backends.md");
    let text = std::fs::read_to_string(path).unwrap();
    let written: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("| backend |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let modelled: Vec<String> = ROWS.iter().map(Row::to_string).collect();
    assert_eq!(written, modelled);
}

/// Waits for the lock, as long as anybody would. When it was had, if it was.
fn wait_for_lock(process: &mut Process<'_>) -> Option<u64> {
    let server = process.server();
    let began = server.now();
    while server.now() - began <= LATEST {
        if process.lock() {
            return Some(server.now() - began);
        }
        server.wait(1);
    }
    None
}

/// Whether a run that stopped there has left a journal.
fn has_journal(stop: usize) -> bool {
    !["locking", "the end", "unlocking"].contains(&STEPS[stop])
}

/// Whether the lock of a holder that went silent is still in the way.
fn expected_wait(row: &Row, stop: usize, paused: bool, same_machine: bool) -> Option<u64> {
    let locked = stop < STEPS.len() - 1;
    match row.lock {
        _ if !locked => Some(0),
        LockKind::Process | LockKind::Connection => (!paused).then_some(0),
        // The spool says whose lock it is, and that its process is gone.
        LockKind::Lease if row.journal == JournalPlace::Spool && has_journal(stop) && same_machine && !paused => {
            Some(0)
        }
        LockKind::Lease => Some(SILENCE),
    }
}

fn each(mut test: impl FnMut(&'static Row, usize)) {
    for row in ROWS {
        for stop in 0..STEPS.len() {
            test(row, stop);
        }
    }
}

#[test]
fn a_stock_tool_after_a_kill_sees_the_last_snapshot() {
    each(|row, stop| {
        let (server, machine) = (Server::new(row), Machine::default());
        let mut holder = Process::new(&server, &machine, 1);
        holder.run_to(stop);
        let snapshot = holder.in_snapshot();
        holder.kill();
        assert_eq!(server.seen_by_stock_tools(), snapshot, "{} after {}", row.name, STEPS[stop]);
        let locked = stop < STEPS.len() - 1 && row.lock == LockKind::Lease;
        assert_eq!(server.is_locked(), locked, "{} after {}", row.name, STEPS[stop]);
    });
}

#[test]
fn after_a_kill_nothing_is_lost_and_nothing_is_forgotten() {
    each(|row, stop| {
        for same_machine in [true, false] {
            if !same_machine && row.journal == JournalPlace::Beside {
                continue;
            }
            let what = format!("{} after {}, same machine: {same_machine}", row.name, STEPS[stop]);
            let (server, machine, other) = (Server::new(row), Machine::default(), Machine::default());
            let mut holder = Process::new(&server, &machine, 1);
            holder.run_to(stop);
            let (acknowledged, made, snapshot) = (holder.acknowledged(), holder.made(), holder.in_snapshot());
            holder.kill();
            let mut next = Process::new(&server, if same_machine { &machine } else { &other }, 2);
            let waited = wait_for_lock(&mut next);
            assert_eq!(waited, expected_wait(row, stop, false, same_machine), "{what}");
            let (known, in_flight) = next.recover();
            // What one machine has spooled is the only thing that another cannot know.
            let hidden = row.journal == JournalPlace::Spool && !same_machine;
            let expected = if hidden { &snapshot } else { &acknowledged };
            assert_eq!(&known, expected, "{what}");
            if !hidden {
                let accounted: BTreeSet<_> = known.union(&in_flight).cloned().collect();
                assert!(made.is_subset(&accounted), "{what}: made {made:?}, known {accounted:?}");
            }
            next.finish("c");
            if hidden {
                // The first machine comes back.
                let mut back = Process::new(&server, &machine, 3);
                assert!(back.lock());
                let (known, in_flight) = back.recover();
                let accounted: BTreeSet<_> = known.union(&in_flight).cloned().collect();
                assert!(made.is_subset(&accounted) && known.contains("c"), "{what}: {accounted:?}");
                back.finish("d");
            }
            assert!(server.seen_by_stock_tools().contains("c"), "{what}");
        }
    });
}

/// When a paused holder wakes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wake {
    /// Another has the lock.
    Locked,
    /// Another has read everything, and is about to begin.
    Read,
    /// Another has ended.
    Ended,
}

#[test]
fn a_paused_holder_blocks_or_is_fenced_off() {
    for wake in [Wake::Locked, Wake::Read, Wake::Ended] {
        each(|row, stop| wakes_up(row, stop, wake));
    }
}

fn wakes_up(row: &'static Row, stop: usize, wake: Wake) {
    let what = format!("{} after {}, {wake:?}", row.name, STEPS[stop]);
    let (server, machine, other) = (Server::new(row), Machine::default(), Machine::default());
    let mut holder = Process::new(&server, &machine, 1);
    holder.run_to(stop);
    let mut next = Process::new(&server, if row.journal == JournalPlace::Beside { &machine } else { &other }, 2);
    let waited = wait_for_lock(&mut next);
    assert_eq!(waited, expected_wait(row, stop, true, false), "{what}");
    if waited.is_none() {
        // It goes on as if nothing had been.
        holder.run_to(STEPS.len() - 1);
        assert_eq!(server.seen_by_stock_tools(), holder.acknowledged(), "{what}");
        return;
    }
    let ended = stop == STEPS.len() - 1;
    // It has seen the state when it wakes up, and must not overwrite what it has not seen.
    let mut wakes = |now: Wake| {
        if now == wake && !ended {
            let before = server.seen_by_stock_tools();
            holder.try_to_end();
            let after = server.seen_by_stock_tools();
            let has_read = stop > 0 || wake != Wake::Ended;
            assert!(before.is_subset(&after), "{what}: an update was lost");
            assert!(!has_read || before == after, "{what}: it was let through");
        }
    };
    wakes(Wake::Locked);
    next.look();
    wakes(Wake::Read);
    next.begin().unwrap();
    next.finish("c");
    wakes(Wake::Ended);
    // What it has made is known to its own machine, if to nobody else.
    let seen = server.seen_by_stock_tools();
    assert!(seen.contains("c"), "{what}: an update was lost");
    let made = holder.made();
    let known: BTreeSet<_> = seen.iter().cloned().chain(next.in_flight()).chain(machine.spooled()).collect();
    assert!(made.is_subset(&known), "{what}: made {made:?}, known {known:?}");
}

/// Without a lock, the token alone keeps two writers apart.
#[test]
fn of_two_writers_without_a_lock_one_is_refused() {
    for row in ROWS {
        let (server, machine) = (Server::new(row), Machine::default());
        let mut first = Process::new(&server, &machine, 1);
        let mut second = Process::new(&server, &machine, 2);
        first.read();
        second.read();
        assert!(first.write("x"), "{}", row.name);
        assert!(!second.write("y"), "{}", row.name);
        assert_eq!(server.seen_by_stock_tools(), ["x".to_owned()].into(), "{}", row.name);
    }
}
