//! What is said about a plan where its pull request is discussed. A comment is found again by a mark that nobody sees; whatever stands in
//! a plan stays between its fences.

use std::fmt::Write as _;

use groma_model::text::visible;
use sha2::{Digest as _, Sha256};

use super::forge::CommitState;
use crate::api::run::{PlanCounts, Told};

/// GitHub takes 65,536 characters. Characters are at least as few as bytes.
const MOST_BYTES: usize = 65_000;
/// What a cut plan ends with.
const CUT: &str = "… cut here: the plan is longer than what a comment holds.";

/// What came of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing yet.
    Pending,
    /// It changes nothing that the Stack is made of.
    Untouched,
    /// There is a plan.
    Planned { counts: PlanCounts, text: String },
    /// There is none, because of this.
    Failed { message: String, told: Vec<Told> },
}

impl Outcome {
    /// As the status of a commit has it.
    pub(super) fn state(&self) -> CommitState {
        match self {
            Self::Pending => CommitState::Pending,
            Self::Untouched | Self::Planned { .. } => CommitState::Success,
            Self::Failed { .. } => CommitState::Failure,
        }
    }

    /// In one line.
    pub(super) fn description(&self) -> String {
        match self {
            Self::Pending => "The plan is being made".to_owned(),
            Self::Untouched => "Nothing that this Stack is made of is changed".to_owned(),
            Self::Planned { counts, .. } => counted(*counts),
            Self::Failed { message, .. } => {
                let line = message.lines().next().unwrap_or_default();
                format!("No plan: {}", visible(line))
            }
        }
    }
}

/// What a comment is about.
#[derive(Debug, Clone)]
pub(super) struct About<'a> {
    pub(super) namespace: &'a str,
    pub(super) stack: &'a str,
    /// The directory of the root module.
    pub(super) path: &'a str,
    pub(super) workspace: Option<&'a str>,
    pub(super) commit: &'a str,
    /// By which the comment is found again.
    pub(super) mark: &'a str,
}

/// What the comment of a Stack on a pull request is known by. Nobody can guess it who does not know the Stack's uid.
pub(super) fn mark(uid: &str, number: u64) -> String {
    let hash = Sha256::digest(format!("{uid}/{number}"));
    format!("<!-- groma-plan {} -->", &hex::encode(hash)[..24])
}

/// The comment. None while there is nothing to say.
pub(super) fn body(about: &About<'_>, outcome: &Outcome) -> Option<String> {
    let (verdict, summary, text) = match outcome {
        Outcome::Pending | Outcome::Untouched => return None,
        Outcome::Planned { counts, text } => (counted(*counts), "Plan", text.clone()),
        Outcome::Failed { message, told } => {
            ("no plan could be made".to_owned(), "What went wrong", failure(message, told))
        }
    };
    let mut head = format!("{}\n### `{}/{}`: {verdict}\n\n", about.mark, about.namespace, about.stack);
    let _ = write!(head, "Commit {}", about.commit);
    for (what, name) in [("directory", Some(about.path)), ("workspace", about.workspace)] {
        if let Some(name) = name.filter(|name| is_plain(name)) {
            let _ = write!(head, ", {what} `{name}`");
        }
    }
    head.push_str(". Nothing of it is carried out before it is merged.\n\n");
    let open = if matches!(outcome, Outcome::Failed { .. }) { " open" } else { "" };
    let _ = write!(head, "<details{open}><summary>{summary}</summary>\n\n");
    let tail = "\n\n</details>\n";
    let room = MOST_BYTES.saturating_sub(head.len() + tail.len());
    Some(format!("{head}{}{tail}", fenced(&text, room)))
}

/// What a comment says, without the mark: whether it has to be written anew.
pub(super) fn digest(body: &str) -> String {
    hex::encode(Sha256::digest(body))[..16].to_owned()
}

fn counted(counts: PlanCounts) -> String {
    let PlanCounts { add, change, destroy, import, forget } = counts;
    if counts == PlanCounts::default() {
        return "no changes".to_owned();
    }
    let mut text = format!("{add} to add, {change} to change, {destroy} to destroy");
    for (count, what) in [(import, "import"), (forget, "forget")] {
        if count > 0 {
            let _ = write!(text, ", {count} to {what}");
        }
    }
    text
}

fn failure(message: &str, told: &[Told]) -> String {
    let mut text = message.trim().to_owned();
    for Told { severity, summary, detail, address, at } in told {
        let _ = write!(text, "\n\n{severity}: {summary}");
        let places = [at.as_deref(), address.as_deref()];
        for place in places.into_iter().flatten() {
            let _ = write!(text, "\n  at {place}");
        }
        if !detail.is_empty() {
            let _ = write!(text, "\n\n{detail}");
        }
    }
    text
}

/// Between fences that are longer than anything that looks like one in it; cut at the end of a line if it does not fit.
fn fenced(text: &str, room: usize) -> String {
    let text = visible(text.trim_end());
    let mut longest = 0;
    let mut count = 0;
    for at in text.chars() {
        count = if at == '`' { count + 1 } else { 0 };
        longest = longest.max(count);
    }
    let fence = "`".repeat(longest.max(2) + 1);
    let room = room.saturating_sub(2 * fence.len() + "text\n\n\n\n".len() + CUT.len());
    if text.len() <= room {
        return format!("{fence}text\n{text}\n{fence}");
    }
    let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let kept = &text[..end];
    let kept = kept.rfind('\n').map_or(kept, |line| &kept[..line]);
    format!("{fence}text\n{kept}\n{fence}\n\n{CUT}")
}

/// Whether it means nothing between backquotes but itself.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|at| at.is_ascii_alphanumeric() || matches!(at, '.' | '_' | '-' | '/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(mark: &str) -> About<'_> {
        About { namespace: "team", stack: "app", path: "envs/prod", workspace: None, commit: "abc", mark }
    }

    fn planned(text: &str) -> Outcome {
        let counts = PlanCounts { add: 1, destroy: 2, ..PlanCounts::default() };
        Outcome::Planned { counts, text: text.to_owned() }
    }

    #[test]
    fn a_plan_is_told_with_its_stack_and_commit() {
        let body = body(&about("<!-- m -->"), &planned("  + a.b\n")).unwrap();
        expect_test::expect![[r"
            <!-- m -->
            ### `team/app`: 1 to add, 0 to change, 2 to destroy

            Commit abc, directory `envs/prod`. Nothing of it is carried out before it is merged.

            <details><summary>Plan</summary>

            ```text
              + a.b
            ```

            </details>
        "]]
        .assert_eq(&body);
    }

    #[test]
    fn nothing_in_a_plan_gets_out_of_its_fence() {
        let hostile = "```\n</details>\n@everybody <img src=x>\n`````\n\u{1b}[31m";
        let body = body(&About { path: "a`\nb", ..about("m") }, &planned(hostile)).unwrap();
        let fence = "`".repeat(6);
        let (before, rest) = body.split_once(&format!("{fence}text\n")).unwrap();
        let (within, after) = rest.split_once(&format!("\n{fence}")).unwrap();
        assert!(within.contains("@everybody") && !within.contains('\u{1b}'), "{within}");
        assert!(!before.contains("a`") && !after.contains('@'), "{body}");
    }

    #[test]
    fn what_does_not_fit_is_cut_at_a_line() {
        let body = body(&about("m"), &planned(&"a line of a plan \u{e4}\n".repeat(20_000))).unwrap();
        assert!(body.len() <= MOST_BYTES, "{}", body.len());
        assert!(body.contains("\u{e4}\n```\n\n\u{2026} cut here"), "{}", &body[body.len() - 200..]);
        assert!(body.ends_with("</details>\n"));
    }

    #[test]
    fn failures_are_told_with_their_places() {
        let told = Told {
            severity: "error".to_owned(),
            summary: "Unsupported argument".to_owned(),
            detail: "An argument named \"x\" is not expected here.".to_owned(),
            address: None,
            at: Some("main.tf:3".to_owned()),
        };
        let failed = Outcome::Failed { message: "Unsupported argument".to_owned(), told: vec![told] };
        let body = body(&about("m"), &failed).unwrap();
        assert!(body.contains("<details open><summary>What went wrong</summary>"), "{body}");
        assert!(body.contains("error: Unsupported argument\n  at main.tf:3\n\nAn argument named"), "{body}");
        assert_eq!(
            (failed.state(), failed.description().as_str()),
            (CommitState::Failure, "No plan: Unsupported argument")
        );
    }

    #[test]
    fn nobody_else_has_the_same_mark() {
        assert_ne!(mark("uid", 1), mark("uid", 2));
        assert_ne!(mark("uid", 1), mark("other", 1));
        assert_eq!(mark("uid", 1), mark("uid", 1));
    }
}
