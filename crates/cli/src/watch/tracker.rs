//! What is under way, and for how long. Is told what happens and what time it is, and says what there is to say: nothing here
//! waits, and nothing prints.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use groma_model::address::{AbsInstance, DeposedKey, ResourceMode};
use groma_run::engine::ImportTarget;
use groma_run::engine::change::{Action, Change};
use groma_run::engine::events::{Event, ShownId, WaitProgress};
use groma_run::engine::execution::Step;
use groma_run::engine::plan::Plan;

use super::clock::Moment;
use super::lines::{self, Doing};
use super::waits::Waits;
use super::{Report, Settings};

/// After so long, and again after as long, it is said that something is still under way.
const STILL: Duration = Duration::from_secs(10);

/// So many of what took longest are kept.
const SLOWEST: usize = 3;

/// What is under way.
pub(super) struct Tracker {
    settings: Settings,
    /// Whether a plan is carried out, not made.
    pub(super) applies: bool,
    /// In the order in which it began.
    running: BTreeMap<u64, Running>,
    /// Where something that is under way is found.
    places: BTreeMap<Place, u64>,
    /// When there is something to say about what is under way.
    due: BTreeSet<(Duration, u64)>,
    begun: u64,
    /// Replacements that were begun.
    halves: BTreeSet<AbsInstance>,
    /// What is to be said, in order.
    words: Vec<Word>,
    /// How many steps there are, if that is known.
    pub(super) total: Option<usize>,
    /// How many of them are over.
    pub(super) over: usize,
    pub(super) waits: Waits,
    /// Objects of which nothing is left to do but to wait for them.
    resumed: BTreeSet<AbsInstance>,
    report: Report,
}

type Place = (AbsInstance, Option<DeposedKey>, Doing);

/// Something that is under way.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) address: AbsInstance,
    pub(super) doing: Doing,
    pub(super) since: Duration,
    id: Option<ShownId>,
    due: Duration,
    /// A provisioner that is at work.
    pub(super) with: Option<String>,
}

/// A line, and whether it is worth saying to somebody who sees the tree.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// How much of it, in bytes, stands out.
    pub(super) bold: usize,
    pub(super) lasting: bool,
}

impl Tracker {
    /// For a plan that is being made.
    pub(super) fn planning(settings: Settings) -> Self {
        Self {
            settings,
            applies: false,
            running: BTreeMap::new(),
            places: BTreeMap::new(),
            due: BTreeSet::new(),
            begun: 0,
            halves: BTreeSet::new(),
            words: Vec::new(),
            total: None,
            over: 0,
            waits: Waits::default(),
            resumed: BTreeSet::new(),
            report: Report::default(),
        }
    }

    /// For a plan that is being carried out.
    pub(super) fn applying(settings: Settings, plan: &Plan) -> Self {
        let mut tracker = Self::planning(settings);
        tracker.applies = true;
        let is_step = |step: &&Step| matches!(step, Step::Make(_) | Step::Remove(_));
        tracker.total = Some(plan.execution.steps.iter().filter(is_step).count());
        if settings.live {
            tracker.waits = Waits::of(plan);
        }
        for change in &plan.changes {
            if change.only_waits() {
                tracker.resumed.insert(change.address.clone());
            }
            tracker.taken_in(change);
        }
        tracker
    }

    /// What is imported or let go needs no provider, so nobody tells about it.
    fn taken_in(&mut self, change: &Change) {
        if let Some(target) = &change.importing {
            self.report.imported += 1;
            let id = match target {
                ImportTarget::Id(id) if !id.is_empty() => format!(" [id={id}]"),
                _ => String::new(),
            };
            self.say(format!("{}: Importing...{id}", change.address), false);
            self.say(format!("{}: Import complete{id}", change.address), true);
        }
        let forgets = matches!(change.action, Action::Forget | Action::ForgetThenCreate);
        self.report.forgotten += usize::from(forgets && change.address.instance.resource.mode == ResourceMode::Managed);
    }

    /// Something happened.
    pub(super) fn tell(&mut self, event: Event, now: Moment) {
        match event {
            Event::RefreshStarted(address, id) => self.begin((address, None, Doing::Refresh), id, now),
            Event::RefreshDone(address, id) => self.end(&(address, None, Doing::Refresh), id, true, now),
            Event::RefreshFailed(address) => self.end(&(address, None, Doing::Refresh), None, false, now),
            Event::ImportStarted(address, id) => {
                let id = Some(ShownId { key: "id".into(), value: id }).filter(|id| !id.value.is_empty());
                self.begin((address, None, Doing::Import), id, now);
            }
            Event::ImportDone(address, _) => self.end(&(address, None, Doing::Import), None, true, now),
            Event::ApplyStarted { address, deposed, action, id } => {
                let is_first = action == Action::DeleteThenCreate && self.halves.insert(address.clone());
                if let Some(doing) = Doing::of(action, deposed.is_some(), is_first) {
                    self.begin((address, deposed, doing), id, now);
                }
            }
            Event::ApplyDone { address, deposed, action, id } => self.applied(address, deposed, action, id, now),
            Event::ApplyKept { address, action, id } => self.kept(address, action, id.as_ref(), now),
            Event::ApplyFailed { address, deposed, action } => self.failed(address, deposed, action, now),
            Event::Skipped(skipped) => {
                self.over += 1;
                self.waits.over(&skipped.address);
                self.report.forgotten -= usize::from(skipped.action == Action::Forget && self.report.forgotten > 0);
                self.report.skipped.push(skipped);
            }
            Event::ProvisionStarted(address, kind) => {
                self.say(format!("{address}: Provisioning with '{kind}'..."), false);
                self.provisioner(&address, Some(kind.to_string()));
            }
            Event::ProvisionOutput(address, kind, text) => {
                let bold = format!("{address} ({kind}):").len();
                for text in lines::output(&address, &kind, &text) {
                    self.words.push(Word { text, bold, lasting: true });
                }
            }
            Event::ProvisionDone(address, _) | Event::ProvisionFailed(address, _) => self.provisioner(&address, None),
            Event::EphemeralStarted(address, action) => {
                self.begin((address, None, Doing::of_ephemeral(action)), None, now);
            }
            Event::EphemeralDone(address, action) => {
                self.end(&(address, None, Doing::of_ephemeral(action)), None, true, now);
            }
            Event::WaitStarted(progress) => {
                self.say(format!("{}: Waiting for {}...", progress.address, progress.waiting_for), false);
                let place = (progress.address.clone(), None, Doing::Wait);
                self.begin(place, None, now);
                self.waiting(&progress);
            }
            Event::Waiting(progress) => self.waiting(&progress),
            Event::WaitDone(progress) => {
                self.resumed_over(&progress.address);
                self.end(&(progress.address, None, Doing::Wait), None, true, now);
            }
            Event::WaitFailed(progress) => {
                self.resumed_over(&progress.address);
                self.report.failed.push((progress.address.to_string(), Doing::Wait.verb()));
                self.end(&(progress.address, None, Doing::Wait), None, false, now);
            }
            Event::Stopping => self.say("Stopping operation...".to_owned(), true),
        }
    }

    fn begin(&mut self, place: Place, id: Option<ShownId>, now: Moment) {
        let (address, deposed, doing) = &place;
        // What is not there yet has no id.
        let id = id.filter(|_| *doing != Doing::Create);
        // What is waited for is told with the wait.
        if *doing != Doing::Wait {
            self.say(lines::begin(&lines::object(address, deposed.as_ref()), *doing, id.as_ref()), false);
        }
        self.begun += 1;
        let (number, due) = (self.begun, now.passed + STILL);
        let running = Running { address: address.clone(), doing: *doing, since: now.passed, id, due, with: None };
        // Reading anew is never that slow, and nobody waits for a word about it.
        if !matches!(doing, Doing::Refresh | Doing::Import) {
            self.due.insert((due, number));
        }
        self.running.insert(number, running);
        self.places.insert(place, number);
    }

    /// Something is over.
    fn end(&mut self, place: &Place, id: Option<ShownId>, well: bool, now: Moment) {
        let Some(running) = self.places.remove(place).and_then(|number| {
            let running = self.running.remove(&number)?;
            self.due.remove(&(running.due, number));
            Some(running)
        }) else {
            return;
        };
        let elapsed = rounded(now.passed).saturating_sub(rounded(running.since));
        let object = lines::object(&place.0, place.1.as_ref());
        let counts = matches!(running.doing, Doing::Create | Doing::Update | Doing::Delete | Doing::Read);
        if counts && self.applies {
            self.took(object.clone(), now.passed.saturating_sub(running.since));
        }
        if well && !matches!(running.doing, Doing::Refresh | Doing::Import) {
            let lasting = self.applies && counts;
            self.say(lines::done(&object, running.doing, id.as_ref(), elapsed), lasting);
        }
        if !self.applies {
            self.over += usize::from(matches!(running.doing, Doing::Refresh | Doing::Read | Doing::Import));
        }
    }

    fn applied(
        &mut self,
        address: AbsInstance,
        deposed: Option<DeposedKey>,
        action: Action,
        id: Option<ShownId>,
        now: Moment,
    ) {
        self.step_over(&address);
        let Some(place) = self.place(address, deposed, action) else { return };
        match place.2 {
            Doing::Create => self.report.added += 1,
            Doing::Update => self.report.changed += 1,
            Doing::Delete => self.report.destroyed += 1,
            _ => {}
        }
        // What is gone has no id.
        let id = id.filter(|_| place.2 != Doing::Delete);
        self.end(&place, id, true, now);
    }

    /// Something was made in part. It counts, but nothing is complete.
    fn kept(&mut self, address: AbsInstance, action: Action, id: Option<&ShownId>, now: Moment) {
        self.step_over(&address);
        let Some(place) = self.place(address, None, action) else { return };
        self.report.added += usize::from(place.2 == Doing::Create);
        self.say(lines::kept(&lines::object(&place.0, None), id), true);
        self.end(&place, None, false, now);
    }

    fn failed(&mut self, address: AbsInstance, deposed: Option<DeposedKey>, action: Action, now: Moment) {
        self.step_over(&address);
        let object = lines::object(&address, deposed.as_ref());
        let place = self.place(address, deposed, action);
        let verb = place.as_ref().map_or("forgetting", |place| place.2.verb());
        self.report.failed.push((object, verb));
        if let Some(place) = place {
            self.end(&place, None, false, now);
        }
    }

    /// A wait is over. For some objects it was all there was to do.
    fn resumed_over(&mut self, address: &AbsInstance) {
        if self.resumed.remove(address) {
            self.step_over(address);
        }
    }

    fn step_over(&mut self, address: &AbsInstance) {
        if self.applies {
            self.over += 1;
            self.waits.over(address);
        }
    }

    /// Where something that ended was under way.
    fn place(&self, address: AbsInstance, deposed: Option<DeposedKey>, action: Action) -> Option<Place> {
        let first = (address.clone(), deposed.clone(), Doing::Delete);
        let is_first = action == Action::DeleteThenCreate && self.places.contains_key(&first);
        Doing::of(action, deposed.is_some(), is_first).map(|doing| (address, deposed, doing))
    }

    fn provisioner(&mut self, address: &AbsInstance, kind: Option<String>) {
        for doing in [Doing::Create, Doing::Delete] {
            let place = (address.clone(), None, doing);
            if let Some(running) = self.places.get(&place).and_then(|number| self.running.get_mut(number)) {
                running.with.clone_from(&kind);
            }
        }
    }

    /// What was seen last of something that is waited for.
    fn waiting(&mut self, progress: &WaitProgress) {
        let place = (progress.address.clone(), None, Doing::Wait);
        if let Some(running) = self.places.get(&place).and_then(|number| self.running.get_mut(number)) {
            running.with = progress.seen_in_brief().map(str::to_owned);
        }
    }

    fn took(&mut self, object: String, time: Duration) {
        let slowest = &mut self.report.slowest;
        let at = slowest.partition_point(|(_, other)| *other >= time);
        if at < SLOWEST {
            slowest.insert(at, (object, time));
            slowest.truncate(SLOWEST);
        }
    }

    fn say(&mut self, text: String, lasting: bool) {
        let bold = text.len();
        self.words.push(Word { text, bold, lasting });
    }

    /// Time has passed.
    pub(super) fn pass(&mut self, now: Moment) {
        while let Some(&(due, number)) = self.due.first()
            && due <= now.passed
        {
            self.due.pop_first();
            let Some(running) = self.running.get_mut(&number) else { continue };
            running.due = due + STILL;
            self.due.insert((running.due, number));
            let elapsed = rounded(now.passed).saturating_sub(rounded(running.since));
            let object = running.address.to_string();
            let text = match running.doing {
                Doing::Wait => lines::still_waiting(&object, running.with.as_deref(), elapsed),
                doing => lines::still(&object, doing, running.id.as_ref(), elapsed),
            };
            self.say(text, false);
        }
    }

    /// When there is something to say, if nothing happens until then.
    pub(super) fn next_word(&self) -> Option<Duration> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Takes what is to be said: all of it, or what somebody who sees the tree has not seen.
    pub(super) fn take_words(&mut self) -> Vec<Word> {
        let words = std::mem::take(&mut self.words);
        if self.settings.concise {
            return Vec::new();
        }
        if self.settings.live { words.into_iter().filter(|word| word.lasting).collect() } else { words }
    }

    /// What is under way, longest first.
    pub(super) fn running(&self) -> impl ExactSizeIterator<Item = &Running> {
        self.running.values()
    }

    /// What happened so far.
    pub(super) fn report(&self, now: Moment) -> Report {
        Report { took: now.passed, ..self.report.clone() }
    }
}

/// To the next whole second.
fn rounded(time: Duration) -> Duration {
    Duration::from_secs((time + Duration::from_millis(500)).as_secs())
}
