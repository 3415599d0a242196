//! What another engine says, line by line in JSON or as a text, as a Run says it.

use std::cell::{Cell, RefCell};

use groma_engines::{Answer, Audience, Kind, Settled};
use groma_run::engine::events::Event;
use serde_json::Value as Json;

use super::NOTHING;
use crate::api::run::{FailureKind, PlanCounts, Told};
use crate::work::result::{MOST_TOLD, cut};

/// What was heard.
pub(super) struct Said {
    told: RefCell<Vec<Told>>,
    counts: Cell<PlanCounts>,
    not_ready: Cell<bool>,
}

impl Default for Said {
    fn default() -> Self {
        Self { told: RefCell::default(), counts: Cell::new(NOTHING), not_ready: Cell::new(false) }
    }
}

impl Said {
    /// Errors and warnings, errors first.
    pub(super) fn told(&self) -> Vec<Told> {
        first_of(self.told.borrow().clone())
    }

    /// What was done.
    pub(super) fn counts(&self) -> PlanCounts {
        self.counts.get()
    }

    /// Whether an object is there that is not ready, and is waited for the next time.
    pub(super) fn is_not_ready(&self) -> bool {
        self.not_ready.get()
    }

    pub(super) fn add(&self, told: Vec<Told>) {
        self.told.borrow_mut().extend(told);
    }

    fn done(&self, action: &str) {
        let mut counts = self.counts.get();
        match action {
            "create" => counts.add += 1,
            "update" => counts.change += 1,
            "delete" => counts.destroy += 1,
            "import" => counts.import += 1,
            "forget" | "remove" => counts.forget += 1,
            _ => {}
        }
        self.counts.set(counts);
    }
}

impl Audience for Said {
    fn line(&self, line: &str) {
        let Ok(line) = serde_json::from_str::<Json>(line) else { return };
        match line["type"].as_str() {
            Some("diagnostic") => self.add(vec![of_diagnostic(&line["diagnostic"])]),
            Some("apply_complete") => self.done(line["hook"]["action"].as_str().unwrap_or_default()),
            _ => {}
        }
    }

    fn notice(&self, text: &str) {
        tracing::debug!(text, "about an engine");
    }

    fn event(&self, _: Event) {}

    fn settled(&self, settled: &[Settled]) {
        for one in settled {
            self.not_ready.set(self.not_ready.get() || one.verdict.lacks().is_some());
            let address = Some(one.address.to_string());
            self.add(vec![Told {
                severity: "warning".to_owned(),
                summary: if one.verdict.is_kept() { "Resource kept" } else { "Resource tainted" }.to_owned(),
                detail: cut(&one.to_string()),
                address,
                at: None,
            }]);
        }
    }
}

fn of_diagnostic(found: &Json) -> Told {
    let text = |field: &str| cut(found[field].as_str().unwrap_or_default());
    let range = &found["range"];
    let at = range["filename"].as_str().map(|file| match range["start"]["line"].as_u64() {
        Some(line) => format!("{file}:{line}"),
        None => file.to_owned(),
    });
    Told {
        severity: text("severity"),
        summary: text("summary"),
        detail: text("detail"),
        address: found["address"].as_str().map(str::to_owned),
        at,
    }
}

/// What an engine says that answers with a text: its first error, where that stands, and everything else that it said.
pub(super) fn of_answer(kind: Kind, arguments: &[&str], answer: &Answer) -> Told {
    let command = arguments.first().copied().unwrap_or_default();
    let mut words = answer.err.split_whitespace().chain(answer.out.split_whitespace());
    // "on main.tf line 2, in resource ..."
    let mut at = None;
    while at.is_none() && words.by_ref().any(|word| word == "on") {
        let mut ahead = words.clone();
        let place = (ahead.next(), ahead.next(), ahead.next());
        if let (Some(file), Some("line"), Some(line)) = place {
            let line: String = line.chars().take_while(char::is_ascii_digit).collect();
            at = Some(format!("{file}:{line}"));
        }
    }
    Told {
        severity: "error".to_owned(),
        summary: cut(&format!("\"{} {command}\" failed: {}", kind.program(), answer.why())),
        detail: cut(answer.err.trim()),
        address: None,
        at,
    }
}

/// The first ones, errors before warnings.
pub(super) fn first_of(told: Vec<Told>) -> Vec<Told> {
    let (errors, others): (Vec<_>, Vec<_>) = told.into_iter().partition(is_error);
    errors.into_iter().chain(others).take(MOST_TOLD).collect()
}

fn is_error(told: &Told) -> bool {
    told.severity == "error"
}

/// Of what kind a failure is, as for the engine that is ours.
pub(super) fn kind_of(told: &[Told]) -> FailureKind {
    let any = |test: &dyn Fn(&Told) -> bool| told.iter().filter(|told| is_error(told)).any(test);
    if any(&|told| told.summary == "Error acquiring the state lock") {
        FailureKind::Locked
    } else if any(&|told| told.summary == "Resource not ready") {
        FailureKind::NotReady
    } else if any(&|told| told.address.is_some()) {
        FailureKind::Refused
    } else if any(&|told| told.at.is_some()) {
        FailureKind::Invalid
    } else {
        FailureKind::Transient
    }
}

/// The first error, and how many more there are.
pub(super) fn summary(told: &[Told]) -> String {
    let mut errors = told.iter().filter(|told| is_error(told));
    let Some(first) = errors.next() else { return "it failed, and nobody said why".to_owned() };
    let places = [&first.address, &first.at].into_iter().flatten().cloned();
    let words = places.chain([first.summary.clone(), first.detail.clone()]).filter(|part| !part.is_empty());
    let message = cut(&words.collect::<Vec<_>>().join(": "));
    match errors.count() {
        0 => message,
        more => format!("{message} (and {more} more)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: &str = r#"{"@level":"error","type":"diagnostic","diagnostic":{"severity":"error","summary":"no","detail":"never",
        "address":"a.b","range":{"filename":"main.tf","start":{"line":3,"column":1,"byte":9},"end":{"line":3,"column":2,"byte":10}}}}"#;

    #[test]
    fn lines_are_understood() {
        let said = Said::default();
        for line in [
            "not json",
            r#"{"type":"version"}"#,
            r#"{"type":"diagnostic","diagnostic":{"severity":"warning","summary":"careful"}}"#,
            REFUSED,
            r#"{"type":"apply_complete","hook":{"action":"delete"}}"#,
            r#"{"type":"apply_complete","hook":{"action":"create"}}"#,
            r#"{"type":"apply_start","hook":{"action":"create"}}"#,
        ] {
            said.line(line);
        }
        let told = said.told();
        assert_eq!(summary(&told), "a.b: main.tf:3: no: never");
        assert_eq!((kind_of(&told), told[1].summary.as_str()), (FailureKind::Refused, "careful"));
        assert_eq!(said.counts(), PlanCounts { add: 1, destroy: 1, ..NOTHING });
    }

    #[test]
    fn texts_are_understood_too() {
        let err = "\nError: Invalid expression\n\n  on main.tf line 2, in resource \"a\" \"b\":\n   2:   length = \n\nExpected.\n";
        let answer = Answer { code: Some(1), out: "Initializing...".to_owned(), err: err.to_owned() };
        let told = of_answer(Kind::OpenTofu, &["init", "-x"], &answer);
        assert_eq!(told.at.as_deref(), Some("main.tf:2"));
        assert_eq!(told.summary, "\"tofu init\" failed: Invalid expression");
        assert_eq!(kind_of(&[told]), FailureKind::Invalid);
        let answer = Answer { err: "Error: Failed to query based on line noise".to_owned(), ..answer };
        assert_eq!(kind_of(&[of_answer(Kind::OpenTofu, &["init"], &answer)]), FailureKind::Transient);
    }
}
