//! Rules that are asked about many objects, for their verdicts alone. What follows from the rules and from the schema of the objects is
//! found out once: which fields are secret, which predicates come last, and what stands in a condition several times.

use std::collections::HashMap;
use std::sync::Arc;

use groma_model::schema::Schema;

use super::{Answer, Brief, Verdict, brief, gate};
use crate::replace::case::Case;
use crate::replace::path::FieldPath;
use crate::replace::predicate::Facts;
use crate::replace::rule::{Logic, Question, ReplaceRule};
use crate::replace::secrecy::sensitive_reads;
use crate::replace::truth::Truth;

/// Rules, and a schema of objects that all of them are [about](crate::replace::ReplaceRules::about).
#[derive(Debug)]
pub struct Panel {
    rules: Arc<[Arc<ReplaceRule>]>,
    schema: Arc<Schema>,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    /// None where a rule has no condition.
    condition: Option<Condition>,
    /// Whether it matters to the same replacements as the rule before it.
    is_like_last: bool,
}

impl Panel {
    /// Of these rules, for objects of this schema.
    pub fn new(rules: Arc<[Arc<ReplaceRule>]>, schema: &Arc<Schema>) -> Self {
        let last = std::iter::once(None).chain(rules.iter().map(Some));
        let members = rules.iter().zip(last).map(|(rule, last)| Member {
            condition: rule.logic.as_ref().map(|logic| Condition::new(logic, schema)),
            is_like_last: last.is_some_and(|last| matter_alike(rule, last)),
        });
        Self { members: members.collect(), rules, schema: Arc::clone(schema) }
    }

    /// The rules.
    pub fn rules(&self) -> &Arc<[Arc<ReplaceRule>]> {
        &self.rules
    }

    /// Whether it is for objects of this schema.
    pub fn is_for(&self, schema: &Arc<Schema>) -> bool {
        Arc::ptr_eq(&self.schema, schema)
    }

    /// What each rule says about an object, in the order of the rules: what [`brief`] says. `has_marks` says whether anything in any view
    /// of the object is marked.
    pub fn briefs<'p>(&'p self, case: &'p Case<'p>, has_marks: bool) -> impl Iterator<Item = Brief> + 'p {
        let mut gate = gate::Gate::Closed;
        self.rules.iter().zip(&self.members).map(move |(rule, member)| {
            if !member.is_like_last {
                gate = gate::matters(rule, case);
            }
            let gate::Gate::Open(field) = gate else { return Brief::default() };
            let condition = member.condition.as_ref();
            let answer = condition.map_or(Answer::Truth(Truth::True), |one| one.answer(case, has_marks));
            match Verdict::of(answer) {
                // What is wrong is told by those who have time for it.
                Verdict::Error => brief(rule, case),
                verdict => Brief { verdict, field, ..Brief::default() },
            }
        })
    }
}

/// Whether two rules are about the same replacements of an object that both are about.
fn matter_alike(one: &ReplaceRule, other: &ReplaceRule) -> bool {
    let fields = one.fields.iter().map(FieldPath::steps);
    one.provider_version == other.provider_version && fields.eq(other.fields.iter().map(FieldPath::steps))
}

/// A condition, with the numbers of its parts instead of the parts, so that what stands in it several times is there once.
#[derive(Debug)]
struct Condition {
    parts: Vec<Part>,
    whole: usize,
    /// Whether something stands in it several times.
    repeats: bool,
}

#[derive(Debug)]
enum Part {
    Constant(Truth),
    Not(usize),
    /// All of them or any of them, depending on which answer settles the matter. Those that are costly come last.
    Join(Vec<usize>, Truth),
    Ask(Arc<Question>, Facts),
}

impl Condition {
    fn new(logic: &Logic, schema: &Schema) -> Self {
        let mut condition = Self { parts: Vec::new(), whole: 0, repeats: false };
        condition.whole = condition.add(logic, schema, &mut HashMap::new()).0;
        condition
    }

    /// The number of a part, and whether it needs to know about other objects.
    fn add(&mut self, logic: &Logic, schema: &Schema, known: &mut HashMap<usize, (usize, bool)>) -> (usize, bool) {
        let place = match logic {
            Logic::Named(named) => Arc::as_ptr(named) as usize,
            Logic::Ask(question) => Arc::as_ptr(question) as usize,
            _ => 0,
        };
        if let Some(found) = known.get(&place) {
            self.repeats = true;
            return *found;
        }
        let (part, is_costly) = match logic {
            Logic::All(parts) => self.join(parts, Truth::False, (schema, known)),
            Logic::Any(parts) => self.join(parts, Truth::True, (schema, known)),
            Logic::NoneOf(parts) => {
                let (any, is_costly) = self.join(parts, Truth::True, (schema, known));
                (Part::Not(self.push(any)), is_costly)
            }
            Logic::Constant(truth) => (Part::Constant((*truth).into()), false),
            Logic::Named(named) => {
                let found = self.add(&named.logic, schema, known);
                known.insert(place, found);
                return found;
            }
            Logic::Ask(question) => {
                let predicate = question.predicate.as_ref();
                (Part::Ask(Arc::clone(question), Facts::of(predicate, schema)), predicate.needs_neighbours())
            }
        };
        let found = (self.push(part), is_costly);
        if place != 0 {
            known.insert(place, found);
        }
        found
    }

    fn join(
        &mut self,
        parts: &[Logic],
        decisive: Truth,
        (schema, known): (&Schema, &mut HashMap<usize, (usize, bool)>),
    ) -> (Part, bool) {
        let mut found: Vec<(usize, bool)> = parts.iter().map(|part| self.add(part, schema, known)).collect();
        found.sort_by_key(|(_, is_costly)| *is_costly);
        let is_costly = found.iter().any(|(_, is_costly)| *is_costly);
        (Part::Join(found.into_iter().map(|(number, _)| number).collect(), decisive), is_costly)
    }

    fn push(&mut self, part: Part) -> usize {
        self.parts.push(part);
        self.parts.len() - 1
    }

    fn answer(&self, case: &Case<'_>, has_marks: bool) -> Answer {
        let known = if self.repeats { vec![None; self.parts.len()] } else { Vec::new() };
        Asking { condition: self, case, has_marks, known }.answer(self.whole)
    }
}

/// One condition and one object.
struct Asking<'a> {
    condition: &'a Condition,
    case: &'a Case<'a>,
    has_marks: bool,
    /// Answers so far, by part. Empty if nothing is asked twice anyway.
    known: Vec<Option<Answer>>,
}

impl Asking<'_> {
    fn answer(&mut self, number: usize) -> Answer {
        if let Some(Some(answer)) = self.known.get(number) {
            return *answer;
        }
        let answer = match &self.condition.parts[number] {
            Part::Constant(truth) => Answer::Truth(*truth),
            Part::Not(part) => self.answer(*part).negated(),
            Part::Join(parts, decisive) => self.join(parts, *decisive),
            Part::Ask(question, facts) => self.ask(question, *facts),
        };
        if let Some(known) = self.known.get_mut(number) {
            *known = Some(answer);
        }
        answer
    }

    fn join(&mut self, parts: &[usize], decisive: Truth) -> Answer {
        let mut answer = Answer::Truth(decisive.negated());
        for part in parts {
            answer = answer.joined(self.answer(*part), decisive);
            if answer == Answer::Truth(decisive) {
                break;
            }
        }
        answer
    }

    fn ask(&self, question: &Question, facts: Facts) -> Answer {
        let predicate = question.predicate.as_ref();
        if predicate.is_oracle() && !question.allow_sensitive {
            let is_secret = facts.secret || (self.has_marks && !sensitive_reads(predicate, self.case).is_empty());
            if is_secret {
                return Answer::Error;
            }
        }
        predicate.answer(self.case, facts).map_or(Answer::Error, Answer::Truth)
    }
}
