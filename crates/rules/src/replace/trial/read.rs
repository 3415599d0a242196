//! Files of cases: what may stand in them, and reading them. Values are expressions without references, so that `sensitive("…")` can say what
//! must not be shown.

use std::collections::BTreeMap;

use groma_lang::eval::{CallSettings, FunctionLookup, Resolved, Scope, evaluate};
use groma_lang::func::registry::{self, Place};
use groma_model::address::{AbsInstance, AddressError, InstanceKey, ModuleInstance, Provider, Resource, ResourceMode};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::span::{SourceMap, Span};
use groma_model::text::{Str, suggestion};
use groma_model::value::{Entries, Value};
use groma_syntax::ast::Traversal;
use groma_syntax::body::{Attribute, Block, Body, BodySchema, Content};
use groma_syntax::is_identifier;

use super::{Around, Expected, ExpectedOf, Outcome, Trial, Written};
use crate::replace::case::{Attached, Cause};
use crate::replace::eval::Verdict;
use crate::replace::path::{FieldPath, FieldStep};
use crate::replace::predicate::state_check::{NoOutside, function_problem};
use crate::replace::truth::Truth;

const CAUSES: [Cause; 4] = [Cause::CannotUpdate, Cause::Tainted, Cause::Requested, Cause::Triggered];
const VERDICTS: [Verdict; 5] =
    [Verdict::True, Verdict::False, Verdict::Unknown, Verdict::Error, Verdict::NotApplicable];
/// What is planned for another object, and whether it still holds this one then.
const ACTIONS: [(&str, Truth); 5] = [
    ("none", Truth::True),
    ("update", Truth::True),
    ("replace", Truth::False),
    ("delete", Truth::False),
    ("deferred", Truth::Unknown),
];
const META: [&str; 6] =
    ["provider", "provider_version", "workspace", "replace_reason", "replace_paths", "legacy_type_system"];

/// Reads a file of cases. What is wrong with one case leaves the others.
pub fn read(map: &SourceMap, body: &Body) -> (Vec<Trial>, Diagnostics) {
    let mut reader = Reader::default();
    let content = reader.content(body, &BodySchema::new().block("case", &["name"]));
    let mut names: BTreeMap<Str, Span> = BTreeMap::new();
    let mut trials = Vec::new();
    for block in &content.blocks {
        let Some(label) = block.labels.first() else { continue };
        if let Some(earlier) = names.insert(label.text.clone(), label.span) {
            let line = map.start(earlier).line;
            let detail = format!("There is a case named {:?} already, in line {line}.", label.text.as_str());
            reader.diagnostics.push(Diagnostic::error("Duplicate case", detail).at(label.span));
            continue;
        }
        trials.extend(reader.case(block, &label.text, label.span));
    }
    if content.blocks.is_empty() && !reader.diagnostics.has_errors() {
        let detail = "A file of cases has blocks like case \"the same name\" { … }. There is none in this one.";
        reader.diagnostics.push(Diagnostic::error("No cases", detail).at(content.missing_item_span));
    }
    (trials, reader.diagnostics)
}

#[derive(Default)]
struct Reader {
    diagnostics: Diagnostics,
}

impl Reader {
    fn content(&mut self, body: &Body, schema: &BodySchema) -> Content {
        let (content, found) = body.content(schema);
        self.diagnostics.extend(found);
        content
    }

    fn refuse(&mut self, summary: &str, detail: impl Into<String>, place: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(place));
    }

    fn case(&mut self, block: &Block, name: &Str, place: Span) -> Option<Trial> {
        let before = self.diagnostics.len();
        let schema = BodySchema::new().required("resource").required("old").required("new");
        let optional = ["update", "meta", "dependents", "references", "siblings", "order"];
        let schema = optional.into_iter().fold(schema, BodySchema::optional).block("rule", &["id"]);
        let content = self.content(&block.body, &schema);
        let address = content.attr("resource").and_then(|attribute| self.address(attribute));
        let [old, new, update] = ["old", "new", "update"].map(|name| self.object(content.attr(name)));
        let meta = content.attr("meta").and_then(|attribute| Some((self.entries(attribute)?, attribute.expr.span)));
        let around = self.around(&content);
        let expected = self.expected(&content, block.header_span);
        let mut trial = Trial {
            name: name.clone(),
            place,
            provider: Provider::implied(address.as_ref()?.instance.resource.ty.split('_').next()?).ok()?,
            address: address?,
            provider_version: None,
            workspace: "default".to_owned(),
            cause: Cause::CannotUpdate,
            legacy_type_system: false,
            old: old?,
            new: new?,
            update,
            replace_paths: None,
            around,
            expected,
        };
        if let Some((meta, place)) = meta {
            self.meta(&mut trial, &meta, place);
        }
        (self.diagnostics.len() == before).then_some(trial)
    }

    fn value(&mut self, attribute: &Attribute) -> Option<Value> {
        let (value, found) = evaluate(&attribute.expr, &OnlyFunctions);
        let failed = found.has_errors();
        self.diagnostics.extend(found);
        (!failed).then_some(value)
    }

    /// An address, or a type, which stands for some object of it.
    fn address(&mut self, attribute: &Attribute) -> Option<AbsInstance> {
        let text = self.text(attribute)?;
        if is_identifier(&text) {
            let resource = Resource::managed(text.as_str(), "example");
            return Some(resource.instance(InstanceKey::None).absolute(ModuleInstance::root()));
        }
        let parsed = text.parse().map_err(|problem: AddressError| problem.detail);
        let managed = |address: AbsInstance| match address.instance.resource.mode {
            ResourceMode::Managed => Ok(address),
            _ => Err("Only managed resources are replaced.".to_owned()),
        };
        match parsed.and_then(managed) {
            Ok(address) => Some(address),
            Err(detail) => {
                let detail = format!("{text:?} is neither a resource type nor the address of an object: {detail}");
                self.refuse("Invalid address", detail, attribute.expr.span);
                None
            }
        }
    }

    fn text(&mut self, attribute: &Attribute) -> Option<String> {
        let value = self.value(attribute)?.unmark_deep().0;
        let text = value.as_str().map(str::to_owned);
        if text.is_none() {
            self.unsuitable(&attribute.name.name, "a string", attribute.expr.span);
        }
        text
    }

    fn unsuitable(&mut self, name: &str, wanted: &str, place: Span) {
        self.refuse("Unsuitable value", format!("{name} must be {wanted}."), place);
    }

    fn object(&mut self, attribute: Option<&Attribute>) -> Option<Written> {
        let attribute = attribute?;
        let value = self.value(attribute)?;
        if value.as_entries().is_none() {
            self.unsuitable(&attribute.name.name, "an object, as in { name = \"web\" }", attribute.expr.span);
            return None;
        }
        Some(Written { value, place: attribute.name.span })
    }

    fn entries(&mut self, attribute: &Attribute) -> Option<Entries> {
        let value = self.value(attribute)?.unmark_deep().0;
        let entries = value.as_entries().cloned();
        if entries.is_none() {
            self.unsuitable(&attribute.name.name, "an object", attribute.expr.span);
        }
        entries
    }

    fn around(&mut self, content: &Content) -> Option<Around> {
        let siblings = content.attr("siblings").and_then(|attribute| {
            let value = self.value(attribute)?.unmark_deep().0;
            let count = value.as_number().and_then(|number| number.to_string().parse::<usize>().ok());
            if count.is_none() {
                self.unsuitable("siblings", "a whole number, itself included", attribute.expr.span);
            }
            count
        });
        let [dependents, references] = ["dependents", "references"].map(|name| self.attached(content.attr(name)));
        let is_told = siblings.is_some() || dependents.is_some() || references.is_some();
        is_told.then(|| Around {
            dependents: dependents.unwrap_or_default(),
            references: references.unwrap_or_default(),
            siblings: siblings.unwrap_or(1),
        })
    }

    /// `{ "aws_lb_listener.http" = "update" }`
    fn attached(&mut self, attribute: Option<&Attribute>) -> Option<Vec<Attached>> {
        let attribute = attribute?;
        let entries = self.entries(attribute)?;
        let mut attached = Vec::new();
        for (address, action) in entries.iter() {
            if address.parse::<AbsInstance>().is_err() {
                let detail = format!("{:?} is not the address of an object.", address.as_str());
                self.refuse("Invalid address", detail, attribute.expr.span);
                continue;
            }
            let words = ACTIONS.map(|(word, _)| word);
            let name = format!("What is planned for {address}");
            let holds = action.as_str().and_then(|text| ACTIONS.into_iter().find(|(word, _)| *word == text));
            match holds {
                Some((_, holds)) => {
                    attached.push(Attached { address: address.to_string(), holds, outside_plan: false });
                }
                None => self.unsuitable(&name, &one_of(&words), attribute.expr.span),
            }
        }
        Some(attached)
    }

    fn meta(&mut self, trial: &mut Trial, meta: &Entries, place: Span) {
        for (name, value) in meta.iter() {
            let text = value.as_str();
            match (name.as_str(), text) {
                ("provider", Some(source)) => match Provider::parse_source(source) {
                    Ok(provider) => trial.provider = provider,
                    Err(problem) => self.refuse(problem.summary, problem.detail, place),
                },
                ("provider_version", Some(version)) => trial.provider_version = Some(version.to_owned()),
                ("workspace", Some(name)) => name.clone_into(&mut trial.workspace),
                ("replace_reason", _) => match CAUSES.into_iter().find(|cause| text == Some(cause.name())) {
                    Some(cause) => trial.cause = cause,
                    None => self.unsuitable("replace_reason", &one_of(&CAUSES.map(Cause::name)), place),
                },
                ("replace_paths", _) => trial.replace_paths = Some(self.paths(value, place)),
                ("legacy_type_system", _) if value.as_bool().is_some() => {
                    trial.legacy_type_system = value.as_bool() == Some(true);
                }
                ("legacy_type_system", _) => self.unsuitable(name, "true or false", place),
                (known, _) if META.contains(&known) => self.unsuitable(known, "a string", place),
                (unknown, _) => {
                    let meant =
                        suggestion(unknown, META).map_or(String::new(), |meant| format!(" Did you mean {meant:?}?"));
                    let detail =
                        format!("meta has nothing that is called {unknown:?}. It can have {}.{meant}", META.join(", "));
                    self.refuse("Unsupported argument", detail, place);
                }
            }
        }
    }

    /// The attributes that cannot be changed in place.
    fn paths(&mut self, value: &Value, place: Span) -> Vec<Path> {
        let mut paths = Vec::new();
        let Some(items) = value.as_elements() else {
            self.unsuitable("replace_paths", "a list of fields", place);
            return paths;
        };
        for item in items {
            match item.as_str().map(|text| (text, FieldPath::parse(text, None))) {
                Some((_, Ok(path))) => paths.extend(as_path(&path)),
                Some((text, Err(problem))) => self.diagnostics.push(problem.diagnostic(text, None).at(place)),
                None => self.unsuitable("Each of replace_paths", "a string", place),
            }
        }
        paths
    }

    fn expected(&mut self, content: &Content, place: Span) -> Expected {
        let outcome = content.attr("order").and_then(|attribute| {
            let text = self.text(attribute)?;
            let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.name() == text);
            if outcome.is_none() {
                self.unsuitable("order", &one_of(&Outcome::ALL.map(Outcome::name)), attribute.expr.span);
            }
            outcome
        });
        let rules: Vec<ExpectedOf> = content.blocks_of("rule").filter_map(|block| self.expected_of(block)).collect();
        if content.attr("order").is_none() && content.blocks_of("rule").next().is_none() {
            let detail = "A case says what is expected: the order that rules want (order = \"delete_first\"), or what a rule says \
                          (rule \"its-name\" { result = \"true\" }).";
            self.refuse("Nothing is expected", detail, place);
        }
        Expected { outcome, rules }
    }

    fn expected_of(&mut self, block: &Block) -> Option<ExpectedOf> {
        let label = block.labels.first()?;
        let schema = BodySchema::new().optional("result").optional("matched").optional("steps");
        let content = self.content(&block.body, &schema);
        if content.attributes.is_empty() {
            let detail = "Say what the rule is expected to come to: result, matched or steps.";
            self.refuse("Nothing is expected", detail, block.header_span);
        }
        let result = content.attr("result").and_then(|attribute| {
            let value = self.value(attribute)?.unmark_deep().0;
            let text = value.as_str().map(str::to_owned).or_else(|| value.as_bool().map(|truth| truth.to_string()));
            let verdict = VERDICTS.into_iter().find(|verdict| text.as_deref() == Some(verdict.name()));
            if verdict.is_none() {
                self.unsuitable("result", &one_of(&VERDICTS.map(Verdict::name)), attribute.expr.span);
            }
            verdict
        });
        let matched = content.attr("matched").and_then(|attribute| self.texts(attribute));
        let steps = content.attr("steps").and_then(|attribute| self.texts(attribute));
        let matched = matched.map(|names| names.into_iter().collect());
        Some(ExpectedOf { id: label.text.clone(), place: label.span, result, matched, steps })
    }

    fn texts(&mut self, attribute: &Attribute) -> Option<Vec<Str>> {
        let value = self.value(attribute)?.unmark_deep().0;
        let texts = value.as_elements().map(|items| items.iter().map(|item| item.as_str().map(Str::from)).collect());
        let texts: Option<Option<Vec<Str>>> = texts;
        let texts = texts.flatten();
        if texts.is_none() {
            self.unsuitable(&attribute.name.name, "a list of strings", attribute.expr.span);
        }
        texts
    }
}

/// What providers call a field. Elements of sets have no such name.
fn as_path(field: &FieldPath) -> Option<Path> {
    let mut path = Path::root();
    for step in field.steps() {
        path = match step {
            FieldStep::Name(name) => path.attr(name.clone()),
            FieldStep::Index(index) => path.index(usize::try_from(*index).ok()?),
            FieldStep::Key(key) => path.key(key.clone()),
            // As far as it is certain.
            FieldStep::Every => return Some(path),
        };
    }
    Some(path)
}

/// `"a", "b" or "c"`
fn one_of(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    match words.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.join(""),
    }
}

/// Functions that need nothing from outside, and no names.
struct OnlyFunctions;

impl Scope for OnlyFunctions {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        let detail = format!(
            "{:?} means nothing in a case: its objects are written as values. A string is written in quotes.",
            traversal.root.name.as_str()
        );
        Err(Diagnostic::error("No references in cases", detail).at(traversal.span).into())
    }

    fn function(&self, name: &str) -> FunctionLookup<'_> {
        match function_problem(name) {
            Some(_) => {
                let detail = format!("There is no function {name:?} in a case, where nothing is there but values.");
                FunctionLookup::Refused(Box::new(Diagnostic::error("Not allowed in a case", detail)))
            }
            None => registry::find(name, Place::Module).map_or(FunctionLookup::Unknown, FunctionLookup::Core),
        }
    }

    fn call_settings(&self) -> Option<CallSettings<'_>> {
        let base_dir = std::path::Path::new(".");
        Some(CallSettings { environment: &NoOutside, base_dir, plan_time: None, pure_only: true })
    }
}
