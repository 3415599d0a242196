//! Lineage and serial, and what may take whose place.

use groma_model::value::Value;

use super::*;
use crate::{LockError, LockInfo, OutputState};

/// A store in memory that counts writes.
#[derive(Default)]
struct Memory {
    state: Option<State>,
    writes: usize,
    full: bool,
}

impl StateStore for Memory {
    fn read(&mut self) -> Result<Option<State>, StoreError> {
        Ok(self.state.clone())
    }

    fn write(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError> {
        let found = self.state.as_ref().map(Version::from);
        if self.full || found.as_ref() != expected {
            return Err(StoreError::Conflict { expected: expected.cloned(), found });
        }
        self.state = Some(next.clone());
        self.writes += 1;
        Ok(())
    }

    fn lock(&mut self, _: &LockInfo) -> Result<(), LockError> {
        Ok(())
    }

    fn unlock(&mut self, _: &str) -> Result<(), LockError> {
        Ok(())
    }

    fn force_unlock(&mut self, _: &str) -> Result<(), LockError> {
        Ok(())
    }
}

fn with(output: &str) -> State {
    let output = OutputState { value: Value::string(output), sensitive: false, deprecated: None };
    State { outputs: [("a".into(), output)].into(), ..State::default() }
}

fn at(output: &str, lineage: &str, serial: u64) -> State {
    State { lineage: lineage.to_owned(), serial, ..with(output) }
}

fn keeper(state: Option<State>) -> Keeper<Memory> {
    let mut keeper = Keeper::new(Memory { state, ..Memory::default() });
    keeper.read().unwrap();
    keeper
}

const NEW: &str = "ffffffff-ffff-4fff-bfff-ffffffffffff";

fn save(keeper: &mut Keeper<Memory>, state: &mut State) -> Saved {
    keeper.save(state, &mut || [0xff; 16]).unwrap()
}

#[test]
fn names_are_random_uuids() {
    let bytes = std::array::from_fn(|at| at as u8 * 0x11);
    assert_eq!(random_id(&mut || bytes), "00112233-4455-4677-8899-aabbccddeeff");
    assert_eq!(random_id(&mut || [0xff; 16]), NEW);
}

#[test]
fn serials_count_changes_of_content() {
    let mut keeper = keeper(None);
    let mut state = with("x");
    assert_eq!(save(&mut keeper, &mut state), Saved::Written);
    assert_eq!((state.lineage.as_str(), state.serial), (NEW, 1));
    // Who wrote it is no content.
    state.tool_version = "9".to_owned();
    state.serial = 77;
    assert_eq!(save(&mut keeper, &mut state), Saved::Unchanged);
    assert_eq!((state.serial, keeper.store().writes), (1, 1));
    state = with("y");
    assert_eq!(save(&mut keeper, &mut state), Saved::Written);
    assert_eq!((state.lineage.as_str(), state.serial), (NEW, 2));
    state = with("x");
    assert_eq!(save(&mut keeper, &mut state), Saved::Written);
    assert_eq!(keeper.version().unwrap().serial, 3);
}

#[test]
fn even_an_empty_state_is_stored_first() {
    let mut keeper = keeper(None);
    assert_eq!(save(&mut keeper, &mut State::default()), Saved::Written);
    assert_eq!(save(&mut keeper, &mut State::default()), Saved::Unchanged);
}

#[test]
fn what_was_read_is_gone_on_from() {
    let mut keeper = keeper(Some(at("x", "l", 41)));
    assert_eq!(save(&mut keeper, &mut with("x")), Saved::Unchanged);
    assert_eq!(keeper.store().writes, 0);
    save(&mut keeper, &mut with("y"));
    assert_eq!(*keeper.version().unwrap(), Version { lineage: "l".to_owned(), serial: 42 });
    // Old states had no lineage.
    let mut keeper = self::keeper(Some(at("x", "", 1)));
    save(&mut keeper, &mut with("y"));
    assert_eq!(keeper.version().unwrap().lineage, NEW);
    let mut keeper = self::keeper(Some(at("x", "l", u64::MAX)));
    let full = keeper.save(&mut with("y"), &mut || [0; 16]);
    assert!(matches!(full, Err(StoreError::NoMoreSerials)));
}

#[test]
fn what_somebody_else_wrote_is_not_overwritten() {
    let mut keeper = keeper(Some(at("x", "l", 1)));
    keeper.store().state = Some(at("z", "l", 2));
    let mut state = at("y", "mine", 9);
    let error = keeper.save(&mut state, &mut || [0; 16]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the state was changed by something else: expected serial 1 of lineage \"l\", found serial 2 of lineage \"l\""
    );
    // As before, to be saved elsewhere.
    assert_eq!((state.lineage.as_str(), state.serial), ("mine", 9));
    assert_eq!(keeper.store().state, Some(at("z", "l", 2)));
    // Nor is what was never read.
    let mut blind = Keeper::new(Memory { state: Some(at("x", "l", 1)), ..Memory::default() });
    assert!(matches!(blind.save(&mut with("y"), &mut || [0; 16]), Err(StoreError::Conflict { .. })));
}

#[test]
fn a_failed_write_is_tried_again() {
    let mut keeper = keeper(Some(at("x", "l", 1)));
    keeper.store().full = true;
    let mut state = with("y");
    keeper.save(&mut state, &mut || [0; 16]).unwrap_err();
    keeper.store().full = false;
    assert_eq!(save(&mut keeper, &mut state), Saved::Written);
    assert_eq!(state.serial, 2);
}

#[test]
fn only_successors_are_pushed() {
    let push = |state: State, force: bool| keeper(Some(at("x", "l", 5))).push(&state, force);
    assert_eq!(push(at("y", "l", 6), false).unwrap(), Saved::Written);
    assert_eq!(push(at("x", "l", 5), false).unwrap(), Saved::Unchanged);
    assert_eq!(push(at("y", "", 1), false).unwrap(), Saved::Written);
    for (state, message) in [
        (at("y", "m", 6), "cannot import state with lineage \"m\" over unrelated state with lineage \"l\""),
        (at("y", "l", 4), "cannot import state with serial 4 over newer state with serial 5"),
        (
            at("y", "l", 5),
            "cannot overwrite existing state with serial 5 with a different state that has the same serial",
        ),
    ] {
        assert_eq!(push(state.clone(), false).unwrap_err().to_string(), message);
        assert_eq!(push(state, true).unwrap(), Saved::Written);
    }
    let mut empty = keeper(Some(State { lineage: "l".to_owned(), serial: 9, ..State::default() }));
    assert_eq!(empty.push(&at("y", "m", 1), false).unwrap(), Saved::Written);
    assert_eq!(*empty.version().unwrap(), Version { lineage: "m".to_owned(), serial: 1 });
    assert_eq!(keeper(None).push(&at("y", "m", 3), false).unwrap(), Saved::Written);
}

/// For a store whose states are not stored as they would be now.
struct Outdated;

impl StateCodec for Outdated {
    fn encode(&self, _: &State) -> Result<Vec<u8>, StoreError> {
        Ok(Vec::new())
    }

    fn decode(&self, _: &[u8], _: &str) -> Result<State, StoreError> {
        Ok(State::default())
    }

    fn was_outdated(&self) -> bool {
        true
    }
}

#[test]
fn what_is_stored_in_another_way_is_stored_again_once() {
    let mut keeper =
        Keeper::new(Memory { state: Some(at("x", "l", 3)), ..Memory::default() }).with_codec(Arc::new(Outdated));
    keeper.read().unwrap();
    let mut same = with("x");
    assert_eq!((save(&mut keeper, &mut same), same.serial), (Saved::Written, 4));
    assert_eq!((save(&mut keeper, &mut same), same.serial), (Saved::Unchanged, 4));
}
