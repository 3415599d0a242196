//! What comes of a run.

use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::span::{SourceMap, Span};
use groma_run::operate::Counts;
use groma_run::state::State;
use serde_json::Value as Json;

use super::guard;
use crate::api::run::{FailureKind, PlanCounts, Told};
use crate::api::stack::ChangeAction;
use crate::api::upkeep::{Orphan, StateDoubt, StateSeen};

/// At most so many things that were said are kept.
pub(super) const MOST_TOLD: usize = 20;
/// And so many characters of each.
const MOST_CHARACTERS: usize = 2_000;

/// A plan that was made.
#[derive(Debug, Clone)]
pub struct Planned {
    /// Made of everything that it depends on, and of what it does.
    pub id: String,
    /// To be carried out later.
    pub bytes: Vec<u8>,
    /// For people.
    pub text: String,
    /// What it does, in numbers.
    pub counts: PlanCounts,
    /// What it does.
    pub changes: Vec<PlannedChange>,
    /// What others have changed.
    pub drifted: Vec<String>,
    /// Whether nothing is to be done.
    pub is_empty: bool,
    /// What changes, for those who are asked about it. None if nobody is.
    pub changes_json: Option<Json>,
    /// Why somebody has to agree to it in any case.
    pub doubt: Option<StateDoubt>,
    /// All of it, as `show -json` has it, with everything that must not be seen. None if nobody wants it.
    pub document: Option<Json>,
}

/// What is done with an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedChange {
    /// Its address, as rules about approval know it: before it is told, what came from Secrets is taken out.
    pub address: String,
    /// Its type.
    pub kind: String,
    /// What is done.
    pub action: ChangeAction,
}

/// An output of the root module.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Json,
    /// The type of its value, as states write it.
    pub ty: Json,
    /// Whether it must not be shown.
    pub sensitive: bool,
}

impl Output {
    /// Its value where only texts can stand: texts as they are, everything else as JSON.
    pub fn text(&self) -> String {
        match &self.value {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Of what kind it is.
    pub kind: FailureKind,
    /// In one line, or a few.
    pub message: String,
}

/// Why a run ended early.
#[derive(Debug)]
pub enum Stopped {
    /// Somebody asked for it.
    Asked,
    /// Something is wrong.
    Failed(FailureKind, Diagnostics),
    /// Somebody does not want what was planned.
    Refused(Problem),
    /// Who oversees it could not go on: it is not ours any more, or nobody answers.
    Overseer(String),
}

impl Stopped {
    /// With what was found. Of what kind it is follows from what it says.
    pub(super) fn of(diagnostics: Diagnostics) -> Self {
        let kind = kind_of(&diagnostics);
        Self::Failed(kind, diagnostics)
    }

    pub(crate) fn ended(self, sources: &SourceMap) -> Ended {
        match self {
            Self::Asked => Ended { was_asked: true, ..Ended::default() },
            Self::Failed(kind, diagnostics) => Ended {
                problem: Some(Problem { kind, message: summary(&diagnostics, sources) }),
                told: told(&diagnostics, sources),
                ..Ended::default()
            },
            Self::Refused(problem) => Ended { problem: Some(problem), ..Ended::default() },
            Self::Overseer(message) => {
                Ended { problem: Some(Problem { kind: FailureKind::Interrupted, message }), ..Ended::default() }
            }
        }
    }
}

/// How a run ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// What went wrong, if something did.
    pub problem: Option<Problem>,
    /// The plan, if it was left as it is.
    pub left: Option<Planned>,
    /// What was done.
    pub done: Option<PlanCounts>,
    /// What the root module gives.
    pub outputs: Vec<Output>,
    /// How many resources there are.
    pub resources: Option<u32>,
    /// The state that was left, or found.
    pub state: Option<StateSeen>,
    /// The same, to be kept: its bytes.
    pub kept_state: Option<Vec<u8>>,
    /// Objects that are there, and that the state does not know. None if nobody has looked.
    pub orphans: Option<Vec<Orphan>>,
    /// What was said: errors first.
    pub told: Vec<Told>,
    /// Somebody asked to stop, and nothing was touched.
    pub was_asked: bool,
    /// The state as text, if it could be stored nowhere.
    pub unsaved: Option<String>,
}

impl Ended {
    pub(super) fn failed(kind: FailureKind, diagnostics: Diagnostics) -> Self {
        Stopped::Failed(kind, diagnostics).ended(&SourceMap::new())
    }

    pub(super) fn found_nothing(state: &State, diagnostics: &Diagnostics, sources: &SourceMap) -> Self {
        Self {
            outputs: outputs(state),
            resources: Some(number(instances(state))),
            state: guard::seen(state),
            told: told(diagnostics, sources),
            ..Self::default()
        }
    }

    pub(super) fn left(planned: Planned, state: &State, diagnostics: &Diagnostics, sources: &SourceMap) -> Self {
        Self { left: Some(planned), ..Self::found_nothing(state, diagnostics, sources) }
    }

    /// What there is after it.
    pub(super) fn after(state: &State) -> Self {
        let resources = Some(number(instances(state)));
        Self { outputs: outputs(state), resources, state: guard::seen(state), ..Self::default() }
    }

    pub(super) fn applied(
        state: &State,
        counts: Counts,
        unsaved: Option<String>,
        diagnostics: &Diagnostics,
        sources: &SourceMap,
    ) -> Self {
        let problem = diagnostics
            .has_errors()
            .then(|| Problem { kind: kind_of(diagnostics), message: summary(diagnostics, sources) });
        // What went wrong here and not with an object may have been that it could not be stored.
        let is_storing_in_doubt = problem.as_ref().is_some_and(|problem| problem.kind == FailureKind::Transient);
        Self {
            problem,
            done: Some(PlanCounts {
                add: number(counts.added),
                change: number(counts.changed),
                destroy: number(counts.destroyed),
                import: number(counts.imported),
                forget: number(counts.forgotten),
            }),
            outputs: outputs(state),
            resources: Some(number(instances(state))),
            // What could not be stored is not what was left.
            state: guard::seen(state).filter(|_| unsaved.is_none() && !is_storing_in_doubt),
            told: told(diagnostics, sources),
            unsaved,
            ..Self::default()
        }
    }
}

pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

pub(super) fn instances(state: &State) -> usize {
    state.resources.values().map(|resource| resource.instances.len()).sum()
}

fn outputs(state: &State) -> Vec<Output> {
    let output = |(name, output): (&groma_model::text::Str, &groma_run::state::OutputState)| {
        let value = groma_model::codec::json::encode_plain(&output.value).ok()?;
        Some(Output {
            name: name.to_string(),
            value: serde_json::from_str(&value).ok()?,
            ty: serde_json::from_str(&groma_model::codec::type_json::encode(&output.value.ty())).ok()?,
            sensitive: output.sensitive,
        })
    };
    state.outputs.iter().filter_map(output).collect()
}

/// Of what kind a failure is. What providers say is theirs; what we say is known by its summary.
fn kind_of(diagnostics: &Diagnostics) -> FailureKind {
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|found| found.is_error()).collect();
    let any = |test: &dyn Fn(&Diagnostic) -> bool| errors.iter().any(|found| test(found));
    if any(&|found| found.summary == "Error acquiring the state lock") {
        FailureKind::Locked
    } else if any(&|found| found.summary == "Saved plan is stale") {
        FailureKind::StateChanged
    } else if any(&|found| matches!(found.summary.as_str(), "Object was possibly created before" | "Answer was lost")) {
        FailureKind::PossibleOrphan
    } else if any(&|found| found.summary == "Resource not ready") {
        FailureKind::NotReady
    } else if any(&|found| found.address.is_some()) {
        FailureKind::Refused
    } else if any(&|found| found.subject.is_some()) {
        FailureKind::Invalid
    } else {
        FailureKind::Transient
    }
}

fn place(found: &Diagnostic, sources: &SourceMap) -> Option<String> {
    Some(spot(found.subject?, sources))
}

/// `main.tf:3`
pub(super) fn spot(span: Span, sources: &SourceMap) -> String {
    let shown = sources.place(span);
    let (file, rest) = shown.split_once(':').unwrap_or((&shown, ""));
    let line: String = rest.chars().take_while(char::is_ascii_digit).collect();
    if line.is_empty() { file.to_owned() } else { format!("{file}:{line}") }
}

pub(super) fn told(diagnostics: &Diagnostics, sources: &SourceMap) -> Vec<Told> {
    let (errors, warnings): (Vec<_>, Vec<_>) = diagnostics.iter().partition(|found| found.is_error());
    let tell = |found: &Diagnostic| Told {
        severity: if found.severity == Severity::Error { "error" } else { "warning" }.to_owned(),
        summary: cut(&found.summary),
        detail: cut(&found.detail),
        address: found.address.clone(),
        at: place(found, sources),
    };
    errors.into_iter().chain(warnings).take(MOST_TOLD).map(tell).collect()
}

/// The first error, and how many more there are.
fn summary(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    let mut errors = diagnostics.iter().filter(|found| found.is_error());
    let Some(first) = errors.next() else { return "it failed, and nobody said why".to_owned() };
    let mut message = first.summary.clone();
    if let Some(place) = place(first, sources) {
        message = format!("{place}: {message}");
    }
    if let Some(address) = &first.address {
        message = format!("{address}: {message}");
    }
    if !first.detail.is_empty() {
        message = format!("{message}: {}", first.detail);
    }
    match errors.count() {
        0 => cut(&message),
        more => format!("{} (and {more} more)", cut(&message)),
    }
}

pub(super) fn cut(text: &str) -> String {
    if text.chars().count() <= MOST_CHARACTERS {
        return text.to_owned();
    }
    let kept: String = text.chars().take(MOST_CHARACTERS - 3).collect();
    format!("{kept}...")
}
