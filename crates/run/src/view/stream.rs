//! The stream of `-json`: one object per line, while things happen. What a line is made of is in `line`, what is told about changes and
//! running operations in `messages`, of tests in `testing`, and who tells that something still runs in `heartbeat`.

mod heartbeat;
mod line;
mod messages;
mod testing;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use groma_engine::change::{Action, Change};
use groma_engine::events::{EphemeralAction, Event, Events, ShownId, Skipped, WaitProgress};
use groma_engine::pending::Pending;
use groma_engine::plan::Plan;
use groma_model::address::{AbsInstance, DeposedKey};
use groma_model::diag::{Diagnostics, Severity};
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_state::OutputState;
use serde_json::{Map, Value, json};

use super::change::{is_shown, previous_address};
use super::plan::drift;
use heartbeat::{Heart, Running};
pub(super) use line::timestamp;
pub use line::{Level, line, version_line};
pub use messages::{ChangeCounts, Operation};
use messages::{action_name, change_message, elapsed_text, hook_resource, noun, progress_verb, shown, start_verb};
pub use testing::{About, TestCounts};

/// What time it is.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Writes the stream. Lines are written whole, from wherever they come.
pub struct Stream<W> {
    lines: Arc<Lines<W>>,
    heart: Heart,
}

/// Where lines go.
struct Lines<W> {
    out: Mutex<Sink<W>>,
    clock: Clock,
}

struct Sink<W> {
    out: W,
    failure: Option<io::Error>,
}

impl<W: Write> Lines<W> {
    /// Writes a line. Those who tell cannot do anything about a reader that is gone, so that is kept for whoever asks.
    fn write(&self, level: Level, message: &str, kind: &str, more: Value) {
        let mut members = Map::new();
        members.insert("type".into(), kind.into());
        if let Value::Object(more) = more {
            members.extend(more);
        }
        let text = line(level, message, (self.clock)(), members);
        let mut sink = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if sink.failure.is_none() {
            sink.failure = sink.out.write_all(text.as_bytes()).err();
        }
    }

    fn hook(&self, kind: &str, message: &str, hook: Value) {
        self.write(Level::Info, message, kind, json!({ "hook": hook }));
    }
}

impl<W: Write + Send + 'static> Stream<W> {
    /// Starts a stream with the version. Long operations are told of every ten seconds until it is dropped.
    pub fn new(out: W, clock: Clock) -> Self {
        let stream = Self::without_heartbeat(out, clock);
        let lines = Arc::clone(&stream.lines);
        stream.heart.beat(move |running, elapsed| {
            let resource = hook_resource(&running.address);
            let verb = progress_verb(running.action);
            let message = format!("{}: Still {verb}... [{} elapsed]", running.address, elapsed_text(elapsed));
            let hook = json!({
                "resource": resource, "action": action_name(running.action), "elapsed_seconds": elapsed,
            });
            lines.hook("apply_progress", &message, hook);
        });
        stream
    }

    fn without_heartbeat(out: W, clock: Clock) -> Self {
        let lines = Arc::new(Lines { out: Mutex::new(Sink { out, failure: None }), clock: Arc::clone(&clock) });
        let text = version_line(clock());
        let mut sink = lines.out.lock().unwrap_or_else(PoisonError::into_inner);
        sink.failure = sink.out.write_all(text.as_bytes()).err();
        drop(sink);
        Self { lines, heart: Heart::new(clock) }
    }

    /// A message in words.
    pub fn log(&self, message: &str) {
        self.lines.write(Level::Info, message, "log", Value::Null);
    }

    /// What was found.
    pub fn diagnostics(&self, diagnostics: &Diagnostics, sources: &SourceMap) {
        for diagnostic in diagnostics {
            let (level, word) = match diagnostic.severity {
                Severity::Error => (Level::Error, "Error"),
                Severity::Warning => (Level::Warn, "Warning"),
            };
            let view = super::diagnostic::diagnostic(diagnostic, sources);
            let message = format!("{word}: {}", diagnostic.summary);
            self.lines.write(level, &message, "diagnostic", json!({ "diagnostic": view }));
        }
    }

    /// What a plan says: what changed outside, what is to be changed, how much that is, and the outputs.
    pub fn plan(&self, plan: &Plan) {
        for change in drift(plan) {
            let change_json = change_message(change);
            let message = format!("{}: Drift detected ({})", change.address, action_word(&change_json));
            self.lines.write(Level::Info, &message, "resource_drift", json!({ "change": change_json }));
        }
        let is_told = |change: &&Change| {
            let says_nothing = change.action == Action::NoOp && change.not_ready.is_none();
            !says_nothing || previous_address(change).is_some() || change.importing.is_some()
        };
        for change in plan.changes.iter().filter(|change| is_shown(change)).filter(is_told) {
            self.planned_change(change);
        }
        self.replacement_orders(plan);
        self.change_summary(&ChangeCounts::planned(plan), Operation::Plan);
        if !plan.outputs.is_empty() {
            let outputs = plan.outputs.iter().map(|(name, change)| {
                let json = json!({ "sensitive": change.sensitive, "action": action_name(change.action) });
                (name.to_string(), json)
            });
            self.outputs_line(outputs.collect());
        }
    }

    /// One planned change.
    pub fn planned_change(&self, change: &Change) {
        let change_json = change_message(change);
        let message = format!("{}: Plan to {}", change.address, action_word(&change_json));
        self.lines.write(Level::Info, &message, "planned_change", json!({ "change": change_json }));
    }

    /// What rules and users have decided about the order of replacements.
    pub fn replacement_orders(&self, plan: &Plan) {
        for (address, decision) in &plan.replacement.decisions {
            let document: serde_json::Value = serde_json::from_str(&decision.document).unwrap_or_default();
            let message = format!("{address}: Replacement order is {}", decision.order.name());
            let more = json!({ "address": address.to_string(), "replace_order": document });
            self.lines.write(Level::Info, &message, "groma_replace_order", more);
        }
    }

    /// How much was planned or done.
    pub fn change_summary(&self, counts: &ChangeCounts, operation: Operation) {
        let more = json!({ "changes": counts.to_json(operation) });
        self.lines.write(Level::Info, &counts.describe(operation), "change_summary", more);
    }

    /// The outputs after an apply. Secrets are left out.
    pub fn outputs(&self, outputs: &BTreeMap<Str, OutputState>) {
        let shown = outputs.iter().map(|(name, output)| (name.to_string(), messages::output(output)));
        self.outputs_line(shown.collect());
    }

    fn outputs_line(&self, outputs: Map<String, Value>) {
        let message = format!("Outputs: {}", outputs.len());
        self.lines.write(Level::Info, &message, "outputs", json!({ "outputs": outputs }));
    }

    /// What became of an object that another engine has left tainted. Only we tell of that.
    pub fn settled(&self, message: &str, address: &AbsInstance, verdict: (bool, &str), lacks: Option<&Pending>) {
        let (kept, reason) = verdict;
        let mut hook = json!({ "resource": hook_resource(address), "tainted": !kept, "reason": reason });
        if let Some(lacks) = lacks {
            hook["groma"] = super::change::not_ready(lacks);
        }
        let level = if kept { Level::Info } else { Level::Warn };
        self.lines.write(level, message, "taint_settled", json!({ "hook": hook }));
    }

    /// A state that could not be saved anywhere, so that it is not lost.
    pub fn state_dump(&self, state: &str) {
        let state: Value = serde_json::from_str(state).unwrap_or_else(|_| state.into());
        self.lines.write(Level::Info, "Emergency state dump", "log", json!({ "state": state }));
    }

    /// Whether everything could be written so far. The first failure is told once.
    pub fn check(&self) -> io::Result<()> {
        let failure = self.lines.out.lock().unwrap_or_else(PoisonError::into_inner).failure.take();
        failure.map_or(Ok(()), Err)
    }

    fn apply_started(&self, running: Running, id: Option<&ShownId>) {
        if running.action == Action::NoOp || running.action == Action::Forget {
            return;
        }
        let resource = hook_resource(&running.address);
        let verb = start_verb(running.action);
        let message = format!("{}: {verb}...{}", running.address, shown(id));
        let mut hook = json!({ "resource": resource, "action": action_name(running.action) });
        add_id(&mut hook, id);
        self.lines.hook("apply_start", &message, hook);
        self.heart.start(running);
    }

    fn apply_ended(&self, running: &Running, outcome: Outcome<'_>) {
        if running.action == Action::NoOp || running.action == Action::Forget {
            return;
        }
        let elapsed = self.heart.end(running);
        let noun = noun(running.action);
        let after = elapsed_text(elapsed);
        let mut hook = json!({ "resource": hook_resource(&running.address), "action": action_name(running.action) });
        let (kind, message) = match outcome {
            Outcome::Done(id) => {
                add_id(&mut hook, id);
                ("apply_complete", format!("{}: {noun} complete after {after}{}", running.address, shown(id)))
            }
            Outcome::Kept(id) => {
                add_id(&mut hook, id);
                hook["groma"] = json!({ "kept": true });
                ("apply_errored", format!("{}: Created in part, and kept after {after}{}", running.address, shown(id)))
            }
            Outcome::Failed => ("apply_errored", format!("{}: {noun} errored after {after}", running.address)),
        };
        hook["elapsed_seconds"] = elapsed.into();
        self.lines.hook(kind, &message, hook);
    }

    fn refresh(&self, kind: &str, what: &str, address: &AbsInstance, id: Option<&ShownId>) {
        let mut hook = json!({ "resource": hook_resource(address) });
        add_id(&mut hook, id);
        self.lines.hook(kind, &format!("{address}: {what}{}", shown(id)), hook);
    }

    fn provision(&self, kind: &str, address: &AbsInstance, provisioner: &str, told: &str) {
        let hook = json!({ "resource": hook_resource(address), "provisioner": provisioner });
        self.lines.hook(kind, &format!("{address}: {told}"), hook);
    }

    fn provision_output(&self, address: &AbsInstance, provisioner: &str, output: &str) {
        for line in output.split(['\n', '\r']).map(str::trim_end).filter(|line| !line.is_empty()) {
            let message = format!("{address}: ({provisioner}): {line}");
            let hook = json!({ "resource": hook_resource(address), "provisioner": provisioner, "output": line });
            self.lines.hook("provision_progress", &message, hook);
        }
    }

    fn ephemeral(&self, kind: &str, address: &AbsInstance, told: &str) {
        // The name of this member is an accident that readers have got used to.
        let hook = json!({ "resource": hook_resource(address), "Msg": told });
        self.lines.hook(kind, &format!("{address}: {told}"), hook);
    }

    /// How a wait goes. Only we tell of that.
    fn wait(&self, kind: &str, told: &str, progress: &WaitProgress) {
        let WaitProgress { address, waiting_for, last_seen, elapsed, timeout } = progress;
        let seen = progress.seen_in_brief().map(|seen| format!(", last seen: {seen}")).unwrap_or_default();
        let mut hook = json!({
            "resource": hook_resource(address), "waiting_for": waiting_for, "elapsed_seconds": elapsed.as_secs(),
            "timeout_seconds": timeout.as_secs(),
        });
        if let Some(seen) = last_seen {
            hook["last_seen"] = seen.as_str().into();
        }
        let message = match kind {
            "wait_complete" => format!("{address}: {told} after {}", elapsed_text(elapsed.as_secs())),
            _ => format!("{address}: {told} [{} elapsed]: {waiting_for}{seen}", elapsed_text(elapsed.as_secs())),
        };
        self.lines.hook(kind, &message, hook);
    }

    fn skipped(&self, Skipped { address, action, because_of }: &Skipped) {
        let cause = because_of.as_ref().map_or_else(|| "something that it needs".to_owned(), ToString::to_string);
        self.log(&format!("{address}: Skipped ({}), because {cause} failed", action_name(*action)));
    }
}

enum Outcome<'e> {
    Done(Option<&'e ShownId>),
    Kept(Option<&'e ShownId>),
    Failed,
}

fn add_id(hook: &mut Value, id: Option<&ShownId>) {
    if let Some(id) = id.filter(|id| !id.key.is_empty() && !id.value.is_empty()) {
        hook["id_key"] = id.key.as_str().into();
        hook["id_value"] = id.value.as_str().into();
    }
}

fn action_word(change: &Value) -> &str {
    change["action"].as_str().unwrap_or_default()
}

fn running(address: AbsInstance, deposed: Option<DeposedKey>, action: Action) -> Running {
    Running { address, deposed, action }
}

impl<W: Write + Send + 'static> Events for Stream<W> {
    fn tell(&self, event: Event) {
        match event {
            Event::RefreshStarted(address, id) => {
                self.refresh("refresh_start", "Refreshing state...", &address, id.as_ref());
            }
            Event::RefreshDone(address, id) => {
                self.refresh("refresh_complete", "Refresh complete", &address, id.as_ref());
            }
            // That an object is looked up to be imported is part of the planned change; why one could not be read is told by
            // a diagnostic.
            Event::RefreshFailed(..) | Event::ImportStarted(..) | Event::ImportDone(..) => {}
            Event::ApplyStarted { address, deposed, action, id } => {
                self.apply_started(running(address, deposed, action), id.as_ref());
            }
            Event::ApplyDone { address, deposed, action, id } => {
                self.apply_ended(&running(address, deposed, action), Outcome::Done(id.as_ref()));
            }
            Event::ApplyKept { address, action, id } => {
                self.apply_ended(&running(address, None, action), Outcome::Kept(id.as_ref()));
            }
            Event::ApplyFailed { address, deposed, action } => {
                self.apply_ended(&running(address, deposed, action), Outcome::Failed);
            }
            Event::Skipped(skipped) => self.skipped(&skipped),
            Event::ProvisionStarted(address, kind) => {
                self.provision("provision_start", &address, &kind, &format!("Provisioning with '{kind}'..."));
            }
            Event::ProvisionOutput(address, kind, text) => self.provision_output(&address, &kind, &text),
            Event::ProvisionDone(address, kind) => {
                self.provision("provision_complete", &address, &kind, &format!("({kind}) Provisioning complete"));
            }
            Event::ProvisionFailed(address, kind) => {
                self.provision("provision_errored", &address, &kind, &format!("({kind}) Provisioning errored"));
            }
            Event::EphemeralStarted(address, action) => {
                let told = match action {
                    EphemeralAction::Open => "Opening...",
                    EphemeralAction::Renew => "Renewing...",
                    EphemeralAction::Close => "Closing...",
                };
                self.ephemeral("ephemeral_action_started", &address, told);
            }
            Event::EphemeralDone(address, action) => {
                let told = match action {
                    EphemeralAction::Open => "Open complete",
                    EphemeralAction::Renew => "Renew complete",
                    EphemeralAction::Close => "Close complete",
                };
                self.ephemeral("ephemeral_action_complete", &address, told);
            }
            Event::WaitStarted(progress) => self.wait("wait_start", "Waiting until it is ready", &progress),
            Event::Waiting(progress) => self.wait("wait_progress", "Still waiting", &progress),
            Event::WaitDone(progress) => self.wait("wait_complete", "Ready", &progress),
            Event::WaitFailed(progress) => self.wait("wait_errored", "Not ready", &progress),
            Event::Stopping => self.log("Stopping operation..."),
        }
    }
}
