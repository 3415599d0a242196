//! Runs that end, runs that do not, states that are not what they should be, and how often to store.

use std::fs;
use std::path::{Path, PathBuf};

use groma_model::address::{
    AbsObject, InstanceKey, Module, ModuleInstance, Provider, ProviderConfig, ProviderInstance, Resource,
};

use super::*;
use crate::journal::{Action, After, Change, ConflictKind, FileHome};
use crate::{
    Attributes, InstanceState, Layout, LocalStore, ObjectState, RealDisk, ResourceState, StatePaths, encode, read_file,
    write_file,
};

struct Place {
    dir: tempfile::TempDir,
}

fn place() -> Place {
    Place { dir: tempfile::tempdir().unwrap() }
}

fn provider() -> ProviderInstance {
    let provider = Provider::new("registry.opentofu.org", "hashicorp", "test");
    ProviderConfig { module: Module::root(), provider, alias: None }.instance(InstanceKey::None)
}

fn at(name: &str) -> AbsObject {
    Resource::managed("test_thing", name).absolute(ModuleInstance::root()).instance(InstanceKey::None).object(None)
}

fn object(id: &str) -> ObjectState {
    ObjectState::new(0, Attributes::Json(format!("{{\"id\":\"{id}\"}}")))
}

fn put(state: &mut State, name: &str, id: &str) {
    let instances = [(InstanceKey::None, InstanceState::from(object(id)))].into();
    let resource = ResourceState { provider: provider().config, instances };
    state.resources.insert(at(name).instance.resource(), resource);
}

fn change(name: &str) -> Change {
    Change {
        object: at(name),
        action: Action::Create,
        provider: provider(),
        planned: None,
        identity: None,
        import_id: None,
        begun: String::new(),
    }
}

fn witness_of(state: &State) -> Witness {
    Witness::of(state, crate::Digest::of_content(state).unwrap())
}

fn run(number: u8) -> Run {
    Run { id: RunId([number; 8]), lock: "the-lock".to_owned(), tool: "test".to_owned() }
}

impl Place {
    fn state(&self) -> PathBuf {
        self.dir.path().join("terraform.tfstate")
    }

    fn ledger(&self) -> Ledger<LocalStore> {
        let home = FileHome::new(
            Arc::new(RealDisk),
            FileHome::beside(&self.state()).unwrap(),
            vec![self.dir.path().join("spare").join(FileHome::name_for("here"))],
        );
        let witness = WitnessFile::new(Arc::new(RealDisk), WitnessFile::beside(&self.state()).unwrap());
        Ledger::new(Keeper::new(LocalStore::new(StatePaths::of(self.state()))), Box::new(home), Some(witness))
    }

    fn recover(&self) -> Result<(Ledger<LocalStore>, Recovered), LedgerError> {
        let mut ledger = self.ledger();
        let recovered = ledger.recover("terraform.tfstate", Damage::Refuse)?;
        Ok((ledger, recovered))
    }

    fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A run that makes an object and ends.
    fn whole_run(&self, number: u8, name: &str) -> Arc<State> {
        let (mut ledger, recovered) = self.recover().unwrap();
        let mut state = recovered.state().cloned().unwrap_or_default();
        let journal = ledger.begin(run(number), recovered, &mut || [0; 16]).unwrap();
        make(&journal, &mut state, name);
        ledger.finish(state, &mut || [0; 16]).unwrap().state
    }
}

/// Makes an object, and puts it into the state.
fn make(journal: &Journal, state: &mut State, name: &str) {
    let operation = journal.intend(change(name)).unwrap();
    let after = After::Present { provider: provider(), object: Box::new(object(name)) };
    put(state, name, name);
    journal.wait(journal.conclude(Some(operation), at(name), after).unwrap()).unwrap();
}

#[test]
fn a_run_that_ends_leaves_the_state_and_its_witness() {
    let place = place();
    let first = place.whole_run(1, "a");
    assert_eq!((first.serial, first.lineage.as_str()), (1, "the-lock"));
    let second = place.whole_run(2, "b");
    assert_eq!((second.serial, second.managed_objects().len()), (2, 2));
    assert_eq!(place.files(), ["terraform.tfstate", "terraform.tfstate.backup", "terraform.tfstate.groma-witness"]);
    let (_, recovered) = place.recover().unwrap();
    assert!(recovered.folded.is_none());
    assert_eq!(recovered.witness, Testimony::Known(witness_of(&second)));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let witness = place.dir.path().join("terraform.tfstate.groma-witness");
        assert_eq!(fs::metadata(witness).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_run_that_does_not_end_is_gone_on_from() {
    let place = place();
    place.whole_run(1, "a");
    {
        let (mut ledger, recovered) = place.recover().unwrap();
        let mut state = recovered.state().cloned().unwrap();
        let journal = ledger.begin(run(2), recovered, &mut || [0; 16]).unwrap();
        make(&journal, &mut state, "b");
        ledger.save(state.clone(), journal.mark(), &mut || [0; 16]).unwrap();
        make(&journal, &mut state, "c");
        journal.intend(change("d")).unwrap();
        // Killed.
    }
    // Looking changes nothing.
    for _ in 0..2 {
        let (_, recovered) = place.recover().unwrap();
        assert_eq!(recovered.stored.as_ref().unwrap().managed_objects(), [at("a"), at("b")]);
        assert_eq!(recovered.state().unwrap().managed_objects(), [at("a"), at("b"), at("c")]);
        let folded = recovered.folded.unwrap();
        assert!(folded.changed && !folded.moved_by_others);
        assert_eq!(folded.in_flight.iter().map(|intent| intent.object.clone()).collect::<Vec<_>>(), [at("d")]);
    }
    let (mut ledger, recovered) = place.recover().unwrap();
    let open = recovered.folded.as_ref().unwrap().in_flight[0].operation;
    let journal = ledger.begin(run(3), recovered, &mut || [0; 16]).unwrap();
    // The state has everything, and the journal what is open.
    let state = read_file(&place.state()).unwrap().unwrap();
    assert_eq!((state.serial, state.managed_objects().len()), (3, 3));
    drop((ledger, journal));
    let (mut ledger, recovered) = place.recover().unwrap();
    let folded = recovered.folded.as_ref().unwrap();
    assert_eq!((folded.changed, folded.in_flight[0].operation), (false, open));
    let state = recovered.state().cloned().unwrap();
    let journal = ledger.begin(run(4), recovered, &mut || [0; 16]).unwrap();
    // It turns out that nothing came of it.
    journal.wait(journal.conclude(Some(open), at("d"), After::Unchanged).unwrap()).unwrap();
    ledger.finish(state, &mut || [0; 16]).unwrap();
    assert!(place.recover().unwrap().1.folded.is_none());
    assert_eq!(read_file(&place.state()).unwrap().unwrap().serial, 3);
}

#[test]
fn a_first_run_that_is_killed_at_once() {
    let place = place();
    {
        let (mut ledger, recovered) = place.recover().unwrap();
        let journal = ledger.begin(run(1), recovered, &mut || [0; 16]).unwrap();
        make(&journal, &mut State::default(), "a");
    }
    // Another tool was faster, and made something else in the same line.
    let other = {
        let mut state = State { lineage: "the-lock".to_owned(), serial: 1, ..State::default() };
        put(&mut state, "z", "z");
        state
    };
    for meddling in [false, true] {
        if meddling {
            write_file(&place.state(), &other).unwrap();
        }
        let (_, recovered) = place.recover().unwrap();
        assert_eq!(recovered.state().unwrap().managed_objects().len(), 1 + usize::from(meddling));
        assert_eq!(recovered.state().unwrap().lineage, "the-lock");
        assert_eq!(recovered.folded.unwrap().moved_by_others, meddling);
    }
    let second = place.whole_run(2, "b");
    assert_eq!(second.managed_objects(), [at("a"), at("b"), at("z")]);
}

/// What a lock leaves in the place of a state is none, and has the name that the state will have.
#[test]
fn a_first_run_that_is_killed_with_its_lock() {
    let place = place();
    let (mut ledger, _) = place.recover().unwrap();
    let info = crate::LockInfo { id: "the-lock".to_owned(), ..crate::LockInfo::default() };
    ledger.keeper().store().lock(&info).unwrap();
    let recovered = ledger.recover("terraform.tfstate", Damage::Refuse).unwrap();
    assert!(recovered.stored.is_none());
    let journal = ledger.begin(run(1), recovered, &mut || [0; 16]).unwrap();
    make(&journal, &mut State::default(), "a");
    // As if it had been killed: nothing is cleaned up.
    std::mem::forget(ledger);
    let (_, recovered) = place.recover().unwrap();
    assert_eq!(recovered.stored.as_ref().unwrap().serial, 0);
    let folded = recovered.folded.unwrap();
    assert_eq!((folded.state.lineage.as_str(), folded.state.managed_objects()), ("the-lock", vec![at("a")]));
    assert!(!folded.moved_by_others);
}

#[test]
fn twins_are_kept_in_the_journal() {
    let place = place();
    place.whole_run(1, "a");
    {
        let (mut ledger, recovered) = place.recover().unwrap();
        let mut state = recovered.state().cloned().unwrap();
        let journal = ledger.begin(run(2), recovered, &mut || [0; 16]).unwrap();
        make(&journal, &mut state, "b");
    }
    let mut theirs = read_file(&place.state()).unwrap().unwrap();
    put(&mut theirs, "b", "another");
    theirs.serial += 1;
    write_file(&place.state(), &theirs).unwrap();
    for number in 3..6 {
        let (mut ledger, recovered) = place.recover().unwrap();
        let folded = recovered.folded.as_ref().unwrap();
        assert_eq!(folded.conflicts.len(), 1);
        assert_eq!(folded.conflicts[0].kind, ConflictKind::Twin { theirs: Some("another".to_owned()) });
        let operation = folded.conflicts[0].outcome.operation;
        let state = recovered.state().cloned().unwrap();
        let journal = ledger.begin(run(number), recovered, &mut || [0; 16]).unwrap();
        if number == 5 {
            journal.wait(journal.settle(operation).unwrap()).unwrap();
        }
        ledger.finish(state, &mut || [0; 16]).unwrap();
    }
    assert!(place.recover().unwrap().1.folded.is_none());
}

#[test]
fn a_state_that_is_not_the_right_one_is_refused() {
    let place = place();
    let first = place.whole_run(1, "a");
    let second = place.whole_run(2, "b");
    let refused = |state: Option<&State>| {
        match state {
            Some(state) => write_file(&place.state(), state).unwrap(),
            None => fs::remove_file(place.state()).unwrap(),
        }
        let diagnostic = place.recover().err().unwrap().diagnostic();
        assert_eq!(diagnostic.summary, "State is not the one that was stored last");
        assert!(diagnostic.hints[0].contains("terraform.tfstate.groma-witness"), "{diagnostic:?}");
        diagnostic.detail
    };
    let detail = refused(Some(&first));
    assert!(detail.contains("has serial 1, but one with serial 2 was stored before"), "{detail}");
    let foreign = State { lineage: "other".to_owned(), ..(*second).clone() };
    assert!(refused(Some(&foreign)).contains("has lineage \"other\""));
    let mut forked = (*second).clone();
    put(&mut forked, "z", "z");
    assert!(refused(Some(&forked)).contains("says something else"));
    assert!(refused(None).contains("there is no state, but one with serial 2 and 2 objects was stored before"));
    // Nor is it if it is no state at all.
    fs::write(place.state(), "").unwrap();
    assert!(place.recover().is_err());
    // A witness that cannot be read is no reason to refuse a state, but one to refuse none.
    let witness = place.dir.path().join("terraform.tfstate.groma-witness");
    fs::write(&witness, "{}").unwrap();
    write_file(&place.state(), &second).unwrap();
    assert_eq!(place.recover().unwrap().1.witness, Testimony::Damaged);
    fs::remove_file(place.state()).unwrap();
    assert!(place.recover().is_err());
    fs::remove_file(&witness).unwrap();
    assert!(place.recover().unwrap().1.stored.is_none());
}

#[test]
fn later_states_of_others_and_empty_ones_are_no_surprise() {
    let place = place();
    let mut state = (*place.whole_run(1, "a")).clone();
    state.serial = 9;
    put(&mut state, "z", "z");
    write_file(&place.state(), &state).unwrap();
    assert_eq!(place.recover().unwrap().1.state().unwrap().serial, 9);
    let empty = witness_of(&State { serial: 4, lineage: "x".to_owned(), ..State::default() });
    let empty = Testimony::Known(empty);
    empty.check(None).unwrap();
    empty.check(Some(&state)).unwrap();
}

/// The state of a run, with any bit of any byte changed: it is refused, or says the same.
#[test]
fn no_change_of_a_state_goes_unnoticed() {
    let place = place();
    place.whole_run(1, "a");
    let state = place.whole_run(2, "b");
    let witness = Testimony::Known(witness_of(&state));
    let whole = encode(&state, Layout::Indented).unwrap().into_bytes();
    let mut noticed = 0;
    let mut look = |bytes: &[u8], what: &str| match crate::decode_bytes(bytes) {
        Err(_) => noticed += 1,
        Ok(found) => match witness.check(Some(&found)) {
            Err(_) => noticed += 1,
            Ok(()) => assert!(found.same_content(&state), "{what} went unnoticed"),
        },
    };
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[at] ^= 1 << bit;
            look(&changed, &format!("bit {bit} of byte {at}"));
        }
        if at < whole.len() - 1 {
            look(&whole[..at], &format!("a cut at byte {at}"));
        }
    }
    // Blanks and the version of the tool are all that may change.
    assert!(noticed > whole.len() * 5, "{noticed} of {} were noticed", whole.len() * 9);
}

#[test]
fn no_change_of_a_witness_goes_unnoticed() {
    let witness = Witness { lineage: "l".to_owned(), serial: 3, digest: crate::Digest::of(b"x"), objects: 2 };
    let whole = witness.encode().into_bytes();
    assert_eq!(Witness::decode(&whole), Some(witness.clone()));
    for at in 0..whole.len() - 1 {
        assert_eq!(Witness::decode(&whole[..at]), None);
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[at] ^= 1 << bit;
            assert!(Witness::decode(&changed).is_none_or(|found| found == witness), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn a_state_that_cannot_be_stored_is_in_the_journal() {
    let place = place();
    place.whole_run(1, "a");
    let (mut ledger, recovered) = place.recover().unwrap();
    let mut state = recovered.state().cloned().unwrap();
    let journal = ledger.begin(run(2), recovered, &mut || [0; 16]).unwrap();
    make(&journal, &mut state, "b");
    // Something else has written it meanwhile.
    let mut theirs = read_file(&place.state()).unwrap().unwrap();
    theirs.serial += 5;
    write_file(&place.state(), &theirs).unwrap();
    let error = ledger.finish(state, &mut || [0; 16]).unwrap_err();
    assert!(matches!(error, LedgerError::Store(StoreError::Conflict { .. })), "{error}");
    drop((ledger, journal));
    let state = place.whole_run(3, "c");
    assert_eq!((state.managed_objects().len(), state.serial), (3, 8));
}

#[test]
fn a_damaged_journal_is_said_and_kept() {
    let place = place();
    place.whole_run(1, "a");
    {
        let (mut ledger, recovered) = place.recover().unwrap();
        let mut state = recovered.state().cloned().unwrap();
        let journal = ledger.begin(run(2), recovered, &mut || [0; 16]).unwrap();
        make(&journal, &mut state, "b");
    }
    let path = FileHome::beside(&place.state()).unwrap();
    assert_eq!(path.file_name().unwrap(), Path::new("terraform.tfstate.groma-journal"));
    let mut bytes = fs::read(&path).unwrap();
    bytes[40] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let diagnostic = place.recover().err().unwrap().diagnostic();
    assert_eq!(diagnostic.summary, "Journal of the state is damaged");
    assert!(diagnostic.hints[0].contains("Keep it"));
    assert_eq!(fs::read(&path).unwrap(), bytes);
    // What is left of it is true.
    let rest = place.ledger().recover("terraform.tfstate", Damage::TakeTheRest).unwrap();
    assert_eq!(rest.state().unwrap().managed_objects(), [at("a"), at("b")]);
}

/// Many make things at the same time while the state is stored again and again; then everything stops somewhere.
#[test]
fn threads_write_things_down_while_the_state_is_stored() {
    const EACH: usize = 30;
    let place = place();
    let (mut ledger, recovered) = place.recover().unwrap();
    let journal = ledger.begin(run(1), recovered, &mut || [0; 16]).unwrap();
    let state = std::sync::Mutex::new(State::default());
    let acknowledged = std::sync::Mutex::new(Vec::new());
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let makers: Vec<_> = (0..6)
            .map(|maker| {
                let (journal, state, acknowledged) = (&journal, &state, &acknowledged);
                scope.spawn(move || {
                    for number in 0..EACH {
                        let name = format!("a{maker}-{number}");
                        let operation = journal.intend(change(&name)).unwrap();
                        let after = After::Present { provider: provider(), object: Box::new(object(&name)) };
                        let ticket = {
                            let mut state = state.lock().unwrap();
                            put(&mut state, &name, &name);
                            journal.conclude(Some(operation), at(&name), after).unwrap()
                        };
                        journal.wait(ticket).unwrap();
                        acknowledged.lock().unwrap().push(at(&name));
                    }
                })
            })
            .collect();
        // Somebody looks all the time, without a lock.
        let (place, acknowledged, done) = (&place, &acknowledged, &done);
        scope.spawn(move || {
            // Not for ever, should the others fail.
            for _ in 0..2000 {
                if done.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                let before = acknowledged.lock().unwrap().clone();
                let (_, recovered) = place.recover().unwrap();
                let known = recovered.state().map(State::managed_objects).unwrap_or_default();
                assert!(before.iter().all(|object| known.contains(object)), "something was not there yet");
            }
        });
        while makers.iter().any(|maker| !maker.is_finished()) {
            let (mark, copy) = {
                let state = state.lock().unwrap();
                (journal.mark(), state.clone())
            };
            ledger.save(copy, mark, &mut || [0; 16]).unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let folded = place.recover().unwrap().1;
    let mut acknowledged = acknowledged.into_inner().unwrap();
    acknowledged.sort();
    assert_eq!(acknowledged.len(), 6 * EACH);
    assert_eq!(folded.state().unwrap().managed_objects(), acknowledged);
    assert!(folded.folded.unwrap().in_flight.is_empty());
}

#[cfg(unix)]
#[test]
fn a_link_to_a_state_has_its_journal() {
    let place = place();
    std::os::unix::fs::symlink("real", place.state()).unwrap();
    assert_eq!(FileHome::beside(&place.state()).unwrap(), place.dir.path().join("real.groma-journal"));
    assert_eq!(WitnessFile::beside(&place.state()).unwrap(), place.dir.path().join("real.groma-witness"));
}

#[test]
fn storing_takes_a_small_part_of_the_time() {
    let seconds = Duration::from_secs_f64;
    let mut pacer = Pacer::new(seconds(10.0));
    assert_eq!(pacer.due(), None);
    pacer.changed();
    assert_eq!(pacer.due(), Some(seconds(11.0)));
    pacer.stored(seconds(11.0), seconds(11.01));
    assert_eq!(pacer.due(), None);
    pacer.changed();
    assert_eq!(pacer.due(), Some(seconds(12.01)));
    pacer.stored(seconds(13.0), seconds(13.5));
    pacer.changed();
    assert_eq!(pacer.due(), Some(seconds(23.5)));
    // Ten thousand objects, a millisecond each, and a state that takes a microsecond to store for each that is there.
    let (mut now, mut storing) = (Duration::ZERO, Duration::ZERO);
    let mut pacer = Pacer::new(now);
    for made in 0..10_000u32 {
        now += Duration::from_millis(1);
        pacer.changed();
        if pacer.due().is_some_and(|due| due <= now) {
            let took = Duration::from_micros(1) * made * 10;
            pacer.stored(now, now + took);
            now += took;
            storing += took;
        }
    }
    assert!(storing * 15 < now, "{storing:?} of {now:?}");
}
