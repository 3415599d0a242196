//! Objects and predicates that the benches measure: small ones as they usually are, and large ones as they can be at worst.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a bench may panic")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_lang::load::{ModuleNode, ModuleRequest, ModuleTree, SourceTree, load_module};
use groma_model::address::{AbsInstance, InstanceKey, ModuleInstance, Provider, Resource};
use groma_model::diag::Diagnostics;
use groma_model::path::Path as ValuePath;
use groma_model::schema::{Attribute, Block, Schema};
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_rules::replace::case::{Case, Cause};
use groma_rules::replace::compare::IgnoreOrder;
use groma_rules::replace::path::FieldPath;
use groma_rules::replace::predicate::Predicate;
use groma_rules::replace::predicate::attached::{HasAttached, Kind, Parameters, Via};
use groma_rules::replace::predicate::claim::{Claim, ClaimReused, Part};
use groma_rules::replace::predicate::field_changed::{FieldChanged, Threshold};
use groma_rules::replace::predicate::field_equals::{FieldEquals, Literal};
use groma_rules::replace::predicate::field_matches::{FieldMatches, TextPattern};
use groma_rules::replace::predicate::state_check::StateCheck;
use groma_rules::replace::rule::ReplaceRule;

/// An object that is to be replaced.
pub(crate) struct Scene {
    address: AbsInstance,
    provider: Provider,
    schema: Schema,
    old: Value,
    new: Value,
    replace_paths: Vec<ValuePath>,
}

/// A predicate with a name.
pub(crate) struct Asked {
    /// `field_changed/small`
    pub(crate) name: &'static str,
    /// What is asked.
    pub(crate) predicate: Box<dyn Predicate>,
}

fn attribute(ty: Type) -> Attribute {
    Attribute { optional: true, ..Attribute::of_type(ty) }
}

impl Scene {
    /// An object with 5,000 leaves, lists of 1,000 and 10,000 elements and a text of 1 MiB.
    pub(crate) fn new() -> Self {
        let numbers = |count: i64, turned: bool| -> Value {
            let number = |at: i64| Value::from(if turned { count - at } else { at + 1 });
            Value::list(Type::Number, (0..count).map(number).collect())
        };
        let texts = |count: usize, turned: bool| -> Value {
            let mut texts: Vec<Value> =
                (0..count).map(|at| Value::from(format!("10.0.{}.{}", at / 256, at % 256))).collect();
            if turned {
                texts.reverse();
            }
            Value::list(Type::String, texts)
        };
        let leaves = |last: &str| {
            let leaf =
                |at: usize| (Str::from(format!("key{at:04}")), Value::from(if at == 4999 { last } else { "value" }));
            Value::map(Type::String, (0..5000).map(leaf).collect())
        };
        let object = |changed: bool| {
            Value::object([
                ("name", Value::from(if changed { "prod-2" } else { "prod-1" })),
                ("zone", "a".into()),
                ("size", Value::from(if changed { 120 } else { 100 })),
                ("ports", numbers(1000, changed)),
                ("many", texts(10_000, changed)),
                ("leaves", leaves(if changed { "b" } else { "a" })),
                ("text", Value::from("a".repeat(1 << 20) + "b")),
            ])
        };
        let (old, new) = (object(false), object(true));
        let Type::Object(ty) = old.ty() else { unreachable!("an object") };
        let attributes = ty.iter().map(|(name, field)| (name.clone(), attribute(field.ty.clone()))).collect();
        Self {
            address: Resource::managed("sim_box", "a").instance(InstanceKey::None).absolute(ModuleInstance::root()),
            provider: Provider::parse_source("example/sim").unwrap(),
            schema: Schema { version: 0, block: Block { attributes, ..Block::default() } },
            old,
            new,
            replace_paths: vec![ValuePath::root().attr("name")],
        }
    }

    /// As rules see it.
    pub(crate) fn case(&self) -> Case<'_> {
        Case {
            address: &self.address,
            provider: &self.provider,
            provider_version: None,
            workspace: "default",
            schema: &self.schema,
            old: &self.old,
            upd: &self.new,
            new: &self.new,
            config: &self.new,
            replace_paths: &self.replace_paths,
            cause: Cause::CannotUpdate,
            legacy_type_system: false,
            neighbours: None,
        }
    }
}

fn path(text: &str) -> FieldPath {
    FieldPath::parse(text, None).unwrap()
}

fn changed(name: &'static str, field: &str, ignore_order: IgnoreOrder) -> Asked {
    Asked { name, predicate: Box::new(FieldChanged { ignore_order, ..FieldChanged::new(path(field)) }) }
}

fn equals(name: &'static str, field: &str, values: Vec<Value>) -> Asked {
    let values = values.into_iter().map(|value| Literal { value, place: None }).collect();
    Asked { name, predicate: Box::new(FieldEquals::new(path(field), values)) }
}

fn matches(name: &'static str, field: &str, pattern: &str) -> Asked {
    let predicate = FieldMatches::new(path(field), TextPattern::Regex(pattern.to_owned()), false).unwrap();
    Asked { name, predicate: Box::new(predicate) }
}

fn state_check(name: &'static str, condition: &str) -> Asked {
    let mut map = SourceMap::new();
    let file = map.add("bench", condition);
    let condition = groma_syntax::parse_expr(&map, file).value;
    Asked { name, predicate: Box::new(StateCheck::new(Arc::new(condition)).unwrap()) }
}

fn claim(name: &'static str, field: &str) -> Asked {
    let claim = Claim(vec![Part { path: path(field), range: false }]);
    Asked { name, predicate: Box::new(ClaimReused::new(vec![claim], Vec::new())) }
}

fn attached(name: &'static str, collection: &str) -> Asked {
    let kind = Kind { name: Str::from(collection), place: None, via: Via::Embedded, aliases: Arc::default() };
    let given = Parameters { resource_types: vec![kind], check_conflicts: true, ..Parameters::default() };
    Asked { name, predicate: Box::new(HasAttached::new(given).unwrap()) }
}

/// A rule that joins so many predicates, half of which hold.
#[allow(dead_code, reason = "not every bench is about expressions")]
pub(crate) fn joined(expr: &str, size: usize) -> Arc<ReplaceRule> {
    let mut text = format!("replace_rule \"joined\" {{\n  resource = \"sim_box\"\n  expr = \"{expr}\"\n");
    for at in 0..size {
        let value = if at % 2 == 0 { "a" } else { "b" };
        writeln!(
            text,
            "  predicate \"field_equals\" \"p{at}\" {{\n    field = \"zone\"\n    value = \"{value}\"\n  }}"
        )
        .unwrap();
    }
    text.push_str("}\n");
    let mut map = SourceMap::new();
    let (module, _) = load_module(&mut map, &OneFile(text.clone()), Path::new("."));
    let root = ModuleNode {
        path: Vec::new(),
        module: Arc::new(module),
        children: BTreeMap::new(),
        source: None,
        remote: false,
        call_span: None,
    };
    let (rules, found) = groma_rules::load(&mut map, &OneFile(text), &ModuleTree { root });
    assert!(!found.has_errors(), "{found:?}");
    Arc::clone(&rules.replace.rules()[0])
}

/// Rules, and nothing that they are about.
struct OneFile(String);

impl SourceTree for OneFile {
    fn list_files(&self, _: &Path) -> io::Result<Vec<String>> {
        Ok(vec!["rules.groma.hcl".to_owned()])
    }

    fn read_file(&self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(self.0.clone().into_bytes())
    }

    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics> {
        Err(request.not_installed().into())
    }
}

/// Predicates about single values.
pub(crate) fn small() -> Vec<Asked> {
    let threshold = Threshold::of(&"10%".into()).ok();
    let by_share = FieldChanged { threshold, ..FieldChanged::new(path("size")) };
    vec![
        changed("field_changed/small", "name", IgnoreOrder::No),
        Asked { name: "field_changed/threshold", predicate: Box::new(by_share) },
        equals("field_equals/small", "zone", vec!["b".into(), "a".into()]),
        matches("field_matches/small", "name", "^prod-"),
        state_check("state_check/small", r#"old.size > 10 && changed("zone")"#),
        claim("claim_reused/small", "name"),
    ]
}

/// Predicates about as much as there may be.
pub(crate) fn large() -> Vec<Asked> {
    vec![
        changed("field_changed/order_of_1000", "ports", IgnoreOrder::Outer),
        changed("field_changed/order_of_10000", "many", IgnoreOrder::Outer),
        changed("field_changed/each_of_10000", "many[*]", IgnoreOrder::No),
        changed("field_changed/5000_leaves", "leaves", IgnoreOrder::No),
        equals("field_equals/each_of_10000", "many[*]", vec!["x".into(), "y".into()]),
        matches("field_matches/1MiB", "text", "(a[ab])+[0-9]"),
        // These have to read all of it.
        matches("field_matches/1MiB_to_its_end", "text", "(a+)+$"),
        matches("field_matches/1MiB_all_of_it", "text", "^[a-z]*$"),
        matches("field_matches/1MiB_of_one_of_several", "text", "(ab|ba)a|bb|b(c|d)"),
        matches("field_matches/each_of_10000", "many[*]", "^11"),
        state_check("state_check/each_of_1000", "alltrue([for port in old.ports : port > 0])"),
        claim("claim_reused/each_of_10000", "many[*]"),
        attached("has_attached_resources/each_of_10000", "many"),
    ]
}
