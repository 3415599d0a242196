//! What is said while something runs.

#![allow(clippy::needless_raw_string_hashes, reason = "the tool that updates snapshots writes hashes")]

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use expect_test::expect;
use groma_model::address::{AbsInstance, DeposedKey, Traversal};
use groma_run::engine::change::Action;
use groma_run::engine::events::{EphemeralAction, ShownId};

use super::clock::Moment;
use super::*;
use crate::render::paint::Paint;

const PLAIN: Settings =
    Settings { style: Style { color: false, width: 60, ascii: false }, live: false, concise: false };

fn address(text: &str) -> AbsInstance {
    AbsInstance::from_traversal(&Traversal::parse(text).unwrap()).unwrap()
}

fn at(seconds: u64) -> Moment {
    Moment { passed: Duration::from_secs(seconds), of_day: Duration::from_secs(3600 + seconds) }
}

#[expect(clippy::unnecessary_wraps, reason = "as events have it")]
fn id(value: &str) -> Option<ShownId> {
    Some(ShownId { key: "id".into(), value: value.into() })
}

fn started(name: &str, action: Action, id: Option<ShownId>) -> Event {
    Event::ApplyStarted { address: address(name), deposed: None, action, id }
}

fn done(name: &str, action: Action, id: Option<ShownId>) -> Event {
    Event::ApplyDone { address: address(name), deposed: None, action, id }
}

fn failed(name: &str, action: Action) -> Event {
    Event::ApplyFailed { address: address(name), deposed: None, action }
}

fn said(tracker: &mut Tracker) -> String {
    tracker.take_words().into_iter().map(|word| word.text + "\n").collect()
}

fn applying(settings: Settings) -> Tracker {
    let mut tracker = Tracker::planning(settings);
    tracker.applies = true;
    tracker.total = Some(9);
    tracker
}

#[test]
fn each_step_has_its_words() {
    let mut tracker = applying(PLAIN);
    let steps = [
        (0, Event::RefreshStarted(address("t_x.a"), id("1"))),
        (0, Event::RefreshDone(address("t_x.a"), id("1"))),
        (0, Event::ImportStarted(address("t_x.i"), "some".into())),
        (0, Event::ImportDone(address("t_x.i"), "some".into())),
        (1, started("t_x.a", Action::Create, None)),
        (1, Event::ProvisionStarted(address("t_x.a"), "local-exec".into())),
        (2, Event::ProvisionOutput(address("t_x.a"), "local-exec".into(), "one  \r\n\n two".into())),
        (2, Event::ProvisionDone(address("t_x.a"), "local-exec".into())),
        (66, done("t_x.a", Action::Create, id("2"))),
        (66, started("t_x.b", Action::Update, id("3"))),
        (66, done("t_x.b", Action::Update, id("3"))),
        (66, started("t_x.c", Action::Delete, id("4"))),
        (66, done("t_x.c", Action::Delete, id("4"))),
        (66, started("data.t_x.d", Action::Read, None)),
        (66, done("data.t_x.d", Action::Read, id("5"))),
        (66, started("t_x.f", Action::Forget, id("5"))),
        (66, done("t_x.f", Action::Forget, None)),
        (66, Event::EphemeralStarted(address("ephemeral.t_x.e"), EphemeralAction::Open)),
        (67, Event::EphemeralDone(address("ephemeral.t_x.e"), EphemeralAction::Open)),
        (70, Event::Stopping),
    ];
    for (seconds, event) in steps {
        tracker.tell(event, at(seconds));
    }
    expect![[r#"
        t_x.a: Refreshing state... [id=1]
        t_x.i: Preparing import... [id=some]
        t_x.a: Creating...
        t_x.a: Provisioning with 'local-exec'...
        t_x.a (local-exec): one
        t_x.a (local-exec):  two
        t_x.a: Creation complete after 1m5s [id=2]
        t_x.b: Modifying... [id=3]
        t_x.b: Modifications complete after 0s [id=3]
        t_x.c: Destroying... [id=4]
        t_x.c: Destruction complete after 0s
        data.t_x.d: Reading...
        data.t_x.d: Read complete after 0s [id=5]
        ephemeral.t_x.e: Opening...
        ephemeral.t_x.e: Open complete after 1s
        Stopping operation...
    "#]]
    .assert_eq(&said(&mut tracker));
    let report = tracker.report(at(70));
    assert_eq!((report.added, report.changed, report.destroyed), (1, 1, 1));
    assert_eq!(report.took, Duration::from_secs(70));
    assert_eq!(report.slowest[0], ("t_x.a".to_owned(), Duration::from_secs(65)));
}

#[test]
fn replacements_come_in_two_steps() {
    let mut tracker = applying(PLAIN);
    for half in [id("1"), id("2")] {
        tracker.tell(started("t_x.a", Action::DeleteThenCreate, id("1")), at(0));
        tracker.tell(done("t_x.a", Action::DeleteThenCreate, half), at(0));
    }
    let deposed = DeposedKey::parse("0123abcd");
    for (deposed, after) in [(None, id("2")), (deposed, None)] {
        let (address, action) = (address("t_x.b"), Action::CreateThenDelete);
        let begin = Event::ApplyStarted { address: address.clone(), deposed: deposed.clone(), action, id: None };
        tracker.tell(begin, at(1));
        tracker.tell(Event::ApplyDone { address, deposed, action, id: after }, at(1));
    }
    expect![[r#"
        t_x.a: Destroying... [id=1]
        t_x.a: Destruction complete after 0s
        t_x.a: Creating...
        t_x.a: Creation complete after 0s [id=2]
        t_x.b: Creating...
        t_x.b: Creation complete after 0s [id=2]
        t_x.b (deposed object 0123abcd): Destroying...
        t_x.b (deposed object 0123abcd): Destruction complete after 0s
    "#]]
    .assert_eq(&said(&mut tracker));
    let report = tracker.report(at(1));
    assert_eq!((report.added, report.destroyed), (2, 2));
}

#[test]
fn what_takes_long_is_said_every_ten_seconds() {
    let mut tracker = applying(PLAIN);
    tracker.tell(started("t_x.a", Action::Create, None), at(0));
    tracker.tell(started("t_x.b", Action::Delete, id(&"x".repeat(100))), at(4));
    assert_eq!(tracker.next_word(), Some(Duration::from_secs(10)));
    said(&mut tracker);
    for seconds in 0..=21 {
        tracker.pass(at(seconds));
    }
    expect![[r#"
        t_x.a: Still creating... [10s elapsed]
        t_x.b: Still destroying... [id=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, 10s elapsed]
        t_x.a: Still creating... [20s elapsed]
    "#]].assert_eq(&said(&mut tracker));
    tracker.tell(done("t_x.a", Action::Create, None), at(22));
    tracker.tell(failed("t_x.b", Action::Delete), at(22));
    assert_eq!(tracker.next_word(), None);
    assert_eq!(tracker.report(at(22)).failed, [("t_x.b".to_owned(), "destroying")]);
}

#[test]
fn nobody_is_told_what_he_does_not_want_to_know() {
    let mut tracker = applying(Settings { concise: true, ..PLAIN });
    tracker.tell(started("t_x.a", Action::Create, None), at(0));
    assert_eq!(said(&mut tracker), "");
    // Who sees the tree is told what stays true.
    let mut tracker = applying(Settings { live: true, ..PLAIN });
    tracker.tell(started("t_x.a", Action::Create, None), at(0));
    tracker.tell(done("t_x.a", Action::Create, id("1")), at(1));
    assert_eq!(said(&mut tracker), "t_x.a: Creation complete after 1s [id=1]\n");
}

#[test]
fn the_tree_shows_what_runs_and_who_waits() {
    let settings = Settings { live: true, ..PLAIN };
    let mut tracker = applying(settings);
    tracker.waits = waits::tests::waits();
    tracker.tell(started("t_x.a", Action::Create, None), at(0));
    tracker.tell(Event::ProvisionStarted(address("t_x.a"), "local-exec".into()), at(1));
    tracker.tell(started("t_x.far_too_long_a_name_for_a_terminal_that_is_so_narrow", Action::Delete, None), at(3));
    let picture = |tracker: &Tracker, now| tree::draw(tracker, settings.style, now).join("\n") + "\n";
    expect![[r#"
        Applying: 0 of 9 done, 2 running, 7 waiting, 1m5s
        ├─ t_x.a: creating (local-exec) 1m5s
        │    4 wait for it: t_x.b[0], t_x.b[1], t_x.b[2], …
        └─ t_x.far_too_long_a_name_for_a_terminal…: destroying 1m2s
    "#]]
    .assert_eq(&picture(&tracker, at(65)));
    tracker.tell(done("t_x.a", Action::Create, None), at(66));
    for index in 0..20 {
        tracker.tell(started(&format!("t_x.n[{index}]"), Action::Update, None), at(66));
    }
    expect![[r#"
        Applying: 1 of 9 done, 21 running, 0 waiting, 1m7s
        ├─ t_x.far_too_long_a_name_for_a_terminal…: destroying 1m4s
        ├─ t_x.n[0]: modifying 1s
        ├─ t_x.n[1]: modifying 1s
        ├─ t_x.n[2]: modifying 1s
        ├─ t_x.n[3]: modifying 1s
        ├─ t_x.n[4]: modifying 1s
        ├─ t_x.n[5]: modifying 1s
        ├─ t_x.n[6]: modifying 1s
        ├─ t_x.n[7]: modifying 1s
        ├─ t_x.n[8]: modifying 1s
        └─ … and 11 more
    "#]]
    .assert_eq(&picture(&tracker, at(67)));
    assert!(tree::draw(&applying(settings), settings.style, at(1)).is_empty());
}

/// A clock that goes on when it is told to.
struct Fake(AtomicU64);

impl Clock for Fake {
    fn now(&self) -> Moment {
        at(self.0.load(Ordering::SeqCst))
    }
}

/// What is written, for others to see.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<Vec<u8>>>);

impl io::Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn lines_have_the_time_in_front_of_them() {
    let shown = Shown::default();
    let clock = Arc::new(Fake(AtomicU64::new(0)));
    let screen = Screen::Lines(Box::new(shown.clone()), Paint(false));
    let watcher = Watcher::start(applying(PLAIN), screen, clock.clone());
    watcher.tell(started("t_x.a", Action::Create, None));
    clock.0.store(7, Ordering::SeqCst);
    watcher.tell(done("t_x.a", Action::Create, id("1")));
    assert_eq!(watcher.aside(|| 5), 5);
    let report = watcher.finish();
    watcher.tell(started("t_x.late", Action::Create, None));
    assert_eq!(watcher.finish(), report);
    let text = String::from_utf8(shown.0.lock().unwrap().clone()).unwrap();
    expect![[r#"
        01:00:00Z t_x.a: Creating...
        01:00:07Z t_x.a: Creation complete after 7s [id=1]
    "#]]
    .assert_eq(&text);
}
