//! The journal and the store on a disk that loses power at any step, fills up, or fails to sync: nothing that was acknowledged
//! is ever lost, nothing that was begun is forgotten, and no state is taken for none.
//!
//! `GROMA_POWER_LOSS_SEEDS` says how many histories to try, `GROMA_POWER_LOSS_SEED` tries one again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

#[path = "power_loss/disk.rs"]
mod disk;
#[path = "power_loss/world.rs"]
mod world;

use disk::Simulated;
use world::World;

/// How many histories are tried when nobody says otherwise.
const HISTORIES: u64 = 300;

/// Chance that is the same every time.
pub(crate) struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// What may go wrong besides the power.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trouble {
    None,
    /// Other tools write the state in between.
    Meddling,
    /// The disk is full or fails to sync.
    Disk,
}

fn history(seed: u64, trouble: Trouble) {
    let mut dice = Dice::new(seed);
    let (disk, mut world) = (Simulated::default(), World::default());
    for _ in 0..5 {
        disk.lose_power_after(Some(1 + dice.below(120) as u64));
        if trouble == Trouble::Disk {
            match dice.below(3) {
                0 => disk.fail_a_sync(),
                1 => disk.fill(Some(world::project())),
                _ => {}
            }
        }
        let steps = dice.below(40);
        let _ = world.run(&disk, &mut dice, steps);
        disk.restart(&mut dice);
        if trouble == Trouble::Meddling && dice.one_in(2) {
            world.meddle(&disk, &mut dice);
        }
    }
    // And once in peace.
    world.run(&disk, &mut dice, 20).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "the environment says which histories to try")]
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(seed) = number("GROMA_POWER_LOSS_SEED") {
        return seed..seed + 1;
    }
    0..number("GROMA_POWER_LOSS_SEEDS").unwrap_or(HISTORIES)
}

fn all_histories(trouble: Trouble) {
    for seed in seeds() {
        let lost = std::panic::catch_unwind(|| history(seed, trouble));
        assert!(lost.is_ok(), "history {seed} went wrong: try it again with GROMA_POWER_LOSS_SEED={seed}");
    }
}

#[test]
fn nothing_is_lost_when_the_power_goes() {
    all_histories(Trouble::None);
}

#[test]
fn nothing_is_lost_when_others_write_the_state_in_between() {
    all_histories(Trouble::Meddling);
}

#[test]
fn nothing_is_lost_when_the_disk_is_full_or_broken() {
    all_histories(Trouble::Disk);
}

/// How many steps a history takes that nothing happens to, the second of two runs left out.
fn steps_of(seed: u64) -> u64 {
    let (disk, mut world) = (Simulated::default(), World::default());
    world.run(&disk, &mut Dice::new(seed), 25).unwrap();
    disk.steps()
}

#[test]
fn the_power_goes_at_every_step() {
    for seed in 0..2 {
        for step in 1..=steps_of(seed) {
            for tear in 0..3 {
                let (disk, mut world) = (Simulated::default(), World::default());
                disk.lose_power_after(Some(step));
                let _ = world.run(&disk, &mut Dice::new(seed), 25);
                disk.restart(&mut Dice::new(tear));
                world.run(&disk, &mut Dice::new(seed + 100), 10).unwrap();
            }
        }
    }
}

#[test]
fn every_step_fails_once() {
    for seed in 0..3 {
        for step in 1..=steps_of(seed) {
            let (disk, mut world) = (Simulated::default(), World::default());
            disk.fail_at(step);
            // Whether the run gets over it or gives up, the next one knows everything, even if the power goes in between.
            let _ = world.run(&disk, &mut Dice::new(seed), 25);
            disk.restart(&mut Dice::new(step));
            world.run(&disk, &mut Dice::new(seed + 100), 10).unwrap();
        }
    }
}

/// The same dice, the same history: or seeds would be of no use.
#[test]
fn histories_repeat() {
    let steps = |seed| {
        let mut dice = Dice::new(seed);
        let (disk, mut world) = (Simulated::default(), World::default());
        disk.lose_power_after(Some(100));
        let _ = world.run(&disk, &mut dice, 30);
        disk.restart(&mut dice);
        world.run(&disk, &mut dice, 30).unwrap();
        (disk.steps(), dice.next())
    };
    assert_eq!(steps(7), steps(7));
    assert_ne!(steps(7), steps(8));
}
