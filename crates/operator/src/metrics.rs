//! Figures about what the operator does, for those who collect them.

use std::sync::Mutex;
use std::sync::PoisonError;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::api::run::{Action, Phase, Run};

/// How long phases take, in seconds: from what nobody notices to hours.
const STEPS: [f64; 12] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 1800.0, 7200.0];

/// Figures.
pub struct Metrics {
    registry: Mutex<Registry>,
    runs: Family<RunLabels, Counter>,
    phases: Family<PhaseLabels, Histogram>,
    stacks: Family<StackLabels, Gauge>,
    looks: Family<LookLabels, Counter>,
    checks: Family<CheckLabels, Counter>,
    hooks: Family<ResultLabels, Counter>,
    notifications: Family<ResultLabels, Counter>,
    waiting: Gauge,
    under_way: Gauge,
    to_look_at: Gauge,
    namespaces: Gauge,
    leading: Gauge,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RunLabels {
    namespace: String,
    action: Word,
    result: Word,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PhaseLabels {
    phase: Word,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StackLabels {
    namespace: String,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CheckLabels {
    namespace: String,
    result: Word,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabels {
    result: Word,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LookLabels {
    kind: Word,
    result: Word,
}

/// A word that is known before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Word(&'static str);

impl EncodeLabelValue for Word {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        EncodeLabelValue::encode(&self.0, encoder)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let metrics = Self {
            registry: Mutex::new(Registry::with_prefix("groma")),
            runs: Family::default(),
            phases: Family::new_with_constructor(|| Histogram::new(STEPS)),
            stacks: Family::default(),
            looks: Family::default(),
            checks: Family::default(),
            hooks: Family::default(),
            notifications: Family::default(),
            waiting: Gauge::default(),
            under_way: Gauge::default(),
            to_look_at: Gauge::default(),
            namespaces: Gauge::default(),
            leading: Gauge::default(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&self) {
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        registry.register("runs", "Runs that are over, by what they did and how they ended", self.runs.clone());
        registry.register("run_phase_seconds", "How long phases of runs took", self.phases.clone());
        registry.register(
            "stack_ready",
            "Whether a Stack is ready: 1, 0, or -1 if that is not known",
            self.stacks.clone(),
        );
        registry.register("reconciles", "How often objects were looked at", self.looks.clone());
        registry.register(
            "checks",
            "How often it was looked without a run whether all is well with a Stack: if something was found, a run begins",
            self.checks.clone(),
        );
        registry.register("hooks", "Calls of webhooks: taken, refused, or of no interest", self.hooks.clone());
        registry.register("notifications", "How often somebody was told something", self.notifications.clone());
        registry.register("runs_waiting", "Runs that wait for their turn", self.waiting.clone());
        registry.register("runs_under_way", "Runs that are under way", self.under_way.clone());
        registry.register("queue_depth", "Objects that are to be looked at", self.to_look_at.clone());
        registry.register("namespaces", "Namespaces with Stacks", self.namespaces.clone());
        registry.register("leader", "Whether this operator works", self.leading.clone());
    }

    /// A run is over.
    pub(crate) fn run_is_over(&self, run: &Run) {
        let status = run.status.clone().unwrap_or_default();
        let labels = RunLabels {
            namespace: run.metadata.namespace.clone().unwrap_or_default(),
            action: Word(action_name(run.spec.action)),
            result: Word(phase_name(status.phase)),
        };
        self.runs.get_or_create(&labels).inc();
        for time in status.phases.iter().filter(|time| !time.phase.is_over()) {
            if let Some(took) = time.took {
                self.phases
                    .get_or_create(&PhaseLabels { phase: Word(phase_name(time.phase)) })
                    .observe(took.0.as_secs_f64());
            }
        }
    }

    /// It was looked without a run whether all is well with a Stack.
    pub(crate) fn checked(&self, namespace: &str, is_well: bool) {
        let result = Word(if is_well { "well" } else { "found" });
        self.checks.get_or_create(&CheckLabels { namespace: namespace.to_owned(), result }).inc();
    }

    /// A webhook was called.
    pub(crate) fn heard(&self, result: &'static str) {
        self.hooks.get_or_create(&ResultLabels { result: Word(result) }).inc();
    }

    /// It was tried to tell somebody something.
    pub(crate) fn notified(&self, went_well: bool) {
        let result = Word(if went_well { "ok" } else { "error" });
        self.notifications.get_or_create(&ResultLabels { result }).inc();
    }

    /// How a Stack is. None if it is gone.
    pub(crate) fn stack_is(&self, namespace: &str, name: &str, ready: Option<i64>) {
        let labels = StackLabels { namespace: namespace.to_owned(), name: name.to_owned() };
        match ready {
            Some(ready) => {
                self.stacks.get_or_create(&labels).set(ready);
            }
            None => {
                self.stacks.remove(&labels);
            }
        }
    }

    /// Something was looked at.
    pub(crate) fn looked(&self, kind: &'static str, went_well: bool) {
        let result = Word(if went_well { "ok" } else { "error" });
        self.looks.get_or_create(&LookLabels { kind: Word(kind), result }).inc();
    }

    /// How much there is to do: runs that wait, runs under way, objects to look at, namespaces.
    pub(crate) fn load(&self, (waiting, under_way): (usize, usize), to_look_at: usize, namespaces: usize) {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.waiting.set(number(waiting));
        self.under_way.set(number(under_way));
        self.to_look_at.set(number(to_look_at));
        self.namespaces.set(number(namespaces));
    }

    /// Whether this operator works.
    pub(crate) fn leads(&self, leads: bool) {
        self.leading.set(i64::from(leads));
    }

    /// As collectors read it.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to memory does not fail.
        let _ = encode(&mut text, &registry);
        text
    }
}

fn action_name(action: Action) -> &'static str {
    match action {
        Action::Plan => "plan",
        Action::Apply => "apply",
        Action::Destroy => "destroy",
    }
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Queued => "queued",
        Phase::Initialising => "initialising",
        Phase::Planning => "planning",
        Phase::AwaitingApproval => "awaiting_approval",
        Phase::Applying => "applying",
        Phase::Verifying => "verifying",
        Phase::Succeeded => "succeeded",
        Phase::Failed => "failed",
        Phase::Superseded => "superseded",
        Phase::Cancelled => "cancelled",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_told_as_collectors_read_them() {
        let metrics = Metrics::default();
        metrics.stack_is("a", "b", Some(1));
        metrics.stack_is("a", "gone", Some(0));
        metrics.stack_is("a", "gone", None);
        metrics.looked("Stack", true);
        metrics.load((1, 2), 3, 4);
        let text = metrics.text();
        for line in [
            "groma_stack_ready{namespace=\"a\",name=\"b\"} 1",
            "groma_reconciles_total{kind=\"Stack\",result=\"ok\"} 1",
            "groma_runs_waiting 1",
            "groma_runs_under_way 2",
            "groma_leader 0",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(!text.contains("gone"), "{text}");
    }
}
