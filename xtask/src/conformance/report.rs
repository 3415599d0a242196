//! Telling what was found: counts per corpus, every difference by name, and what is only worth knowing.

use super::allowed::Allowed;
use super::{Case, Outcome};

/// Lines of one answer that are shown; the rest is cut.
const SHOWN_LINES: usize = 40;

/// What was found so far.
pub(super) struct Report {
    verbose: bool,
    passed: usize,
    failed: usize,
    /// A line per corpus, shown again at the end.
    lines: Vec<String>,
}

/// What becomes of a case.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Verdict {
    Equal,
    Allowed,
    Differs,
    /// Listed as allowed, but equal: the list is out of date.
    Stale,
}

impl Report {
    pub(super) fn new(verbose: bool) -> Self {
        Self { verbose, passed: 0, failed: 0, lines: Vec::new() }
    }

    /// Prints the differences of a corpus and adds up.
    pub(super) fn suite(&mut self, suite: &str, cases: &[Case], allowed: &Allowed) {
        let mut counts = [0_usize; 4];
        let mut other_detail = 0;
        let mut terraform_differs = 0;
        for case in cases {
            let verdict = judge(case, allowed);
            counts[verdict as usize] += 1;
            match verdict {
                Verdict::Differs => show(case),
                Verdict::Stale => println!("  STALE {}: listed as allowed, but equal", case.id),
                Verdict::Equal | Verdict::Allowed => {}
            }
            if verdict == Verdict::Equal && case.groma.detail != case.tofu.detail {
                other_detail += 1;
                self.tell("message", case, &case.groma);
            }
            if let Some(terraform) = case.terraform.as_ref().filter(|terraform| terraform.verdict != case.tofu.verdict)
            {
                terraform_differs += 1;
                self.tell("terraform", case, terraform);
            }
        }
        let [equal, allowed, differs, stale] = counts;
        self.passed += equal + allowed;
        self.failed += differs + stale;
        let line = format!(
            "{suite}: {} passed ({allowed} of them differ as allowed), {} failed; for information: \
             {other_detail} with another message, {terraform_differs} where Terraform differs from OpenTofu",
            equal + allowed,
            differs + stale
        );
        println!("{line}");
        self.lines.push(line);
    }

    fn tell(&self, what: &str, case: &Case, other: &Outcome) {
        if self.verbose {
            println!("  INFO {what} {}", case.id);
            side("tofu", &case.tofu);
            side(if what == "terraform" { "terraform" } else { "groma" }, other);
        }
    }

    /// Prints the summary and returns how many cases failed.
    pub(super) fn finish(self) -> usize {
        println!();
        for line in &self.lines {
            println!("{line}");
        }
        println!("conformance: {} passed, {} failed", self.passed, self.failed);
        self.failed
    }
}

fn judge(case: &Case, allowed: &Allowed) -> Verdict {
    match (case.groma.verdict == case.tofu.verdict, allowed.reason(&case.id)) {
        (true, None) => Verdict::Equal,
        (true, Some(_)) => Verdict::Stale,
        (false, Some(_)) => Verdict::Allowed,
        (false, None) => Verdict::Differs,
    }
}

fn show(case: &Case) {
    println!("  DIFFERS {}", case.id);
    side("tofu", &case.tofu);
    side("groma", &case.groma);
}

fn side(name: &str, outcome: &Outcome) {
    let text =
        if outcome.detail.is_empty() { &outcome.verdict } else { &format!("{}\n{}", outcome.verdict, outcome.detail) };
    for (index, line) in text.lines().enumerate().take(SHOWN_LINES) {
        let label = if index == 0 { format!("{name}:") } else { String::new() };
        println!("    {label:<10} {line}");
    }
    if text.lines().count() > SHOWN_LINES {
        println!("    {:<10} … {} lines in all", "", text.lines().count());
    }
}
