//! What keeping the state costs a run, measured from inside for who asks for it with `GROMA_TIMINGS=FILE`. Otherwise nothing is measured.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use groma_state::journal::Operation;
use serde_json::{Value, json};

use super::saving::now;

/// The variable that names the file.
const VARIABLE: &str = "GROMA_TIMINGS";

/// Figures of one operation, if anybody wants them.
#[derive(Clone, Default)]
pub(super) struct Timings(Option<Arc<Sheet>>);

struct Sheet {
    path: PathBuf,
    figures: Mutex<Figures>,
}

#[derive(Default)]
struct Figures {
    /// From handing an intent over until it was safe, for each.
    intents: Vec<Duration>,
    /// The same for outcomes that were waited for.
    outcomes: Vec<Duration>,
    /// What is with the provider, and since when.
    begun: BTreeMap<Operation, Instant>,
    /// How long all calls of providers took together.
    calls: Duration,
    parts: BTreeMap<Part, Duration>,
    snapshots: usize,
}

/// Parts of keeping the state that are no waits for the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// Locking, reading and recovering it, and beginning a journal.
    Opening,
    /// Handing records and states over, in the midst of other work.
    Handing,
    /// Storing it meanwhile.
    Storing,
    /// Storing it in the end.
    Closing,
}

/// When something began that is measured.
#[derive(Clone, Copy)]
pub(super) struct Since(Option<Instant>);

impl Timings {
    /// As these variables want it.
    pub(super) fn wanted(variables: &BTreeMap<String, String>, working_dir: &std::path::Path) -> Self {
        let path = variables.get(VARIABLE).filter(|path| !path.is_empty());
        Self(path.map(|path| Arc::new(Sheet { path: working_dir.join(path), figures: Mutex::default() })))
    }

    /// Now.
    pub(super) fn begin(&self) -> Since {
        Since(self.0.as_ref().map(|_| now()))
    }

    fn note(&self, since: Since, note: impl FnOnce(&mut Figures, Duration)) {
        if let (Some(sheet), Some(began)) = (&self.0, since.0) {
            note(&mut sheet.figures.lock().unwrap_or_else(PoisonError::into_inner), began.elapsed());
        }
    }

    /// An intent is safe, and its call begins.
    pub(super) fn intended(&self, since: Since, operation: Operation) {
        self.note(since, |figures, took| {
            figures.intents.push(took);
            figures.begun.insert(operation, now());
        });
    }

    /// A call is answered.
    pub(super) fn answered(&self, operation: Option<Operation>) {
        self.note(self.begin(), |figures, _| {
            let began = operation.and_then(|operation| figures.begun.remove(&operation));
            figures.calls += began.map(|began| began.elapsed()).unwrap_or_default();
        });
    }

    /// An outcome is safe.
    pub(super) fn concluded(&self, since: Since) {
        self.note(since, |figures, took| figures.outcomes.push(took));
    }

    /// A part is done.
    pub(super) fn done(&self, since: Since, part: Part) {
        self.note(since, |figures, took| {
            *figures.parts.entry(part).or_default() += took;
            figures.snapshots += usize::from(part == Part::Storing);
        });
    }

    /// Writes everything down at the end of an apply that took so long. Nothing depends on whether that works.
    pub(super) fn write(&self, apply: Duration) {
        let Some(sheet) = &self.0 else { return };
        let mut figures = sheet.figures.lock().unwrap_or_else(PoisonError::into_inner);
        let part = |part: Part| figures.parts.get(&part).copied().unwrap_or_default().as_secs_f64();
        let parts = json!({
            "opening": part(Part::Opening),
            "handing_over": part(Part::Handing),
            "storing": part(Part::Storing),
            "closing": part(Part::Closing),
        });
        let document = json!({
            "apply": apply.as_secs_f64(),
            "calls": figures.calls.as_secs_f64(),
            "snapshots": figures.snapshots,
            "parts": parts,
            "intents": summary(&mut figures.intents),
            "outcomes": summary(&mut figures.outcomes),
            "written_bytes": written_bytes(),
        });
        let _ = std::fs::write(&sheet.path, format!("{document}\n"));
    }
}

/// How many there were, how long they took together, and the usual and the unusual one, in seconds.
fn summary(times: &mut [Duration]) -> Value {
    times.sort_unstable();
    let at = |part: usize| times.get((times.len() * part / 100).min(times.len().saturating_sub(1)));
    let seconds = |time: Option<&Duration>| time.copied().unwrap_or_default().as_secs_f64();
    json!({
        "count": times.len(),
        "sum": times.iter().sum::<Duration>().as_secs_f64(),
        "p50": seconds(at(50)),
        "p99": seconds(at(99)),
    })
}

/// What this process had written to storage, where the system counts that.
fn written_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_asks_gets_a_sheet() {
        let dir = tempfile::tempdir().unwrap();
        let silent = Timings::wanted(&BTreeMap::new(), dir.path());
        silent.concluded(silent.begin());
        silent.write(Duration::ZERO);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);

        let asked = BTreeMap::from([(VARIABLE.to_owned(), "t.json".to_owned())]);
        let timings = Timings::wanted(&asked, dir.path());
        timings.concluded(timings.begin());
        timings.done(timings.begin(), Part::Storing);
        timings.write(Duration::from_secs(2));
        let text = std::fs::read_to_string(dir.path().join("t.json")).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&document["apply"], &document["outcomes"]["count"]), (&json!(2.0), &json!(1)));
        assert_eq!((&document["snapshots"], &document["intents"]["count"]), (&json!(1), &json!(0)));
    }

    #[test]
    fn the_unusual_is_nearly_the_worst() {
        let mut times: Vec<Duration> = (1..=200).rev().map(Duration::from_secs).collect();
        let summary = summary(&mut times);
        assert_eq!((&summary["p50"], &summary["p99"]), (&json!(101.0), &json!(199.0)));
    }
}
