//! What is said about a plan where its pull request is discussed. A comment is found again by a mark that nobody sees; whatever stands in
//! a plan stays between its fences.

use std::fmt::Write as _;

use groma_model::text::visible;
use sha2::{Digest as _, Sha256};

use super::forge::CommitState;
use crate::api::run::{PlanCounts, Told};

/// GitHub takes 65,536 characters. Characters are at least as few as bytes.
const MOST_BYTES: usize = 65_000;
/// A plan that is longer than one comment goes on in others, in so many at most.
const MOST_PARTS: usize = 10;
/// What a cut plan ends with.
const CUT: &str = "… cut here: the plan is longer than what comments hold.";
/// What is around a part of a plan, besides what is said before it.
const AROUND_BYTES: usize = 200;

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
    /// By which the comments are found again.
    pub(super) mark: &'a Mark,
}

/// What the comments of a Stack on a pull request are known by. Nobody can guess it who does not know the Stack's uid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark(String);

impl Mark {
    /// Of a Stack and a pull request.
    pub(super) fn new(uid: &str, number: u64) -> Self {
        let hash = Sha256::digest(format!("{uid}/{number}"));
        Self(hex::encode(hash)[..24].to_owned())
    }

    /// What a comment begins with: the first one, or one of those that it goes on in.
    fn line(&self, part: usize) -> String {
        if part == 0 {
            format!("<!-- groma-plan {} -->", self.0)
        } else {
            format!("<!-- groma-plan {} {part} -->", self.0)
        }
    }

    /// Which part a comment is, if it is one of ours.
    pub(super) fn part(&self, comment: &str) -> Option<usize> {
        (0..MOST_PARTS).find(|part| comment.starts_with(&self.line(*part)))
    }
}

/// The comment, and those that it goes on in if it is long. None while there is nothing to say.
pub(super) fn bodies(about: &About<'_>, outcome: &Outcome) -> Vec<String> {
    let (verdict, summary, text) = match outcome {
        Outcome::Pending | Outcome::Untouched => return Vec::new(),
        Outcome::Planned { counts, text } => (counted(*counts), "Plan", text.as_str()),
        Outcome::Failed { message, told } => {
            ("no plan could be made".to_owned(), "What went wrong", &*failure(message, told))
        }
    };
    let open = if matches!(outcome, Outcome::Failed { .. }) { " open" } else { "" };
    let head = head(about, &verdict);
    let text = visible(text.trim_end());
    let fence = fence(&text);
    let parts = split(&text, MOST_BYTES.saturating_sub(head.len() + AROUND_BYTES + 2 * fence.len()));
    let count = parts.len().min(MOST_PARTS);
    let body = |(at, part): (usize, &&str)| {
        let head = if at == 0 {
            head.clone()
        } else {
            format!("{}\n`{}/{}`, commit {}\n\n", about.mark.line(at), about.namespace, about.stack, about.commit)
        };
        let which = if count > 1 { format!(", part {} of {count}", at + 1) } else { String::new() };
        let cut = if at + 1 == count && parts.len() > count { format!("\n\n{CUT}") } else { String::new() };
        format!(
            "{head}<details{open}><summary>{summary}{which}</summary>\n\n{fence}text\n{part}\n{fence}{cut}\n\n</details>\n"
        )
    };
    parts.iter().take(count).enumerate().map(body).collect()
}

/// What the first comment begins with.
fn head(about: &About<'_>, verdict: &str) -> String {
    let mut head = format!("{}\n### `{}/{}`: {verdict}\n\n", about.mark.line(0), about.namespace, about.stack);
    let _ = write!(head, "Commit {}", about.commit);
    for (what, name) in [("directory", Some(about.path)), ("workspace", about.workspace)] {
        if let Some(name) = name.filter(|name| is_plain(name)) {
            let _ = write!(head, ", {what} `{name}`");
        }
    }
    head.push_str(". Nothing of it is carried out before it is merged.\n\n");
    head
}

/// What comments say: whether they have to be written anew.
pub(super) fn digest(bodies: &[String]) -> String {
    hex::encode(Sha256::digest(bodies.concat()))[..16].to_owned()
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

/// What a text stands between: longer than anything in it that looks like it.
fn fence(text: &str) -> String {
    let mut longest = 0;
    let mut count = 0;
    for at in text.chars() {
        count = if at == '`' { count + 1 } else { 0 };
        longest = longest.max(count);
    }
    "`".repeat(longest.max(2) + 1)
}

/// Pieces of at most so many bytes, between lines where that can be.
fn split(text: &str, room: usize) -> Vec<&str> {
    let room = room.max(4);
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > room {
        let most = (0..=room).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let end = rest[..most].rfind('\n').filter(|line| *line > 0).unwrap_or(most);
        pieces.push(&rest[..end]);
        rest = rest[end..].strip_prefix('\n').unwrap_or(&rest[end..]);
    }
    pieces.push(rest);
    pieces
}

/// Whether it means nothing between backquotes but itself.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|at| at.is_ascii_alphanumeric() || matches!(at, '.' | '_' | '-' | '/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(about: &About<'_>, outcome: &Outcome) -> String {
        let mut bodies = bodies(about, outcome);
        assert_eq!(bodies.len(), 1);
        bodies.remove(0)
    }

    fn about(mark: &Mark) -> About<'_> {
        About { namespace: "team", stack: "app", path: "envs/prod", workspace: None, commit: "abc", mark }
    }

    fn planned(text: &str) -> Outcome {
        let counts = PlanCounts { add: 1, destroy: 2, ..PlanCounts::default() };
        Outcome::Planned { counts, text: text.to_owned() }
    }

    #[test]
    fn a_plan_is_told_with_its_stack_and_commit() {
        let body = body(&about(&Mark("m".to_owned())), &planned("  + a.b\n"));
        expect_test::expect![[r"
            <!-- groma-plan m -->
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
        let body = body(&About { path: "a`\nb", ..about(&Mark("m".to_owned())) }, &planned(hostile));
        let fence = "`".repeat(6);
        let (before, rest) = body.split_once(&format!("{fence}text\n")).unwrap();
        let (within, after) = rest.split_once(&format!("\n{fence}")).unwrap();
        assert!(within.contains("@everybody") && !within.contains('\u{1b}'), "{within}");
        assert!(!before.contains("a`") && !after.contains('@'), "{body}");
    }

    #[test]
    fn what_does_not_fit_goes_on_in_further_comments() {
        let mark = Mark("m".to_owned());
        let text = (0..6_000).map(|at| format!("line {at} of a plan \u{e4}\n")).collect::<Vec<_>>().concat();
        let bodies = bodies(&about(&mark), &planned(&text));
        assert_eq!(bodies.len(), 3);
        let mut whole = String::new();
        for (at, body) in bodies.iter().enumerate() {
            assert!(body.len() <= MOST_BYTES, "{}", body.len());
            assert!(body.contains(&format!("<summary>Plan, part {} of 3</summary>", at + 1)), "{}", &body[..300]);
            assert_eq!(mark.part(body), Some(at));
            let (_, rest) = body.split_once("```text\n").unwrap();
            let (within, after) = rest.split_once("\n```").unwrap();
            assert_eq!(after, "\n\n</details>\n");
            whole.push_str(within);
            whole.push('\n');
        }
        assert_eq!(whole, text, "nothing is left out");
    }

    #[test]
    fn what_fits_into_no_comments_is_cut() {
        let bodies = bodies(&about(&Mark("m".to_owned())), &planned(&"\u{e4}".repeat(1_000_000)));
        assert_eq!(bodies.len(), MOST_PARTS);
        assert!(bodies.iter().all(|body| body.len() <= MOST_BYTES));
        assert!(bodies[MOST_PARTS - 1].ends_with("hold.\n\n</details>\n") && !bodies[0].contains("cut here"));
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
        let body = body(&about(&Mark("m".to_owned())), &failed);
        assert!(body.contains("<details open><summary>What went wrong</summary>"), "{body}");
        assert!(body.contains("error: Unsupported argument\n  at main.tf:3\n\nAn argument named"), "{body}");
        assert_eq!(
            (failed.state(), failed.description().as_str()),
            (CommitState::Failure, "No plan: Unsupported argument")
        );
    }

    #[test]
    fn nobody_else_has_the_same_mark() {
        assert_ne!(Mark::new("uid", 1), Mark::new("uid", 2));
        assert_ne!(Mark::new("uid", 1), Mark::new("other", 1));
        assert_eq!(Mark::new("uid", 1), Mark::new("uid", 1));
        assert_eq!(Mark::new("uid", 1).part("<!-- groma-plan 0 -->"), None);
    }
}
