//! What a condition was made of and what came of each part, for people and for machines.

use groma_model::text::Str;
use serde_json::{Map, Value as Json};

use super::Answer;
use crate::replace::rule::{Logic, Named, Question};
use crate::replace::step::{Step, clean};
use crate::replace::truth::Truth;

/// One part of a condition, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// Its name.
    pub id: Option<Str>,
    /// `AND`, `OR`, `NOT`, `TRUE` or `FALSE`, if it is made of other parts.
    pub op: Option<&'static str>,
    /// The kind of predicate, if it is one.
    pub kind: Option<&'static str>,
    /// In words.
    pub description: Option<Str>,
    /// What it reads, if it is a predicate.
    pub reads: Vec<String>,
    /// What came of it.
    pub result: Answer,
    /// What that follows from.
    pub steps: Vec<Step>,
    /// What it is made of.
    pub children: Vec<Tree>,
}

impl Tree {
    pub(super) fn of_op(op: &'static str, result: Answer, children: Vec<Tree>) -> Self {
        let (id, kind, description) = (None, None, None);
        Self { id, op: Some(op), kind, description, reads: Vec::new(), result, steps: Vec::new(), children }
    }

    pub(super) fn of_question(question: &Question, result: Answer, steps: Vec<Step>) -> Self {
        Self {
            id: Some(question.id.clone()),
            op: None,
            kind: Some(question.predicate.kind()),
            description: question.description.clone(),
            reads: question.predicate.reads().into_iter().map(ToString::to_string).collect(),
            result,
            steps,
            children: Vec::new(),
        }
    }

    /// What has a name, made of something that may have one of its own.
    pub(super) fn of_named(named: &Named, tree: Tree) -> Self {
        let tree = if tree.id.is_some() { Tree::of_op("AND", tree.result, vec![tree]) } else { tree };
        Tree { id: Some(named.id.clone()), description: named.description.clone(), ..tree }
    }

    /// What was shown before.
    pub(super) fn again(named: &Named, result: Answer) -> Self {
        let tree = Tree::of_op(op(&named.logic), result, Vec::new());
        Tree { id: Some(named.id.clone()), description: named.description.clone(), ..tree }
    }

    /// What was not asked. What it is made of does not matter then.
    pub(super) fn skipped(logic: &Logic) -> Self {
        match logic {
            Logic::Ask(question) => Tree::of_question(question, Answer::Skipped, Vec::new()),
            Logic::Named(named) => Tree::again(named, Answer::Skipped),
            other => Tree::of_op(op(other), Answer::Skipped, Vec::new()),
        }
    }

    /// The names of the predicates in it that hold, each once.
    pub(super) fn matched(&self) -> Vec<Str> {
        let mut found: Vec<Str> = Vec::new();
        self.visit(&mut |part| {
            let holds = part.kind.is_some() && part.result == Answer::Truth(Truth::True);
            if let Some(id) = part.id.as_ref().filter(|id| holds && !found.contains(id)) {
                found.push(id.clone());
            }
        });
        found
    }

    fn visit<'t>(&'t self, seen: &mut dyn FnMut(&'t Tree)) {
        seen(self);
        self.children.iter().for_each(|child| child.visit(seen));
    }

    /// What all predicates in it have seen, in the order in which they stand there, as people are shown.
    pub fn all_steps(&self) -> Vec<String> {
        let mut steps = Vec::new();
        self.visit(&mut |part| steps.extend(part.steps.iter().map(|step| clean(&step.to_string()))));
        steps
    }

    /// What was asked, one line each.
    pub fn conditions(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        self.visit(&mut |part| {
            if part.kind.is_some() {
                let line = part.condition();
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        });
        lines
    }

    fn condition(&self) -> String {
        let detail = self.detail();
        let detail = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
        format!("{}: {}{detail}", self.words(), self.result.name())
    }

    /// What it is about, in words.
    pub fn words(&self) -> String {
        match (&self.description, self.kind) {
            (Some(text), _) => clean(text),
            (None, Some(kind)) if self.reads.is_empty() => kind.to_owned(),
            (None, Some(kind)) => format!("{kind} {}", self.reads.join(", ")),
            (None, None) => self.op.unwrap_or_default().to_owned(),
        }
    }

    /// The steps, in brief: what was compared with what, how many were found.
    fn detail(&self) -> String {
        let steps: Vec<String> = self.steps.iter().map(ToString::to_string).collect();
        if let [old, planned] = steps.as_slice()
            && let (Some(old), Some(planned)) = (old.strip_prefix("old "), planned.strip_prefix("planned "))
        {
            return format!("{old} -> {planned}");
        }
        let counts = matches!(self.kind, Some("has_attached_resources" | "resource_count"));
        let is_bound = |step: &str| step.starts_with("minimum ") || step.starts_with("maximum ");
        let brief = |step: &String| match step.split_once(": ") {
            Some((brief, _)) if counts => brief.to_owned(),
            _ => step.clone(),
        };
        steps.iter().filter(|step| !counts || !is_bound(step)).map(brief).collect::<Vec<_>>().join(", ")
    }

    /// For machines.
    pub fn to_json(&self) -> Json {
        let mut json = Map::new();
        let mut put = |name: &str, value: Json| json.insert(name.to_owned(), value);
        if let Some(id) = &self.id {
            put("id", Json::from(id.as_str()));
        }
        if let Some(op) = self.op {
            put("op", Json::from(op));
        }
        if let Some(kind) = self.kind {
            put("kind", Json::from(kind));
        }
        put("result", Json::from(self.result.name()));
        if let Some(text) = &self.description {
            put("description", Json::from(clean(text)));
        }
        if self.kind.is_some() {
            put("steps", self.steps.iter().map(|step| clean(&step.to_string())).collect());
        } else if !matches!(self.op, Some("TRUE" | "FALSE")) {
            put("children", self.children.iter().map(Tree::to_json).collect());
        }
        Json::Object(json)
    }
}

fn op(logic: &Logic) -> &'static str {
    match logic {
        Logic::Any(_) => "OR",
        Logic::NoneOf(_) => "NOT",
        Logic::Constant(true) => "TRUE",
        Logic::Constant(false) => "FALSE",
        Logic::All(_) | Logic::Named(_) | Logic::Ask(_) => "AND",
    }
}
