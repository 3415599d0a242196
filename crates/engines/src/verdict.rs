//! What becomes of an object that a run has left tainted: the table of when it is kept, and how that is said. Pure: the facts are
//! found out elsewhere.

use std::fmt;

use groma_model::address::AbsInstance;
use groma_run::engine::pending::Pending;

/// What became of a tainted object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Which one.
    pub address: AbsInstance,
    /// What became of it.
    pub verdict: Verdict,
}

/// Whether an object is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is not tainted any more.
    Kept(WhyKept),
    /// It will be replaced.
    Tainted(WhyTainted),
}

/// Which kind of rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleKind {
    /// `wait`
    Wait,
    /// `on_create_error`
    OnCreateError,
}

impl RuleKind {
    /// The block.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::OnCreateError => "on_create_error",
        }
    }
}

/// Why an object is kept, and what it still lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyKept {
    /// Its provider has left a mark: it is there, and not ready.
    Marked(Pending),
    /// A rule is about it, and it was found when it was looked for.
    Rule {
        /// Which kind.
        kind: RuleKind,
        /// Where the rule stands.
        place: String,
        /// What a `wait` still waits for.
        lacks: Option<Pending>,
    },
}

/// Why an object stays tainted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyTainted {
    /// It was made before this run.
    MadeBefore,
    /// Nobody says that it is to be kept.
    NoRule,
    /// A rule says that it is not to be kept.
    Refused(String),
    /// It has provisioners, which would never run.
    Provisioners,
    /// What the configuration says about it is not known.
    Unknown,
    /// It is not there any more.
    Gone,
    /// Whether it is there could not be found out.
    Unreadable(String),
    /// It could not be written down.
    NotWritten(String),
}

/// What is known about a tainted object before it is looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// Whether this run has made it.
    pub(crate) is_new: bool,
    /// What its provider says that it lacks.
    pub(crate) marked: Option<Pending>,
    /// Whether provisioners belong to its creation. None if the configuration could not be read.
    pub(crate) provisioned: Option<bool>,
    /// The rule that keeps it, and where that stands.
    pub(crate) rule: Option<(RuleKind, String)>,
    /// Where a rule stands that says it is not kept.
    pub(crate) refused: Option<String>,
}

/// What can be said without looking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum First {
    Settled(Verdict),
    /// It is kept if it is there.
    Look(RuleKind, String),
}

/// The table. The first row that applies counts.
pub(crate) fn first(facts: Facts) -> First {
    let tainted = |why| First::Settled(Verdict::Tainted(why));
    let Facts { is_new, marked, provisioned, rule, refused } = facts;
    match (marked, rule, refused, provisioned) {
        _ if !is_new => tainted(WhyTainted::MadeBefore),
        (_, _, _, None) => tainted(WhyTainted::Unknown),
        (_, _, _, Some(true)) => tainted(WhyTainted::Provisioners),
        (Some(marked), ..) => First::Settled(Verdict::Kept(WhyKept::Marked(marked))),
        (None, _, Some(place), _) => tainted(WhyTainted::Refused(place)),
        (None, Some((kind, place)), None, _) => First::Look(kind, place),
        (None, None, None, _) => tainted(WhyTainted::NoRule),
    }
}

impl Verdict {
    /// Whether it is not tainted any more.
    pub fn is_kept(&self) -> bool {
        matches!(self, Self::Kept(_))
    }

    /// What it still lacks.
    pub fn lacks(&self) -> Option<&Pending> {
        match self {
            Self::Kept(WhyKept::Marked(pending)) => Some(pending),
            Self::Kept(WhyKept::Rule { lacks, .. }) => lacks.as_ref(),
            Self::Tainted(_) => None,
        }
    }

    /// One word for machines.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Kept(WhyKept::Marked(_)) => "not_ready_marker",
            Self::Kept(WhyKept::Rule { kind, .. }) => kind.name(),
            Self::Tainted(why) => match why {
                WhyTainted::MadeBefore => "made_before",
                WhyTainted::NoRule => "no_rule",
                WhyTainted::Refused(_) => "refused_by_rule",
                WhyTainted::Provisioners => "provisioners",
                WhyTainted::Unknown => "configuration_unreadable",
                WhyTainted::Gone => "gone",
                WhyTainted::Unreadable(_) => "unreadable",
                WhyTainted::NotWritten(_) => "not_written",
            },
        }
    }
}

impl fmt::Display for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = &self.address;
        match &self.verdict {
            Verdict::Kept(why) => {
                write!(f, "{address} is kept, and not tainted any more: {why}.")?;
                match self.verdict.lacks() {
                    None => write!(f, " Apply again to go on with the same object."),
                    Some(Pending { waiting_for, last_seen, .. }) => {
                        write!(f, " It is not ready: waiting for {waiting_for}")?;
                        last_seen.iter().try_for_each(|seen| write!(f, ", last seen: {seen}"))?;
                        write!(f, ". Apply again to go on waiting for the same object.")
                    }
                }
            }
            Verdict::Tainted(why) => write!(f, "{address} stays tainted, so the next apply replaces it: {why}"),
        }
    }
}

impl fmt::Display for WhyKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Marked(_) => write!(f, "its provider says that it is there"),
            Self::Rule { kind, place, .. } => write!(f, "{} at {place} is about it, and it is there", kind.name()),
        }
    }
}

impl fmt::Display for WhyTainted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MadeBefore => write!(f, "this run has not made it. To keep it, use \"untaint\"."),
            Self::NoRule => write!(
                f,
                "its provider has not said that it is whole, and no rule is about it. To keep such objects, write an \
                 on_create_error block with keep = true, or a wait block, in a file that ends in .groma.hcl."
            ),
            Self::Refused(place) => write!(f, "on_create_error at {place} says that it is not kept."),
            Self::Provisioners => write!(f, "it has provisioners, which run only when an object is made."),
            Self::Unknown => {
                write!(f, "groma could not read the configuration, so it is not known what is said about it there.")
            }
            Self::Gone => write!(f, "it was looked for and is not there any more."),
            Self::Unreadable(why) => {
                write!(f, "whether it is there could not be found out ({why}). If it is, use \"untaint\".")
            }
            Self::NotWritten(why) => write!(f, "the state could not be changed ({why}). To keep it, use \"untaint\"."),
        }
    }
}

#[cfg(test)]
mod tests {
    use groma_run::engine::pending::SaidBy;

    use super::*;

    fn pending() -> Pending {
        Pending {
            waiting_for: "its reader".into(),
            last_seen: Some("nobody".into()),
            since: None,
            by: SaidBy::Provider,
            patience: None,
        }
    }

    /// What is known of an object that is kept if it is there.
    fn facts() -> Facts {
        let rule = Some((RuleKind::OnCreateError, "r.groma.hcl:1".to_owned()));
        Facts { is_new: true, marked: None, provisioned: Some(false), rule, refused: None }
    }

    fn reason(facts: Facts) -> &'static str {
        match first(facts) {
            First::Settled(verdict) => verdict.reason(),
            First::Look(..) => "look",
        }
    }

    #[test]
    fn the_table() {
        let no_rule = Facts { rule: None, ..facts() };
        let rows = [
            (facts(), "look"),
            (no_rule.clone(), "no_rule"),
            (Facts { marked: Some(pending()), ..no_rule.clone() }, "not_ready_marker"),
            (Facts { marked: Some(pending()), ..facts() }, "not_ready_marker"),
            // What somebody has tainted is left alone, whatever else is known.
            (Facts { is_new: false, marked: Some(pending()), ..facts() }, "made_before"),
            (Facts { is_new: false, ..facts() }, "made_before"),
            // Provisioners would be lost.
            (Facts { provisioned: Some(true), ..facts() }, "provisioners"),
            (Facts { provisioned: Some(true), marked: Some(pending()), ..no_rule.clone() }, "provisioners"),
            (Facts { provisioned: None, marked: Some(pending()), ..no_rule.clone() }, "configuration_unreadable"),
            // The exact rule may say no, even if something is waited for.
            (Facts { refused: Some("r.groma.hcl:2".into()), ..facts() }, "refused_by_rule"),
            (Facts { refused: Some("r.groma.hcl:2".into()), marked: Some(pending()), ..no_rule }, "not_ready_marker"),
        ];
        for (at, (facts, expected)) in rows.into_iter().enumerate() {
            assert_eq!(reason(facts), expected, "row {at}");
        }
    }

    #[test]
    fn every_verdict_says_why_and_what_to_do() {
        let rule = |lacks| WhyKept::Rule { kind: RuleKind::Wait, place: "r.groma.hcl:1".into(), lacks };
        let verdicts = [
            Verdict::Kept(WhyKept::Marked(pending())),
            Verdict::Kept(rule(None)),
            Verdict::Tainted(WhyTainted::Gone),
            Verdict::Tainted(WhyTainted::Unreadable("Failed on cue".into())),
        ];
        let address: AbsInstance = "module.m.a.b[0]".parse().unwrap();
        let said = verdicts.map(|verdict| format!("{}\n", Settled { address: address.clone(), verdict }));
        expect_test::expect![[r#"
            module.m.a.b[0] is kept, and not tainted any more: its provider says that it is there. It is not ready: waiting for its reader, last seen: nobody. Apply again to go on waiting for the same object.
            module.m.a.b[0] is kept, and not tainted any more: wait at r.groma.hcl:1 is about it, and it is there. Apply again to go on with the same object.
            module.m.a.b[0] stays tainted, so the next apply replaces it: it was looked for and is not there any more.
            module.m.a.b[0] stays tainted, so the next apply replaces it: whether it is there could not be found out (Failed on cue). If it is, use "untaint".
        "#]]
        .assert_eq(&said.concat());
    }
}
