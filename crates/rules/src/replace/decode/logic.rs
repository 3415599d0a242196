//! Conditions as they are written: `logic` or `expr` over predicates, groups and conditions with a name. First everything is read, then the
//! names are looked up, so that conditions can stand behind the rules that use them.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::diag::Diagnostic;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::ExprKind;
use groma_syntax::body::{Block, BodySchema, Label};

use super::Reader;
use super::arguments::{Arguments, did_you_mean, meant, one_of};
use super::kinds;
use super::literal::Text;
use super::words::clean;
use crate::replace::expr::{self, Expr};
use crate::replace::problem::Code;
use crate::replace::rule::{Logic, Named, Question};

/// How deep groups and conditions may stand in each other.
pub(super) const MAX_GROUPS: usize = 16;
/// How many predicates a rule may have, with those of the conditions that it uses.
pub(super) const MAX_PREDICATES: usize = 64;
/// How many answers one rule may need if nothing is left out: a predicate that is named twice counts twice.
const MAX_QUESTIONS: usize = 10_000;

/// How predicates are joined that no expression joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
    Not,
}

const JOINS: &[(&str, Join)] = &[("AND", Join::And), ("OR", Join::Or), ("NOT", Join::Not)];

/// A condition as it is written.
#[derive(Debug)]
pub(super) struct Written {
    join: Join,
    /// The text, and what it means if it can be read.
    expr: Option<(Text, Option<Expr>)>,
    uses: Vec<Text>,
    items: Vec<Item>,
    /// How many predicates there are, with those of the groups.
    predicates: usize,
}

/// A predicate or a group.
#[derive(Debug)]
struct Item {
    id: Str,
    place: Span,
    /// Whether its name is a letter that it was given.
    is_lettered: bool,
    kind: ItemKind,
}

#[derive(Debug)]
enum ItemKind {
    /// None if it cannot be asked, which has been told.
    Question(Option<Arc<Question>>),
    Group {
        description: Option<Str>,
        written: Written,
    },
}

/// A condition with the meanings of its names.
#[derive(Debug, Clone)]
pub(super) struct Meaning {
    pub(super) logic: Logic,
    /// How many predicates it has.
    pub(super) predicates: usize,
    /// How many answers it takes.
    questions: usize,
    depth: usize,
}

/// What the names of conditions mean. None for those with mistakes, which have been told.
pub(super) type Conditions = BTreeMap<Str, Option<Meaning>>;

impl Written {
    /// Whether there is nothing that could be asked.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.uses.is_empty()
    }

    /// The conditions that it names, also in groups.
    pub(super) fn uses(&self) -> Vec<Text> {
        let mut found = self.uses.clone();
        for item in &self.items {
            if let ItemKind::Group { written, .. } = &item.kind {
                found.extend(written.uses());
            }
        }
        found
    }
}

impl Reader<'_> {
    /// Reads what a block says, with arguments of its own.
    pub(super) fn condition_in(&mut self, block: &Block, own: &[&str], depth: usize) -> (Arguments, Written) {
        let own = own.iter().fold(BodySchema::new(), |schema, name| schema.optional(name));
        let schema = own.optional("logic").optional("expr").optional("use");
        let (content, found) = block.body.content(&schema.block("predicate", &["kind"]).block("group", &["id"]));
        // A predicate may have a second label, which no schema can say.
        let found = found.into_iter().filter(|found| found.summary != "Extraneous label for predicate");
        let found: Vec<Diagnostic> = found.map(|found| Code(1101).number(found)).collect();
        let mut arguments = self.arguments(&content.attributes, content.missing_item_span);
        arguments.misspelt.extend(found.iter().filter_map(|found| meant(&found.detail)));
        self.diagnostics.extend(found);
        let mut blocks = predicates_in(block, &content.blocks);
        blocks.extend(content.blocks_of("group").cloned());
        blocks.sort_by_key(|block| block.span.start);
        let (join, expr) = self.join(&arguments);
        let uses = self.texts(&arguments, "use");
        let mut written = Written { join, expr, uses, items: Vec::new(), predicates: 0 };
        let mut letters = 0;
        for block in &blocks {
            let item =
                if block.kind.name == "group" { self.group(block, depth) } else { self.predicate(block, &mut letters) };
            written.predicates += match &item.kind {
                ItemKind::Question(_) => 1,
                ItemKind::Group { written, .. } => written.predicates,
            };
            written.items.push(item);
        }
        self.nothing_to_join(block, &arguments, &written);
        (arguments, written)
    }

    fn join(&mut self, arguments: &Arguments) -> (Join, Option<(Text, Option<Expr>)>) {
        let join = self.choice(arguments, "logic", JOINS).unwrap_or(Join::And);
        let expr = self.text(arguments, "expr").map(|text| {
            let read = Expr::parse(&text.says).map_err(|error| self.expression_error(&text, &error));
            (text, read.ok())
        });
        if let (Some(logic), Some(expr)) = (arguments.given("logic"), arguments.given("expr")) {
            let (later, other) = if logic.span.start < expr.span.start { (expr, logic) } else { (logic, expr) };
            let detail = format!(
                "Either logic or expr says how the predicates are joined, not both: {} is set at {}.",
                other.name,
                self.line(other.span)
            );
            self.diagnostics.push(Code(1112).error("Both logic and expr", detail).at(later.span));
        }
        (join, expr)
    }

    fn expression_error(&mut self, text: &Text, error: &expr::ExprError) {
        let (span, offset) = text.place(&error.at);
        let found = match error.problem {
            expr::Problem::Unexpected { .. } => {
                let detail = format!("{}{offset}", error.problem);
                let advice =
                    "An expression joins the names of predicates by AND, OR, NOT and parentheses: (A AND B) OR C.";
                Code(1116).error("Invalid expression", detail).hint(advice)
            }
            _ => Code(1119).error("Expression is too large", format!("{}{offset}", error.problem)),
        };
        self.diagnostics.push(found.at(span));
    }

    fn nothing_to_join(&mut self, block: &Block, arguments: &Arguments, written: &Written) {
        if !written.is_empty() {
            return;
        }
        for name in ["logic", "expr"] {
            if let Some(argument) = arguments.given(name) {
                let detail =
                    format!("{name} joins predicates, and there are none here. Add some, or leave {name} out.");
                self.diagnostics.push(Code(1113).error("No predicates to join", detail).at(argument.span));
                return;
            }
        }
        if block.kind.name != "replace_rule" {
            let detail = format!("A {} without predicates says nothing. Add some, or leave it out.", block.kind.name);
            self.diagnostics.push(Code(1113).error("No predicates to join", detail).at(block.header_span));
        }
    }

    fn group(&mut self, block: &Block, depth: usize) -> Item {
        let nameless = Label { text: Str::new(""), span: block.header_span };
        let label = block.labels.first().unwrap_or(&nameless);
        self.check_name(label, "group");
        let kind = if depth >= MAX_GROUPS {
            let detail = format!("Groups must not stand more than {MAX_GROUPS} deep in each other.");
            self.diagnostics.push(Code(1119).error("Too many groups", detail).at(block.header_span));
            ItemKind::Question(None)
        } else {
            let (arguments, written) = self.condition_in(block, &["description"], depth + 1);
            let description = self.words(&arguments, "description").map(|text| clean(&text));
            ItemKind::Group { description, written }
        };
        Item { id: label.text.clone(), place: label.span, is_lettered: false, kind }
    }

    fn predicate(&mut self, block: &Block, letters: &mut usize) -> Item {
        if let Some(extra) = block.labels.get(2) {
            let detail = "A predicate has one or two labels: its kind, and a name for expressions.";
            self.diagnostics.push(Code(1101).error("Extraneous label for predicate", detail).at(extra.span));
        }
        let (id, place, is_lettered) = if let Some(label) = block.labels.get(1) {
            self.check_name(label, "predicate");
            (label.text.clone(), label.span, false)
        } else {
            *letters += 1;
            (letter(*letters - 1), block.labels.first().map_or(block.header_span, |label| label.span), true)
        };
        let question = kinds::question(self, block, &id, place).map(Arc::new);
        Item { id, place, is_lettered, kind: ItemKind::Question(question) }
    }

    /// Complains about a name that could not stand in an expression.
    pub(super) fn check_name(&mut self, label: &Label, kind: &str) {
        if !expr::is_name(&label.text) {
            let detail = format!(
                "{:?} cannot be the name of a {kind}: it must begin with a letter, go on with letters, digits, \"_\" and \"-\", and be none of \
                 AND, OR, NOT, TRUE and FALSE.",
                &*label.text
            );
            self.diagnostics.push(Code(1104).error("Invalid name", detail).at(label.span));
        }
    }

    /// Looks up the names in a condition. None if something is wrong with it, which has been told.
    pub(super) fn meaning(&mut self, written: &Written, conditions: &Conditions) -> Option<Meaning> {
        let mut entries: Vec<(Str, Span, Option<Meaning>)> = Vec::new();
        for item in &written.items {
            let meaning = match &item.kind {
                ItemKind::Question(question) => question.as_ref().map(Meaning::question),
                ItemKind::Group { description, written } => {
                    self.meaning(written, conditions).map(|meaning| meaning.named(item.id.clone(), description.clone()))
                }
            };
            self.enter(&mut entries, (item.id.clone(), item.place, meaning), item.is_lettered);
        }
        for text in &written.uses {
            let meaning = conditions.get(&text.says);
            if meaning.is_none() {
                self.unknown_condition(text, conditions);
            }
            let meaning = meaning.cloned().flatten();
            self.enter(&mut entries, (text.says.clone(), text.span, meaning), false);
        }
        let meaning = match &written.expr {
            Some((text, Some(expr))) => self.expression(text, expr, &entries),
            // Its mistake has been told.
            Some((_, None)) => None,
            None => joined(written.join, entries.iter().map(|(_, _, meaning)| meaning.clone()).collect()),
        };
        meaning.filter(|_| entries.iter().all(|(_, _, meaning)| meaning.is_some()))
    }

    fn enter(
        &mut self,
        entries: &mut Vec<(Str, Span, Option<Meaning>)>,
        entry: (Str, Span, Option<Meaning>),
        is_lettered: bool,
    ) {
        if let Some((_, earlier, _)) = entries.iter().find(|(id, ..)| *id == entry.0) {
            let letter = if is_lettered { " Predicates without a name are called A, B, C and so on." } else { "" };
            let detail = format!("The name {:?} is taken already, at {}.{letter}", &*entry.0, self.line(*earlier));
            self.diagnostics.push(Code(1118).error("Duplicate name", detail).at(entry.1));
            return;
        }
        entries.push(entry);
    }

    fn unknown_condition(&mut self, text: &Text, conditions: &Conditions) {
        let known: Vec<String> = conditions.keys().map(|id| format!("{id:?}")).collect();
        let advice = did_you_mean(&text.says, conditions.keys().map(Str::as_str));
        let listed = if known.is_empty() {
            "There are none in this module.".to_owned()
        } else {
            format!("It can be {}.", one_of(&known))
        };
        let detail = format!("There is no condition named {:?}. {listed}{advice}", &*text.says);
        self.diagnostics.push(Code(1117).error("Unknown name", detail).at(text.span));
    }

    fn expression(&mut self, text: &Text, expr: &Expr, entries: &[(Str, Span, Option<Meaning>)]) -> Option<Meaning> {
        let names = expr.names();
        let mut all_known = true;
        for (name, at) in &names {
            if entries.iter().any(|(id, ..)| id == *name) {
                continue;
            }
            all_known = false;
            let (span, offset) = text.place(at);
            let known: Vec<String> = entries.iter().map(|(id, ..)| id.to_string()).collect();
            let advice = did_you_mean(name, entries.iter().map(|(id, ..)| id.as_str()));
            let detail =
                format!("There is nothing named {:?} here. It can be {}.{advice}{offset}", &***name, one_of(&known));
            self.diagnostics.push(Code(1117).error("Unknown name", detail).at(span));
        }
        for (id, place, _) in entries {
            if !names.iter().any(|(name, _)| *name == id) {
                let detail = format!("The expression does not name {:?}, so it is never asked.", &**id);
                self.lints.push(Code(4001).warning("Unused predicate", detail).at(*place));
            }
        }
        if all_known { translated(expr, entries) } else { None }
    }

    /// Complains about a rule or condition that is too large.
    pub(super) fn within_limits(&mut self, meaning: Meaning, written: &Written, label: &Label) -> Option<Meaning> {
        let too_large = if meaning.predicates.max(written.predicates) > MAX_PREDICATES {
            format!("It has {} predicates, with those of the conditions that it uses.", meaning.predicates)
        } else if meaning.depth > MAX_GROUPS {
            format!("Its groups and conditions stand more than {MAX_GROUPS} deep in each other.")
        } else if meaning.questions > MAX_QUESTIONS {
            "Its expressions name the same predicates too often.".to_owned()
        } else {
            return Some(meaning);
        };
        let detail = format!("{too_large} There may be {MAX_PREDICATES} predicates, and groups {MAX_GROUPS} deep.");
        self.diagnostics.push(Code(1119).error("Condition is too large", detail).at(label.span));
        None
    }
}

/// The blocks of predicates. Only the native syntax tells a second label from what stands in a block; in JSON, what holds nothing but
/// objects are labels: no argument is an object.
fn predicates_in(block: &Block, content: &[Block]) -> Vec<Block> {
    if let Some((_, blocks)) = block.body.native_items() {
        let labelled = |block: &&Block| block.kind.name == "predicate" && !block.labels.is_empty();
        return blocks.iter().filter(labelled).cloned().collect();
    }
    let mut found = Vec::new();
    for block in content.iter().filter(|block| block.kind.name == "predicate") {
        let (attributes, _) = block.body.just_attributes();
        let holds_bodies = |expr: &ExprKind| match expr {
            ExprKind::Object(_) => true,
            ExprKind::Tuple(items) => items.iter().all(|item| matches!(item.kind, ExprKind::Object(_))),
            _ => false,
        };
        if attributes.is_empty() || !attributes.iter().all(|attribute| holds_bodies(&attribute.expr.kind)) {
            found.push(block.clone());
            continue;
        }
        let names = attributes.iter().map(|attribute| &attribute.name.name);
        let schema = names.fold(BodySchema::new(), |schema, name| schema.block(name, &[]));
        for mut inner in block.body.content(&schema).0.blocks {
            let label = Label { text: inner.kind.name.clone(), span: inner.kind.span };
            inner.labels = block.labels.iter().cloned().chain([label]).collect();
            inner.kind = block.kind.clone();
            found.push(inner);
        }
    }
    found
}

impl Meaning {
    fn question(question: &Arc<Question>) -> Self {
        Self { logic: Logic::Ask(Arc::clone(question)), predicates: 1, questions: 1, depth: 0 }
    }

    /// With a name of its own.
    pub(super) fn named(self, id: Str, description: Option<Str>) -> Self {
        let named = Named { id, description, logic: self.logic };
        Self { logic: Logic::Named(Arc::new(named)), depth: self.depth + 1, ..self }
    }
}

fn joined(join: Join, meanings: Vec<Option<Meaning>>) -> Option<Meaning> {
    let meanings: Vec<Meaning> = meanings.into_iter().collect::<Option<_>>()?;
    let sum = |count: fn(&Meaning) -> usize| meanings.iter().map(count).fold(0, usize::saturating_add);
    let (predicates, questions) = (sum(|meaning| meaning.predicates), sum(|meaning| meaning.questions));
    let depth = meanings.iter().map(|meaning| meaning.depth).max().unwrap_or(0);
    let logic: Vec<Logic> = meanings.into_iter().map(|meaning| meaning.logic).collect();
    let logic = match join {
        Join::And => Logic::All(logic),
        Join::Or => Logic::Any(logic),
        Join::Not => Logic::NoneOf(logic),
    };
    Some(Meaning { logic, predicates, questions, depth })
}

/// An expression as logic. How many predicates it has is what the entries have, however often it names them.
fn translated(expr: &Expr, entries: &[(Str, Span, Option<Meaning>)]) -> Option<Meaning> {
    fn part(expr: &Expr, entries: &[(Str, Span, Option<Meaning>)]) -> Option<Meaning> {
        let all = |operands: &[Expr]| operands.iter().map(|operand| part(operand, entries)).collect();
        match expr {
            Expr::Or(operands) => joined(Join::Or, all(operands)),
            Expr::And(operands) => joined(Join::And, all(operands)),
            Expr::Not(operand) => joined(Join::Not, vec![part(operand, entries)]),
            Expr::Constant(value) => {
                Some(Meaning { logic: Logic::Constant(*value), predicates: 0, questions: 1, depth: 0 })
            }
            Expr::Name { name, .. } => entries.iter().find(|(id, ..)| id == name)?.2.clone(),
        }
    }
    let meaning = part(expr, entries)?;
    let predicates = entries.iter().filter_map(|(_, _, meaning)| meaning.as_ref()).map(|meaning| meaning.predicates);
    Some(Meaning { predicates: predicates.fold(0, usize::saturating_add), ..meaning })
}

/// The name of a predicate that has none: A to Z, AA, AB and so on.
fn letter(at: usize) -> Str {
    let mut letters = Vec::new();
    let mut rest = at + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(b'A' + (rest % 26) as u8);
        rest /= 26;
    }
    letters.iter().rev().map(|byte| char::from(*byte)).collect::<String>().into()
}
