//! Waits in the engine, with a provider in process whose objects are ready when the test says so.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use common::{Given, Workspace, summary};
use groma_engine::pending;
use groma_engine::plan::{Mode, Options};
use groma_model::codec::json;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::{Attribute, Block, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::{
    Answer, ApplyRequest, ApplyResponse, LazySchema, NotReady, Outcome, Patience, PlanRequest, PlanResponse, Private,
    Provider, ProviderSchema, RawState, ReadRequest, ReadResponse, UpgradeRequest, UpgradeResponse,
};

/// What the objects are like, and what was done with them.
#[derive(Default)]
struct World {
    ready: bool,
    /// Everything is ready once this was made.
    ready_once: Option<String>,
    /// Nothing else can be made before this is: how long its absence is borne with.
    needed_first: Option<(String, Patience)>,
    /// Everything is ready after so many reads.
    ready_after_reads: Option<usize>,
    made: Vec<String>,
    removed: Vec<String>,
    fail_updates: bool,
    /// The provider says itself what is not ready, and asks to be asked again for so long.
    patience: Option<Patience>,
    /// It has no hope any more after so many reads.
    hopeless_after_reads: Option<usize>,
}

/// A provider of objects that need care. Its private data must come back as it was given.
struct Clinic {
    schema: ProviderSchema,
    private: &'static [u8],
    world: Arc<Mutex<World>>,
}

impl Clinic {
    fn open(private: &'static [u8], world: &Arc<Mutex<World>>) -> Arc<dyn Provider> {
        let attribute =
            |computed: bool| Attribute { required: !computed, computed, ..Attribute::of_type(Type::String) };
        let names = [("endpoint", true), ("id", true), ("name", false), ("status", true), ("zone", false)];
        let attributes: BTreeMap<Str, Attribute> =
            names.into_iter().map(|(name, computed)| (Str::from(name), attribute(computed))).collect();
        let block = Block { attributes, ..Block::default() };
        let resource = LazySchema::from(Schema { version: 0, block });
        let schema =
            ProviderSchema { resources: [("clinic_bed".into(), resource)].into(), ..ProviderSchema::default() };
        Arc::new(Self { schema, private, world: Arc::clone(world) })
    }

    /// What it says about an object by itself.
    fn says(&self) -> Option<NotReady> {
        let world = self.world.lock().unwrap();
        let patience = world.patience.filter(|_| !world.ready)?;
        let hope = world.hopeless_after_reads != Some(0);
        Some(NotReady {
            waiting_for: "a doctor".to_owned(),
            last_seen: Some("a nurse".to_owned()),
            patience: hope.then_some(patience),
        })
    }

    fn now(&self, object: &Value) -> Value {
        let ready = self.world.lock().unwrap().ready;
        let endpoint = if ready { Value::from("10.0.0.1") } else { Value::null(Type::String) };
        with(object, &[("status", Value::from(if ready { "up" } else { "down" })), ("endpoint", endpoint)])
    }
}

fn with(object: &Value, others: &[(&str, Value)]) -> Value {
    let entries = object.as_entries().unwrap();
    let other = |name: &Str| others.iter().find(|(own, _)| *own == name.as_str()).map(|(_, value)| value.clone());
    Value::object(entries.iter().map(|(name, value)| (name.clone(), other(name).unwrap_or_else(|| value.clone()))))
}

fn text(object: &Value, name: &str) -> String {
    object.as_entries().unwrap().get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

#[async_trait]
impl Provider for Clinic {
    fn name(&self) -> &'static str {
        "clinic"
    }

    fn schema(&self) -> &ProviderSchema {
        &self.schema
    }

    async fn upgrade(&self, request: UpgradeRequest) -> Answer<UpgradeResponse> {
        let RawState::Json(text) = &request.state else { panic!("as it was written") };
        let ty = self.schema.resources["clinic_bed"].get().unwrap().block.implied_type();
        let value = json::decode(std::str::from_utf8(text).unwrap(), &ty).unwrap();
        Ok(UpgradeResponse { value, diagnostics: Diagnostics::new() })
    }

    async fn read(&self, request: ReadRequest) -> Answer<ReadResponse> {
        assert_eq!(request.private.0, self.private, "private data is the provider's own");
        {
            let mut world = self.world.lock().unwrap();
            world.ready_after_reads = world.ready_after_reads.map(|left| left.saturating_sub(1));
            world.ready |= world.ready_after_reads == Some(0);
            world.hopeless_after_reads = world.hopeless_after_reads.map(|left| left.saturating_sub(1));
        }
        let object = self.now(&request.current);
        Ok(ReadResponse {
            object,
            private: request.private,
            identity: None,
            not_ready: self.says(),
            deferred: None,
            diagnostics: Diagnostics::new(),
        })
    }

    async fn plan(&self, request: PlanRequest) -> Answer<PlanResponse> {
        let unknown = || Value::unknown(Type::String);
        let mut requires_replace = Vec::new();
        let planned = if request.proposed.is_null() {
            request.proposed
        } else if request.prior.is_null() {
            with(&request.proposed, &[("id", unknown()), ("status", unknown()), ("endpoint", unknown())])
        } else {
            assert_eq!(request.prior_private.0, self.private, "private data is the provider's own");
            if text(&request.prior, "zone") != text(&request.proposed, "zone") {
                requires_replace.push(groma_model::path::Path::root().attr("zone"));
            }
            request.proposed
        };
        Ok(PlanResponse {
            planned,
            requires_replace,
            private: request.prior_private,
            identity: None,
            deferred: None,
            legacy_type_system: false,
            diagnostics: Diagnostics::new(),
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Answer<ApplyResponse> {
        let mut diagnostics = Diagnostics::new();
        if let Some(patience) = self.lacks_what_it_needs(&request) {
            return Ok(ApplyResponse {
                outcome: Outcome::NotYet(patience),
                object: request.prior,
                private: Private::default(),
                identity: None,
                legacy_type_system: false,
                diagnostics: Diagnostic::error("No ward", "There is no ward for the bed.").into(),
            });
        }
        let object = {
            let mut world = self.world.lock().unwrap();
            let name = text(if request.planned.is_null() { &request.prior } else { &request.planned }, "name");
            if request.planned.is_null() {
                world.removed.push(text(&request.prior, "id"));
                request.planned.clone()
            } else if request.prior.is_null() {
                world.made.push(name.clone());
                world.ready |= world.ready_once.as_deref() == Some(name.as_str());
                with(&request.planned, &[("id", Value::from(format!("{name}-{}", world.made.len())))])
            } else if world.fail_updates {
                diagnostics.push(Diagnostic::error("Update failed", "As it was asked to."));
                request.prior.clone()
            } else {
                request.planned.clone()
            }
        };
        let object = if object.is_null() { object } else { self.now(&object) };
        let lacking = self.says().filter(|_| !object.is_null());
        Ok(ApplyResponse {
            outcome: lacking.map_or_else(|| Outcome::of(&request.prior, &object, &diagnostics), Outcome::NotReady),
            object,
            private: Private(self.private.to_vec()),
            identity: None,
            legacy_type_system: false,
            diagnostics,
        })
    }
}

impl Clinic {
    fn lacks_what_it_needs(&self, request: &ApplyRequest) -> Option<Patience> {
        let world = self.world.lock().unwrap();
        let (first, patience) = world.needed_first.as_ref()?;
        let is_new = request.prior.is_null() && text(&request.planned, "name") != *first;
        (is_new && !world.made.contains(first)).then_some(*patience)
    }
}

const HEAD: &str = "terraform {\n  required_providers {\n    clinic = { source = \"test/clinic\" }\n  }\n}\n";
const RULE: &str =
    "wait \"clinic_bed\" {\n  until = self.status == \"up\"\n  timeout = \"TIMEOUT\"\n  interval = \"5ms\"\n}\n";

fn workspace(dir: &Path, private: &'static [u8], timeout: &str) -> (Workspace, Arc<Mutex<World>>) {
    let world = Arc::new(Mutex::new(World::default()));
    let workspace = Workspace::new(dir, Given::default().with("test/clinic", Clinic::open(private, &world)));
    fs::write(dir.join("rules.groma.hcl"), RULE.replace("TIMEOUT", timeout)).unwrap();
    (workspace, world)
}

fn bed(name: &str, more: &str) -> String {
    format!("resource clinic_bed {name} {{\n  name = \"{name}\"\n  zone = \"z\"\n{more}}}\n")
}

fn summaries(found: &Diagnostics) -> Vec<&str> {
    found.iter().filter(|found| found.is_error()).map(|found| found.summary.as_str()).collect()
}

#[tokio::test]
async fn who_waits_takes_nobodys_place() {
    let dir = tempfile::tempdir().unwrap();
    let (mut workspace, world) = workspace(dir.path(), b"", "60s");
    world.lock().unwrap().ready_once = Some("last".to_owned());
    // More than may be under way at once, all waiting for what comes after them.
    let many = "resource clinic_bed a {\n  count = 40\n  name = \"a${count.index}\"\n  zone = \"z\"\n}\n";
    workspace.write(&format!("{HEAD}{many}{}", bed("last", "")));
    assert_eq!(workspace.apply().await.len(), 41);
    assert!(pending::of_state(&workspace.state).is_empty());
}

/// Without a rule: the provider alone says what is not ready.
fn said_by_provider(dir: &Path, timeout: Duration) -> (Workspace, Arc<Mutex<World>>) {
    let (workspace, world) = workspace(dir, b"{\"mine\":1}", "1ms");
    fs::remove_file(dir.join("rules.groma.hcl")).unwrap();
    world.lock().unwrap().patience = Some(Patience { timeout, interval: Duration::from_millis(5) });
    (workspace, world)
}

#[tokio::test]
async fn a_provider_that_asks_for_patience_is_asked_again_and_takes_nobodys_place() {
    let dir = tempfile::tempdir().unwrap();
    let (mut workspace, world) = said_by_provider(dir.path(), Duration::from_mins(1));
    world.lock().unwrap().ready_once = Some("last".to_owned());
    let many = "resource clinic_bed a {\n  count = 40\n  name = \"a${count.index}\"\n  zone = \"z\"\n}\n";
    workspace.write(&format!("{HEAD}{many}{}", bed("last", "")));
    assert_eq!(workspace.apply().await.len(), 41);
    assert!(pending::of_state(&workspace.state).is_empty());
}

fn many_before_what_they_need(workspace: &Workspace, world: &Mutex<World>, timeout: Duration) {
    let patience = Patience { timeout, interval: Duration::from_millis(5) };
    world.lock().unwrap().needed_first = Some(("ward".to_owned(), patience));
    let many = "resource clinic_bed a {\n  count = 40\n  name = \"a${count.index}\"\n  zone = \"z\"\n}\n";
    workspace.write(&format!("{HEAD}{many}{}", bed("ward", "")));
}

#[tokio::test]
async fn what_cannot_be_made_yet_lets_others_go_first() {
    let dir = tempfile::tempdir().unwrap();
    let (mut workspace, world) = workspace(dir.path(), b"", "1ms");
    fs::remove_file(dir.path().join("rules.groma.hcl")).unwrap();
    many_before_what_they_need(&workspace, &world, Duration::from_mins(1));
    assert_eq!(workspace.apply().await.len(), 41);
    assert_eq!(world.lock().unwrap().made.len(), 41, "each is made once");
    assert!(workspace.plan().await.is_empty());
}

#[tokio::test]
async fn what_is_never_possible_fails_with_what_was_said_last() {
    let dir = tempfile::tempdir().unwrap();
    let (mut workspace, world) = workspace(dir.path(), b"", "1ms");
    fs::remove_file(dir.path().join("rules.groma.hcl")).unwrap();
    many_before_what_they_need(&workspace, &world, Duration::from_millis(30));
    workspace.write(&format!("{HEAD}{}", bed("a", "")));
    assert_eq!(summaries(&workspace.attempt().await), ["No ward"]);
    assert!(world.lock().unwrap().made.is_empty());
    assert_eq!(workspace.state.resources.len(), 0);
}

#[tokio::test]
async fn patience_ends_and_is_taken_up_again_by_the_next_run() {
    let dir = tempfile::tempdir().unwrap();
    let (mut workspace, world) = said_by_provider(dir.path(), Duration::from_millis(20));
    workspace.write(&format!("{HEAD}{}", bed("a", "")));
    let found = workspace.attempt().await;
    let detail = &found.iter().find(|found| found.is_error()).unwrap().detail;
    assert!(detail.contains("waiting for a doctor") && detail.contains("Last seen: a nurse"), "{detail}");
    let kept = pending::of_state(&workspace.state).remove(0).1;
    assert_eq!(kept.patience.unwrap().timeout, Duration::from_millis(20), "the next run knows how long to wait");
    world.lock().unwrap().ready_after_reads = Some(3);
    assert!(workspace.apply().await.is_empty(), "nothing is changed any more");
    assert_eq!(world.lock().unwrap().made, ["a"]);
    assert!(pending::of_state(&workspace.state).is_empty());
}

#[tokio::test]
async fn a_provider_without_hope_ends_the_wait() {
    let dir = tempfile::tempdir().unwrap();
    let (mut workspace, world) = said_by_provider(dir.path(), Duration::from_mins(1));
    world.lock().unwrap().hopeless_after_reads = Some(2);
    workspace.write(&format!("{HEAD}{}", bed("a", "")));
    assert_eq!(summaries(&workspace.attempt().await), ["Resource not ready"]);
    assert_eq!(pending::of_state(&workspace.state).len(), 1);
}

#[tokio::test]
async fn what_depends_on_it_sees_what_it_has_become() {
    let dir = tempfile::tempdir().unwrap();
    let (mut workspace, world) = workspace(dir.path(), b"{\"mine\":1}", "1ms");
    let dependent = "resource clinic_bed b {\n  name = clinic_bed.a.endpoint\n  zone = clinic_bed.a.status\n}\n";
    workspace.write(&format!("{HEAD}{}{dependent}", bed("a", "")));
    assert_eq!(summaries(&workspace.attempt().await), ["Resource not ready"]);
    assert_eq!(pending::of_state(&workspace.state).len(), 1);
    // What is not known yet is not known in the plan either, so that one run is enough.
    let plan = workspace.plan().await;
    assert_eq!(summary(&plan), ["create clinic_bed.b"]);
    assert!(!plan.is_empty() && plan.changes[0].only_waits());
    assert!(!plan.changes[1].after.as_entries().unwrap().get("name").unwrap().is_known());
    // Once for the plan, and a few times while it is waited for.
    world.lock().unwrap().ready_after_reads = Some(4);
    fs::write(dir.path().join("rules.groma.hcl"), RULE.replace("TIMEOUT", "60s")).unwrap();
    assert_eq!(workspace.apply().await, ["create clinic_bed.b"]);
    assert_eq!(world.lock().unwrap().made, ["a", "10.0.0.1"]);
    assert!(pending::of_state(&workspace.state).is_empty());
}

#[tokio::test]
async fn what_cannot_be_marked_is_judged_by_every_plan() {
    let dir = tempfile::tempdir().unwrap();
    let (mut workspace, world) = workspace(dir.path(), b"\x80 not ours to read", "1ms");
    workspace.write(&format!("{HEAD}{}", bed("a", "")));
    assert_eq!(summaries(&workspace.attempt().await), ["Resource not ready"]);
    assert!(pending::of_state(&workspace.state).is_empty(), "there is no room for a mark");
    assert!(workspace.plan().await.changes[0].only_waits());
    assert_eq!(summaries(&workspace.attempt().await), ["Resource not ready"]);
    world.lock().unwrap().ready = true;
    assert!(workspace.plan().await.is_empty());
    assert_eq!(world.lock().unwrap().made.len(), 1);
}

#[tokio::test]
async fn failed_updates_keep_what_is_pending_and_destroying_asks_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let (mut workspace, world) = workspace(dir.path(), b"", "1ms");
    workspace.write(&format!("{HEAD}{}", bed("a", "")));
    workspace.attempt().await;
    world.lock().unwrap().fail_updates = true;
    workspace.write(&format!("{HEAD}{}", bed("a", "").replace("name = \"a\"", "name = \"b\"")));
    assert_eq!(summaries(&workspace.attempt().await), ["Update failed"]);
    assert_eq!(pending::of_state(&workspace.state)[0].1.waiting_for, "self.status == \"up\"");
    workspace.options = Options { mode: Mode::Destroy, ..Options::default() };
    assert_eq!(workspace.apply().await, ["delete clinic_bed.a"]);
}

#[tokio::test]
async fn what_is_replaced_stays_until_its_successor_is_ready() {
    let dir = tempfile::tempdir().unwrap();
    let (mut workspace, world) = workspace(dir.path(), b"", "1ms");
    world.lock().unwrap().ready = true;
    let first = "  lifecycle {\n    create_before_destroy = true\n  }\n";
    workspace.write(&format!("{HEAD}{}", bed("a", first)));
    workspace.apply().await;
    world.lock().unwrap().ready = false;
    workspace.write(&format!("{HEAD}{}", bed("a", first).replace("zone = \"z\"", "zone = \"y\"")));
    for _ in 0..3 {
        assert_eq!(summaries(&workspace.attempt().await), ["Resource not ready"]);
        assert!(world.lock().unwrap().removed.is_empty(), "the old one is still needed");
    }
    world.lock().unwrap().ready = true;
    workspace.apply().await;
    let world = world.lock().unwrap();
    assert_eq!((world.made.len(), world.removed.as_slice()), (2, &["a-1".to_owned()][..]));
}

#[tokio::test]
async fn a_refresh_without_changes_is_written_down() {
    let dir = tempfile::tempdir().unwrap();
    let (mut workspace, world) = workspace(dir.path(), b"", "1ms");
    workspace.write(&format!("{HEAD}{}", bed("a", "")));
    workspace.attempt().await;
    world.lock().unwrap().ready = true;
    let plan = workspace.plan().await;
    assert!(plan.is_empty(), "nothing is to be done");
    assert!(pending::of_state(&plan.prior_state).is_empty(), "and what was found out is known");
}
