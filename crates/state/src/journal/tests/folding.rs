//! What becomes of a state and a journal: when nobody else was there, and when somebody was.

use groma_model::address::AbsObject;

use super::{Memory, at, change, header, object, present, provider};
use crate::journal::*;
use crate::{Fingerprint, ObjectState, ObjectStatus, ResourceState, State};

/// Puts an object into a state.
pub(super) fn with(state: &mut State, name: &str, object: ObjectState) -> Fingerprint {
    let fingerprint = Fingerprint::of(&object);
    let mut instance = crate::InstanceState::from(object);
    instance.provider_key = provider().key;
    let resource =
        ResourceState { provider: provider().config, instances: [(at(name).instance.key().clone(), instance)].into() };
    state.resources.insert(at(name).instance.resource(), resource);
    fingerprint
}

fn state(serial: u64, objects: &[(&str, &str, u32)]) -> State {
    let mut state = State { serial, lineage: "line".to_owned(), ..State::default() };
    for (name, id, version) in objects {
        with(&mut state, name, object(id, *version));
    }
    state
}

/// What the objects of a state are.
fn ids(state: &State) -> Vec<String> {
    let objects = state.managed_objects().into_iter();
    objects
        .map(|at| {
            let object = &state.resources[&at.instance.resource()].instances[at.instance.key()];
            let object = at.deposed.as_ref().map_or(object.current.as_ref(), |key| object.deposed.get(key)).unwrap();
            let crate::Attributes::Json(text) = &object.attributes else { panic!() };
            format!("{at} {text}")
        })
        .collect()
}

/// A journal that goes on from a state.
fn journal(base: Option<&State>) -> (Memory, Journal) {
    let memory = Memory::default();
    let header = Header { base: base.map(|state| Stamp::of(state).unwrap()), ..header() };
    let journal =
        Journal::begin(Box::new(memory.clone()), header, base.cloned().map(Into::into), Vec::new(), None).unwrap();
    (memory, journal)
}

fn conclude(journal: &Journal, object: AbsObject, after: After) {
    journal.wait(journal.conclude(None, object, after).unwrap()).unwrap();
}

fn folded(stored: Option<&State>, memory: &Memory) -> Folded {
    fold(stored, &memory.contents(), Damage::Refuse).unwrap()
}

fn kinds(folded: &Folded) -> Vec<ConflictKind> {
    folded.conflicts.iter().map(|conflict| conflict.kind.clone()).collect()
}

#[test]
fn a_first_run_that_was_killed() {
    let (memory, journal) = journal(None);
    let done = journal.intend(change("a")).unwrap();
    let open = journal.intend(change("b")).unwrap();
    journal.wait(journal.conclude(Some(done), at("a"), present("i-1", 1)).unwrap()).unwrap();
    // Neither a state that is not there nor one that was only made to be locked is in its way.
    for stored in [None, Some(State { lineage: "line".to_owned(), ..State::default() })] {
        let folded = folded(stored.as_ref(), &memory);
        assert_eq!(ids(&folded.state), [r#"test_thing.a {"id":"i-1","version":1}"#]);
        assert_eq!((folded.state.lineage.as_str(), folded.state.serial), ("line", 0));
        assert!(folded.changed && !folded.moved_by_others && folded.conflicts.is_empty());
        let in_flight = folded.in_flight.first().unwrap();
        assert_eq!((in_flight.operation, &in_flight.object), (open, &at("b")));
        assert_eq!(
            (in_flight.import_id.as_deref(), in_flight.identity.as_deref()),
            (Some("x/y"), Some("{\"arn\":\"x\"}"))
        );
        assert_eq!(folded.kept(), [Record::Intent(Box::new(in_flight.clone()))]);
        assert_eq!(folded.state.resources[&at("a").instance.resource()].provider, provider().config);
    }
}

#[test]
fn everything_that_can_happen_to_an_object() {
    let base = state(3, &[("a", "i-1", 1), ("b", "i-2", 1), ("c", "i-3", 1)]);
    let (memory, journal) = journal(Some(&base));
    let aside = at("a").instance.object(Some(groma_model::address::DeposedKey::new(1)));
    journal.wait(journal.move_object(&at("a"), &aside).unwrap().unwrap()).unwrap();
    conclude(&journal, at("a"), present("i-9", 1));
    conclude(&journal, at("b"), After::Absent);
    conclude(&journal, at("c"), After::Unchanged);
    journal.wait(journal.move_object(&at("c"), &at("d")).unwrap().unwrap()).unwrap();
    let mut tainted = object("i-3", 2);
    tainted.status = ObjectStatus::Tainted;
    conclude(&journal, at("d"), After::Present { provider: provider(), object: Box::new(tainted) });
    let once = folded(Some(&base), &memory);
    let expected = [
        r#"test_thing.a {"id":"i-9","version":1}"#,
        r#"test_thing.a deposed object "00000001" {"id":"i-1","version":1}"#,
        r#"test_thing.d {"id":"i-3","version":2}"#,
    ];
    assert_eq!(ids(&once.state), expected);
    assert!(once.conflicts.is_empty() && once.in_flight.is_empty());
    // If it was stored and nobody could write that down, nothing happens again.
    let stored = State { serial: 4, ..once.state };
    let twice = folded(Some(&stored), &memory);
    assert!(twice.moved_by_others && !twice.changed, "{:?}", twice.conflicts);
    assert_eq!(ids(&twice.state), expected);
    assert!(twice.conflicts.is_empty());
    // Nor if it was announced.
    journal.announce(Stamp::of(&stored).unwrap(), journal.mark()).unwrap();
    let announced = folded(Some(&stored), &memory);
    assert!(!announced.moved_by_others && !announced.changed);
    // What comes after that is new.
    conclude(&journal, at("e"), present("i-5", 1));
    assert_eq!(ids(&folded(Some(&stored), &memory).state).len(), 4);
    // And if the announced one was never stored, everything is.
    assert_eq!(ids(&folded(Some(&base), &memory).state).len(), 4);
}

#[test]
fn what_others_stored_is_not_undone() {
    let base = state(3, &[("same", "i-1", 1), ("theirs", "i-2", 1), ("gone", "i-3", 1), ("deleted", "i-4", 1)]);
    let (memory, journal) = journal(Some(&base));
    conclude(&journal, at("same"), present("i-1", 2));
    conclude(&journal, at("theirs"), present("i-2", 2));
    conclude(&journal, at("gone"), present("i-3", 2));
    conclude(&journal, at("deleted"), After::Absent);
    conclude(&journal, at("new"), present("i-5", 1));
    conclude(&journal, at("twin"), present("i-6", 1));
    conclude(&journal, at("renamed"), present("i-7", 1));
    conclude(&journal, at("both"), present("i-8", 1));
    // Another tool: it knew only the base.
    let moved = state(
        5,
        &[
            ("same", "i-1", 1),
            ("theirs", "i-2", 7),
            ("deleted", "i-4", 3),
            ("twin", "i-60", 1),
            ("elsewhere", "i-7", 1),
            ("both", "i-8", 1),
        ],
    );
    let folded = folded(Some(&moved), &memory);
    assert!(folded.moved_by_others && folded.changed);
    assert_eq!(
        ids(&folded.state),
        [
            r#"test_thing.both {"id":"i-8","version":1}"#,
            r#"test_thing.elsewhere {"id":"i-7","version":1}"#,
            r#"test_thing.new {"id":"i-5","version":1}"#,
            r#"test_thing.same {"id":"i-1","version":2}"#,
            r#"test_thing.theirs {"id":"i-2","version":7}"#,
            r#"test_thing.twin {"id":"i-60","version":1}"#,
        ]
    );
    let twin = ConflictKind::Twin { theirs: Some("i-60".to_owned()) };
    let elsewhere = ConflictKind::Elsewhere(at("elsewhere"));
    assert_eq!(kinds(&folded), [ConflictKind::Removed, elsewhere, ConflictKind::Changed, twin]);
    // The twin is real, so it is kept until somebody has settled it.
    let kept = folded.kept();
    let [Record::Unplaced(outcome)] = kept.as_slice() else { panic!("{kept:?}") };
    assert_eq!((&outcome.object, &outcome.after), (&at("twin"), &present("i-6", 1)));
}

#[test]
fn twins_stay_until_they_are_settled() {
    let base = state(3, &[("a", "i-60", 1)]);
    let stamp = Some(Stamp::of(&base).unwrap());
    let operation = Operation { run: RunId([7; 8]), number: 3 };
    let outcome = Outcome { operation, object: at("a"), before: None, after: present("i-6", 1) };
    let memory = Memory::default();
    let kept = vec![Record::Unplaced(Box::new(outcome))];
    let journal =
        Journal::begin(Box::new(memory.clone()), Header { base: stamp, ..header() }, None, kept, None).unwrap();
    assert!(!journal.is_settled());
    // What happens to the other one is no matter.
    conclude(&journal, at("a"), present("i-60", 2));
    let folded_once = folded(Some(&base), &memory);
    assert_eq!(ids(&folded_once.state), [r#"test_thing.a {"id":"i-60","version":2}"#]);
    assert_eq!(folded_once.kept().len(), 1);
    journal.wait(journal.settle(operation).unwrap()).unwrap();
    assert!(folded(Some(&base), &memory).conflicts.is_empty());
    assert!(journal.is_settled());
}

#[test]
fn a_replacement_that_others_made_too() {
    let base = state(3, &[("a", "i-1", 1)]);
    let (memory, journal) = journal(Some(&base));
    let aside = at("a").instance.object(Some(groma_model::address::DeposedKey::new(1)));
    journal.wait(journal.move_object(&at("a"), &aside).unwrap().unwrap()).unwrap();
    conclude(&journal, at("a"), present("i-2", 1));
    let folded = folded(Some(&state(4, &[("a", "i-3", 1)])), &memory);
    // Theirs is not put aside in the place of the one that was.
    assert_eq!(ids(&folded.state), [r#"test_thing.a {"id":"i-3","version":1}"#]);
    assert_eq!(kinds(&folded), [ConflictKind::Twin { theirs: Some("i-3".to_owned()) }]);
}

#[test]
fn journals_of_other_states_are_refused() {
    let base = state(3, &[("a", "i-1", 1)]);
    let (memory, journal) = journal(Some(&base));
    conclude(&journal, at("a"), present("i-1", 2));
    let refused = |stored: Option<&State>| fold(stored, &memory.contents(), Damage::Refuse).unwrap_err().to_string();
    assert_eq!(
        refused(None),
        "the state has serial none, for there is no state, but the journal goes on from serial 3"
    );
    assert_eq!(refused(Some(&state(2, &[]))), "the state has serial 2, but the journal goes on from serial 3");
    let other = State { lineage: "other".to_owned(), ..base.clone() };
    assert_eq!(refused(Some(&other)), "the journal belongs to lineage \"line\", but the state has lineage \"other\"");
    // One that is known to have been stored cannot go back either.
    let next = state(4, &[("a", "i-1", 2)]);
    journal.announce(Stamp::of(&next).unwrap(), journal.mark()).unwrap();
    journal.stored(Stamp::of(&next).unwrap(), Mark(1), next.into());
    let _ = journal.flush().unwrap();
    assert_eq!(refused(Some(&base)), "the state has serial 3, but the journal goes on from serial 4");
}

#[test]
fn of_a_damaged_journal_the_rest_is_taken_when_somebody_says_so() {
    let base = state(3, &[]);
    let (memory, journal) = journal(Some(&base));
    conclude(&journal, at("a"), present("i-1", 1));
    conclude(&journal, at("a"), present("i-1", 2));
    conclude(&journal, at("b"), present("i-2", 1));
    memory.with(|inner| {
        let at = inner.files[0].windows(6).position(|window| window == b"\"i-1\",").unwrap();
        inner.files[0][at] ^= 1;
    });
    let error = fold(Some(&base), &memory.contents(), Damage::Refuse).unwrap_err();
    assert!(error.to_string().starts_with("the journal file 0 is damaged at byte "), "{error}");
    let rest = fold(Some(&base), &memory.contents(), Damage::TakeTheRest).unwrap();
    assert_eq!(
        ids(&rest.state),
        [r#"test_thing.a {"id":"i-1","version":2}"#, r#"test_thing.b {"id":"i-2","version":1}"#]
    );
}
