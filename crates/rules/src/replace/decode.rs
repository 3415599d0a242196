//! Blocks about the order of replacements, as the files of one directory have them: `replace_rule`, `condition`, `attachment` and
//! `replace_settings`. All files are read before names are looked up, and reading goes on behind every mistake.

mod arguments;
mod conditions;
mod kinds;
mod lint;
mod literal;
mod logic;
mod settings;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::address::{Module, Provider};
use groma_model::diag::Diagnostics;
use groma_model::span::{SourceMap, Span};
use groma_model::text::Str;
use groma_model::version::Constraints;
use groma_syntax::body::{Block, Label};
use groma_syntax::is_identifier;

use self::arguments::Arguments;
use self::literal::Text;
use self::logic::Conditions;
use self::words::clean;
use super::path::FieldPath;
use super::problem::Code;
use super::rule::{Attachment, Behavior, OnError, OnUnknown, Order, Origin, ReplaceRule, ReplaceSettings};
use crate::glob::Glob;
use crate::pattern::Pattern;

const ORDERS: &[(&str, Order)] = &[("delete_first", Order::DeleteFirst), ("create_first", Order::CreateFirst)];
const BEHAVIORS: &[(&str, Behavior)] = &[("warn", Behavior::Warn), ("auto", Behavior::Auto)];
const ON_UNKNOWN: &[(&str, OnUnknown)] = &[
    ("warn", OnUnknown::Warn),
    ("match", OnUnknown::Match),
    ("no_match", OnUnknown::NoMatch),
    ("error", OnUnknown::Error),
];
const ON_ERROR: &[(&str, OnError)] = &[("warn", OnError::Warn), ("fail", OnError::Fail)];

/// The arguments of a rule, but for those of its condition.
const RULE: &[&str] = &[
    "resource",
    "provider",
    "provider_version",
    "target",
    "field",
    "fields",
    "order",
    "behavior",
    "on_unknown",
    "on_error",
    "replace_dependents",
    "reasoning",
    "suggestions",
    "learn_more",
];

/// What the files of a directory say about replacements, whichever modules have that directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decoded {
    pub(crate) rules: Vec<Located>,
    /// With the place of the block.
    pub(crate) settings: Option<(ReplaceSettings, Span)>,
    pub(crate) attachments: Vec<Arc<Attachment>>,
    /// Hints, for those who ask for them.
    pub(crate) lints: Diagnostics,
}

/// A rule, and where the arguments stand that are checked later.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    /// As if it stood in the root module.
    pub(crate) rule: ReplaceRule,
    pub(crate) places: Places,
}

/// Where arguments of a rule stand.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// `resource`
    pub(crate) resource: Span,
    /// Each of `target`.
    pub(crate) targets: Vec<Span>,
}

/// Reads blocks and collects what is wrong with them.
struct Reader<'m> {
    map: &'m SourceMap,
    diagnostics: Diagnostics,
    lints: Diagnostics,
    /// What the names of attachments stand for.
    attachments: Vec<Arc<Attachment>>,
}

/// Reads the blocks of a directory, in the order of its files.
pub(crate) fn directory(map: &SourceMap, blocks: &[Block]) -> (Decoded, Diagnostics) {
    let mut reader =
        Reader { map, diagnostics: Diagnostics::new(), lints: Diagnostics::new(), attachments: Vec::new() };
    let of = |kind: &'static str| blocks.iter().filter(move |block| block.kind.name == *kind);
    for block in of("attachment") {
        reader.add_attachment(block);
    }
    let conditions = reader.without_duplicates(of("condition").collect(), "condition");
    let conditions = reader.conditions(&conditions);
    let mut rules = Vec::new();
    for block in reader.without_duplicates(of("replace_rule").collect(), "rule") {
        rules.extend(reader.rule(block, &conditions));
    }
    let mut settings = None;
    for block in of("replace_settings") {
        let read = reader.settings(block);
        match settings {
            None => settings = Some((read, block.header_span)),
            Some((_, earlier)) => {
                let detail = format!("There is a replace_settings block already, at {}.", reader.line(earlier));
                reader.diagnostics.push(Code(1118).error("Duplicate settings", detail).at(block.header_span));
            }
        }
    }
    let Reader { diagnostics, lints, attachments, .. } = reader;
    (Decoded { rules, settings, attachments, lints }, diagnostics)
}

impl Reader<'_> {
    /// `file:line`
    fn line(&self, span: Span) -> String {
        format!("{}:{}", self.map.file(span.file).name(), self.map.start(span).line)
    }

    /// The blocks whose label is not taken already.
    fn without_duplicates<'b>(&mut self, blocks: Vec<&'b Block>, kind: &str) -> Vec<&'b Block> {
        let mut first: BTreeMap<&Str, Span> = BTreeMap::new();
        let mut kept = Vec::with_capacity(blocks.len());
        for block in blocks {
            let Some(label) = block.labels.first() else { continue };
            match first.get(&label.text) {
                None => {
                    first.insert(&label.text, label.span);
                    kept.push(block);
                }
                Some(earlier) => {
                    let (id, place) = (label.text.as_str(), self.line(*earlier));
                    let detail = format!("There is a {kind} named {id:?} already, at {place}.");
                    self.diagnostics.push(Code(1118).error("Duplicate name", detail).at(label.span));
                }
            }
        }
        kept
    }

    /// A field, from its text.
    fn path(&mut self, text: &Text) -> Option<FieldPath> {
        match FieldPath::parse(&text.says, Some(text.span)) {
            Ok(path) => {
                self.lints.extend(path.lints());
                Some(path)
            }
            Err(problem) => {
                self.diagnostics.push(problem.diagnostic(&text.says, Some(text.span)));
                None
            }
        }
    }

    fn rule(&mut self, block: &Block, conditions: &Conditions) -> Option<Located> {
        let label = block.labels.first()?;
        let before = self.diagnostics.len();
        self.check_rule_id(label);
        let (arguments, written) = self.condition_in(block, RULE, 0);
        let fields = self.gate(&arguments);
        let resource = self.resource(&arguments);
        let (targets, places) = self.targets(&arguments).into_iter().unzip();
        self.replace_dependents(&arguments);
        let rule = ReplaceRule {
            id: label.text.clone(),
            place: Some(label.span),
            module: Module::root(),
            origin: Origin::Root,
            resource: resource.as_ref().map_or_else(|| Glob::new(""), |(glob, _)| glob.clone()),
            provider: self.provider(&arguments),
            provider_version: self.provider_version(&arguments),
            targets,
            fields,
            order: self.choice(&arguments, "order", ORDERS).unwrap_or(Order::DeleteFirst),
            behavior: self.choice(&arguments, "behavior", BEHAVIORS).unwrap_or_default(),
            on_unknown: self.choice(&arguments, "on_unknown", ON_UNKNOWN),
            on_error: self.choice(&arguments, "on_error", ON_ERROR),
            replace_dependents: self.globs(&arguments, "replace_dependents"),
            is_about_links: false,
            logic: None,
            reasoning: self.words(&arguments, "reasoning").map(|text| clean(&text)),
            suggestions: self.texts(&arguments, "suggestions").iter().map(|text| clean(&text.says)).collect(),
            learn_more: self.words(&arguments, "learn_more").map(|text| clean(&text)),
        };
        let logic = if written.is_empty() {
            None
        } else {
            let meaning = self.meaning(&written, conditions);
            Some(meaning.and_then(|meaning| self.within_limits(meaning, &written, label))?.logic)
        };
        let rule = ReplaceRule { logic, ..rule };
        self.lint(&rule, label.span);
        if self.diagnostics.len() > before {
            return None;
        }
        Some(Located { rule, places: Places { resource: resource?.1, targets: places } })
    }

    fn check_rule_id(&mut self, label: &Label) {
        let fits = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
        if label.text.is_empty() || !label.text.bytes().all(fits) {
            let detail = format!(
                "{:?} cannot be the name of a rule: it must be of small letters, digits, \".\", \"_\" and \"-\".",
                &*label.text
            );
            self.diagnostics.push(Code(1104).error("Invalid name", detail).at(label.span));
        }
    }

    /// The fields that must be the cause of a replacement.
    fn gate(&mut self, arguments: &Arguments) -> Vec<FieldPath> {
        if let (Some(one), Some(several)) = (arguments.given("field"), arguments.given("fields")) {
            let later = if one.span.start < several.span.start { several } else { one };
            let detail = "Either field or fields says what must be the cause of the replacement, not both.";
            self.diagnostics.push(Code(1101).error("Both field and fields", detail).at(later.name_span));
        }
        let mut fields: Vec<FieldPath> = self.field(arguments, "field").into_iter().collect();
        fields.extend(self.fields(arguments, "fields"));
        fields
    }

    fn resource(&mut self, arguments: &Arguments) -> Option<(Glob, Span)> {
        self.required(arguments, "resource");
        let text = self.text(arguments, "resource")?;
        if !is_identifier(&text.says.replace(['*', '?'], "x")) {
            let detail = format!(
                "{:?} is no resource type. Write a type such as \"aws_instance\", or a pattern of types such as \"aws_*\"; addresses go into \
                 target.",
                &*text.says
            );
            self.diagnostics.push(Code(1104).error("Invalid resource type", detail).at(text.span));
            return None;
        }
        Some((Glob::new(text.says.clone()), text.span))
    }

    fn targets(&mut self, arguments: &Arguments) -> Vec<(Pattern, Span)> {
        let mut targets = Vec::new();
        for text in self.texts(arguments, "target") {
            match Pattern::parse(&text.says) {
                Ok(pattern) => targets.push((pattern, text.span)),
                Err(problem) => {
                    let detail = format!("{:?} does not say which resources are meant: {problem}.", &*text.says);
                    self.diagnostics.push(Code(1104).error("Invalid pattern", detail).at(text.span));
                }
            }
        }
        targets
    }

    fn provider(&mut self, arguments: &Arguments) -> Option<Str> {
        let text = self.text(arguments, "provider")?;
        if let Err(problem) = Provider::parse_source(&text.says) {
            self.diagnostics.push(Code(1104).error(problem.summary, problem.detail.clone()).at(text.span));
        }
        Some(text.says)
    }

    fn provider_version(&mut self, arguments: &Arguments) -> Option<Str> {
        let text = self.text(arguments, "provider_version")?;
        if let Err(problem) = Constraints::parse_provider(&text.says) {
            let detail = format!("{:?} does not say which versions are meant: {}", &*text.says, problem.0);
            self.diagnostics.push(Code(1104).error("Invalid version constraint", detail).at(text.span));
        }
        Some(text.says)
    }

    /// Dependents are replaced only where the object is gone for a while.
    fn replace_dependents(&mut self, arguments: &Arguments) {
        let order = arguments.get("order").map(literal::Literal::value);
        let creates_first = order.is_some_and(|order| order.as_str() == Some(Order::CreateFirst.name()));
        if let Some(argument) = arguments.given("replace_dependents").filter(|_| creates_first) {
            let detail = "Dependents are replaced with an object that is deleted first, and this rule wants it to be created first.";
            self.diagnostics.push(Code(1101).error("Unsupported argument", detail).at(argument.name_span));
        }
    }
}
