//! Locks, backups, and what is left when something fails or is killed at any step.

use std::io::BufRead as _;
use std::process::{Child, Command, Stdio};

use super::*;
use crate::{Keeper, Layout, OutputState, Saved, decode_bytes, encode, read_file, write_file};

fn with(output: &str, serial: u64) -> State {
    let value = groma_model::value::Value::string(output);
    let output = OutputState { value, sensitive: false, deprecated: None };
    State {
        tool_version: "1.0.0".to_owned(),
        lineage: "l".to_owned(),
        serial,
        outputs: [("a".into(), output)].into(),
        ..State::default()
    }
}

fn info(id: &str) -> LockInfo {
    LockInfo { id: id.to_owned(), operation: "OperationTypeApply".to_owned(), ..LockInfo::default() }
}

struct Place {
    dir: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("terraform.tfstate");
    Place { dir, path }
}

impl Place {
    fn store(&self) -> LocalStore {
        LocalStore::new(StatePaths::of(&self.path))
    }

    /// The names of all files, in order.
    fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn state(&self) -> State {
        read_file(&self.path).unwrap().unwrap()
    }

    fn backup(&self) -> Option<State> {
        read_file(&self.dir.path().join("terraform.tfstate.backup")).unwrap()
    }
}

fn version(state: &State) -> Version {
    Version::from(state)
}

#[test]
fn a_lock_leaves_nothing_behind() {
    let place = place();
    let mut store = place.store();
    store.lock(&info("id")).unwrap();
    assert_eq!(place.files(), [".terraform.tfstate.lock.info", "terraform.tfstate"]);
    // A state that other tools can go on from if this process is killed now.
    assert_eq!((place.state().serial, place.state().lineage.as_str()), (0, "id"));
    assert_eq!(store.read().unwrap(), None);
    assert_eq!(store.lock_info().unwrap().path, place.path.display().to_string());
    assert!(matches!(store.lock(&info("id")), Err(LockError::AlreadyLocked)));
    assert!(matches!(store.unlock("other"), Err(LockError::WrongId { .. })));
    store.unlock("id").unwrap();
    assert!(place.files().is_empty());
    assert!(matches!(store.unlock("id"), Err(LockError::NotLocked)));
    // Nor does a run that ends without giving it back.
    store.lock(&info("id")).unwrap();
    drop(store);
    assert!(place.files().is_empty());
}

#[test]
fn one_at_a_time() {
    let place = place();
    let (mut first, mut second) = (place.store(), place.store());
    let one = with("x", 1);
    for written in [false, true] {
        first.lock(&info("first")).unwrap();
        if written {
            let expected = first.read().unwrap().as_ref().map(Version::from);
            first.write(expected.as_ref(), &with("y", 2)).unwrap();
        }
        let LockError::Held { reason, info: Some(holder), .. } = second.lock(&info("second")).unwrap_err() else {
            panic!("not held")
        };
        assert_eq!((reason.as_str(), holder.id.as_str()), ("resource temporarily unavailable", "first"));
        // Without asking for a lock, too.
        assert!(matches!(second.write(None, &one), Err(StoreError::Locked(_))));
        assert!(second.force_unlock("first").is_err());
        first.unlock("first").unwrap();
        second.lock(&info("second")).unwrap();
        second.unlock("second").unwrap();
    }
    assert_eq!(place.state(), with("y", 2));
}

#[test]
fn whoever_waits_for_a_file_that_was_replaced_does_not_get_it() {
    let place = place();
    write_file(&place.path, &with("x", 1)).unwrap();
    // As another tool that waits for the lock has it.
    let waiting = OpenOptions::new().read(true).write(true).open(&place.path).unwrap();
    let mut store = place.store();
    store.lock(&info("id")).unwrap();
    assert!(matches!(platform::try_lock(&waiting).unwrap(), TryLock::Busy(_)));
    store.write(Some(&version(&with("x", 1))), &with("y", 2)).unwrap();
    let newcomer = File::options().read(true).write(true).open(&place.path).unwrap();
    assert!(matches!(platform::try_lock(&newcomer).unwrap(), TryLock::Busy(_)));
    store.unlock("id").unwrap();
    assert!(matches!(platform::try_lock(&waiting).unwrap(), TryLock::Locked));
    assert!(decode_bytes(&read_whole(&waiting).unwrap()).is_err());
    assert!(matches!(platform::try_lock(&newcomer).unwrap(), TryLock::Locked));
    assert_eq!(place.state(), with("y", 2));
}

#[test]
fn a_file_that_is_replaced_before_it_is_locked_is_opened_again() {
    let place = place();
    write_file(&place.path, &with("a", 1)).unwrap();
    let mut store = place.store();
    let path = place.path.clone();
    let mut serial = 1;
    store.faults = Some(Box::new(move |step| {
        if step == Step::Lock && serial < 4 {
            serial += 1;
            write_file(&path, &with("a", serial)).unwrap();
        }
        Ok(())
    }));
    store.lock(&info("id")).unwrap();
    assert_eq!(store.read().unwrap().unwrap().serial, 4);
    assert!(place.store().lock(&info("other")).is_err());
}

#[test]
fn what_people_gave_another_name_is_left_alone() {
    let place = place();
    write_file(&place.path, &with("x", 1)).unwrap();
    let copy = place.dir.path().join("copy");
    fs::hard_link(&place.path, &copy).unwrap();
    place.store().write(Some(&version(&with("x", 1))), &with("y", 2)).unwrap();
    assert_eq!(read_file(&copy).unwrap().unwrap(), with("x", 1));
}

#[test]
fn the_first_state_of_a_run_is_backed_up_once() {
    let place = place();
    let mut store = place.store();
    store.write(None, &with("a", 1)).unwrap();
    assert_eq!(place.files(), ["terraform.tfstate"]);
    let mut store = place.store();
    store.lock(&info("id")).unwrap();
    store.write(Some(&version(&with("a", 1))), &with("b", 2)).unwrap();
    store.write(Some(&version(&with("b", 2))), &with("c", 3)).unwrap();
    store.unlock("id").unwrap();
    assert_eq!(place.files(), ["terraform.tfstate", "terraform.tfstate.backup"]);
    assert_eq!(place.backup(), Some(with("a", 1)));
    assert_eq!(place.state(), with("c", 3));
    let paths = StatePaths { backup: None, ..StatePaths::of(&place.path) };
    LocalStore::new(paths).write(Some(&version(&with("c", 3))), &with("d", 4)).unwrap();
    assert_eq!(place.backup(), Some(with("a", 1)));
}

#[test]
fn reading_from_one_file_and_writing_to_another() {
    let place = place();
    let out = place.dir.path().join("sub/out");
    write_file(&place.path, &with("a", 1)).unwrap();
    let paths = StatePaths { read: place.path.clone(), ..StatePaths::of(&out) };
    let mut store = LocalStore::new(paths);
    store.lock(&info("id")).unwrap();
    assert_eq!(store.read().unwrap(), Some(with("a", 1)));
    store.write(Some(&version(&with("a", 1))), &with("b", 2)).unwrap();
    assert_eq!(store.read().unwrap(), Some(with("b", 2)));
    store.write(Some(&version(&with("b", 2))), &with("c", 3)).unwrap();
    store.unlock("id").unwrap();
    assert_eq!(place.state(), with("a", 1));
    assert_eq!(read_file(&out).unwrap(), Some(with("c", 3)));
}

#[test]
fn what_changed_in_between_is_not_overwritten() {
    let place = place();
    write_file(&place.path, &with("a", 1)).unwrap();
    let mut store = place.store();
    store.lock(&info("id")).unwrap();
    store.read().unwrap();
    // By something that does not know of locks: in place, and as a new file.
    fs::write(&place.path, encode(&with("z", 7), Layout::Indented).unwrap()).unwrap();
    let result = store.write(Some(&version(&with("a", 1))), &with("b", 2));
    assert!(matches!(result, Err(StoreError::Conflict { found: Some(Version { serial: 7, .. }), .. })), "{result:?}");
    write_file(&place.path, &with("y", 8)).unwrap();
    let result = store.write(Some(&version(&with("z", 7))), &with("b", 8));
    assert!(matches!(result, Err(StoreError::LockLost { .. })), "{result:?}");
    assert_eq!(place.state(), with("y", 8));
    assert!(result.unwrap_err().diagnostic().hints[0].contains("Nothing was overwritten"));
}

#[test]
fn damage_is_an_error_that_says_how_to_mend_it() {
    let place = place();
    for damage in ["", "{\"version\": 4, \"lin"] {
        fs::write(&place.path, damage).unwrap();
        let mut store = place.store();
        store.lock(&info("id")).unwrap();
        let error = store.read().unwrap_err().diagnostic();
        assert_eq!(error.summary, "Unsupported state file format");
        assert!(error.hints[0].contains("If nothing was ever made with this state, remove"), "{error:?}");
        assert!(store.write(None, &with("a", 1)).is_err());
        store.unlock("id").unwrap();
        assert_eq!(fs::read_to_string(&place.path).unwrap(), damage);
    }
    fs::write(place.dir.path().join("terraform.tfstate.backup"), "{}").unwrap();
    fs::write(place.dir.path().join(".terraform.tfstate.lock.info"), info("x").to_json()).unwrap();
    let error = place.store().read().unwrap_err().diagnostic();
    assert!(error.hints[0].contains("was stopped while it did"), "{error:?}");
    assert!(error.hints[1].contains("terraform.tfstate.backup has the state from before"), "{error:?}");
}

#[test]
fn locks_of_the_dead_are_forgotten() {
    let place = place();
    let said = place.dir.path().join(".terraform.tfstate.lock.info");
    let mut store = place.store();
    assert!(matches!(store.force_unlock("id"), Err(LockError::NotLocked)));
    fs::write(&said, info("old").to_json()).unwrap();
    assert!(matches!(store.force_unlock("id"), Err(LockError::WrongId { .. })));
    store.force_unlock("old").unwrap();
    assert!(place.files().is_empty());
    fs::write(&said, info("old").to_json()).unwrap();
    store.lock(&info("new")).unwrap();
    assert_eq!(store.lock_info().unwrap().id, "new");
    store.force_unlock("new").unwrap();
    assert!(place.files().is_empty());
}

#[test]
fn a_lock_is_given_back_even_if_a_process_that_is_being_started_has_the_file() {
    let place = place();
    let mut store = place.store();
    write_file(&place.path, &with("a", 1)).unwrap();
    store.lock(&info("first")).unwrap();
    let inherited = store.held.as_ref().unwrap().file.try_clone().unwrap();
    store.unlock("first").unwrap();
    place.store().lock(&info("second")).unwrap();
    drop(inherited);
}

#[cfg(unix)]
#[test]
fn links_stay_and_nobody_else_can_read() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place = place();
    let real = place.dir.path().join("real");
    symlink("real", &place.path).unwrap();
    let mut store = place.store();
    // The link leads nowhere yet.
    store.write(None, &with("a", 1)).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    store.write(Some(&version(&with("a", 1))), &with("b", 2)).unwrap();
    assert!(fs::symlink_metadata(&place.path).unwrap().is_symlink());
    assert_eq!(read_file(&real).unwrap(), Some(with("b", 2)));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    let round = place.dir.path().join("round");
    symlink("round", &round).unwrap();
    assert!(LocalStore::new(StatePaths::of(&round)).write(None, &with("a", 1)).is_err());
}

#[test]
fn a_folder_is_no_state() {
    let place = place();
    fs::create_dir(&place.path).unwrap();
    let mut store = place.store();
    assert!(matches!(store.lock(&info("id")), Err(LockError::Io { .. })));
    assert!(store.read().is_err());
    assert!(store.write(None, &with("a", 1)).is_err());
    let below = LocalStore::new(StatePaths::of(place.dir.path().join("terraform.tfstate/x/y"))).lock(&info("id"));
    assert!(below.is_ok());
    fs::write(place.dir.path().join("file"), "").unwrap();
    assert!(LocalStore::new(StatePaths::of(place.dir.path().join("file/x"))).lock(&info("id")).is_err());
}

const STEPS: [Step; 5] = [Step::Backup, Step::Stage, Step::Rename, Step::Sync, Step::Retire];

#[test]
fn a_step_that_fails_leaves_the_old_state_or_the_new() {
    for failing in STEPS {
        let place = place();
        write_file(&place.path, &with("a", 1)).unwrap();
        let mut keeper = Keeper::new(place.store());
        keeper.store().lock(&info("id")).unwrap();
        keeper.read().unwrap();
        keeper.store().faults =
            Some(Box::new(
                move |step| {
                    if step == failing { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(()) }
                },
            ));
        let mut next = with("b", 0);
        let error = keeper.save(&mut next, &mut || [0; 16]).unwrap_err();
        assert!(error.diagnostic().detail.contains("no storage space"), "{error:?}");
        let there = place.state();
        let replaced = matches!(failing, Step::Sync | Step::Retire);
        assert_eq!(there, if replaced { with("b", 2) } else { with("a", 1) }, "{failing:?}");
        // Still locked, and nothing unfinished is left.
        assert!(matches!(place.store().lock(&info("other")), Err(LockError::Held { .. })));
        assert!(place.files().iter().all(|name| !name.ends_with("groma-tmp")), "{failing:?}");
        // And when there is room again, it goes on.
        keeper.store().faults = None;
        keeper.read().unwrap();
        keeper.save(&mut next, &mut || [0; 16]).unwrap();
        assert_eq!(place.state().outputs, with("b", 0).outputs);
        keeper.store().unlock("id").unwrap();
    }
}

#[test]
fn a_placeholder_goes_when_the_first_write_fails() {
    let place = place();
    let mut store = place.store();
    store.faults = Some(Box::new(|_| Err(io::Error::from(io::ErrorKind::StorageFull))));
    store.write(None, &with("a", 1)).unwrap_err();
    assert!(place.files().is_empty());
}

/// Runs the part of a test that needs a process of its own.
fn child(role: &str, place: &Place) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "local::tests::in_a_process_of_its_own", "--nocapture"]);
    command.env("GROMA_TEST_ROLE", role).env("GROMA_TEST_DIR", place.dir.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Does nothing unless another test starts it.
#[test]
#[expect(clippy::disallowed_methods, reason = "the environment says what another test wants of this process")]
fn in_a_process_of_its_own() {
    let (Ok(role), Ok(dir)) = (std::env::var("GROMA_TEST_ROLE"), std::env::var("GROMA_TEST_DIR")) else { return };
    let mut keeper = Keeper::new(LocalStore::new(StatePaths::of(Path::new(&dir).join("terraform.tfstate"))));
    keeper.store().lock(&info("child")).unwrap();
    keeper.read().unwrap();
    if let Some(dying) = STEPS.into_iter().find(|step| format!("{step:?}") == role) {
        keeper.store().faults = Some(Box::new(move |step| if step == dying { std::process::abort() } else { Ok(()) }));
        keeper.save(&mut with("b", 0), &mut || [0; 16]).unwrap();
        panic!("still there");
    }
    if role == "full" {
        let error = keeper.save(&mut with(&"b".repeat(1 << 20), 0), &mut || [0; 16]).unwrap_err();
        println!("{}", error.diagnostic().detail);
        return;
    }
    println!("locked");
    // Until it is killed.
    io::stdin().read_line(&mut String::new()).unwrap();
}

/// A file system that takes no more in the middle of a file.
#[cfg(unix)]
#[test]
fn a_disk_that_is_full() {
    let place = place();
    write_file(&place.path, &with("a", 1)).unwrap();
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact local::tests::in_a_process_of_its_own --nocapture";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(std::env::current_exe().unwrap());
    let output = command.env("GROMA_TEST_ROLE", "full").env("GROMA_TEST_DIR", place.dir.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.contains("File too large"), "{said}");
    assert_eq!(place.state(), with("a", 1));
    assert_eq!(place.files(), ["terraform.tfstate", "terraform.tfstate.backup"]);
}

#[test]
fn readers_without_a_lock_see_one_state_or_the_next() {
    let place = place();
    write_file(&place.path, &with("a", 1)).unwrap();
    let path = place.path.clone();
    let reader = std::thread::spawn(move || {
        let mut last = 0;
        while last < 200 {
            let state = LocalStore::new(StatePaths::of(&path)).read().unwrap().unwrap();
            assert!(state.serial >= last);
            last = state.serial;
        }
    });
    let mut store = place.store();
    store.lock(&info("id")).unwrap();
    for serial in 1..200 {
        store.write(Some(&version(&with("a", serial))), &with("a", serial + 1)).unwrap();
    }
    store.unlock("id").unwrap();
    reader.join().unwrap();
}

#[test]
fn writers_wait_for_each_other() {
    let place = place();
    let writers = (0..4).map(|_| {
        let path = place.path.clone();
        std::thread::spawn(move || {
            let mut keeper = Keeper::new(LocalStore::new(StatePaths::of(&path)));
            let mut done = 0;
            while done < 10 {
                match keeper.store().lock(&info("id")) {
                    Ok(()) => {}
                    Err(error) if error.is_retriable() => {
                        std::thread::yield_now();
                        continue;
                    }
                    Err(error) => panic!("{error}"),
                }
                let serial = keeper.read().unwrap().map_or(0, |state| state.serial);
                keeper.save(&mut with(&serial.to_string(), 0), &mut || [0; 16]).unwrap();
                keeper.store().unlock("id").unwrap();
                done += 1;
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    for writer in writers {
        writer.join().unwrap();
    }
    assert_eq!(place.state().serial, 40);
}

#[test]
fn killed_at_any_step() {
    for step in STEPS {
        for fresh in [false, true] {
            let place = place();
            if !fresh {
                write_file(&place.path, &with("a", 1)).unwrap();
            }
            let status = child(&format!("{step:?}"), &place).wait().unwrap();
            // There is nothing to back up before the first write.
            assert!(!status.success());
            let mut keeper = Keeper::new(place.store());
            keeper.store().lock(&info("id")).unwrap();
            let state = keeper.read().unwrap().unwrap();
            let replaced = matches!(step, Step::Sync | Step::Retire) || (fresh && step == Step::Backup);
            let serial = match (replaced, fresh) {
                (true, true) => 1,
                (true, false) => 2,
                (false, true) => 0,
                (false, false) => 1,
            };
            assert_eq!(state.serial, serial, "{step:?} {fresh}");
            assert_eq!(keeper.save(&mut with("c", 0), &mut || [0; 16]).unwrap(), Saved::Written);
            keeper.store().unlock("id").unwrap();
            assert_eq!(place.state().serial, serial + 1);
            assert_eq!(place.files(), ["terraform.tfstate", "terraform.tfstate.backup"], "{step:?} {fresh}");
        }
    }
}

#[test]
fn processes_keep_each_other_out_until_they_die() {
    let place = place();
    write_file(&place.path, &with("a", 1)).unwrap();
    let mut child = child("hold", &place);
    let mut lines = io::BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("locked")));
    let mut store = place.store();
    let LockError::Held { info: Some(holder), .. } = store.lock(&info("id")).unwrap_err() else { panic!() };
    assert_eq!(holder.id, "child");
    child.kill().unwrap();
    child.wait().unwrap();
    store.lock(&info("id")).unwrap();
    store.unlock("id").unwrap();
    assert_eq!(place.state(), with("a", 1));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_to() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = place();
    write_file(&place.path, &with("a", 1)).unwrap();
    let mode = |mode| fs::set_permissions(place.dir.path(), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o555);
    // Root may write anywhere.
    let refused = File::create(place.dir.path().join("probe")).is_err();
    let mut store = place.store();
    let result = store.write(Some(&version(&with("a", 1))), &with("b", 2));
    assert_eq!(store.read().unwrap(), Some(with(if refused { "a" } else { "b" }, if refused { 1 } else { 2 })));
    assert_eq!(result.is_err(), refused);
    assert_eq!(store.lock(&info("id")).is_err(), refused);
    drop(store);
    mode(0o755);
}
