//! Rules from texts: which of them is about what, what they say about objects, and what is wrong with them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use groma_lang::config::ProviderSource;
use groma_lang::environment::{Environment, FileKind};
use groma_lang::eval::{EmptyScope, evaluate};
use groma_lang::load::{ModuleChain, ModuleRequest, ModuleTree, SourceTree, StaticEvaluator, load_module, load_tree};
use groma_lang::oracle::{NothingExists, ResourceOracle, SchemaSource};
use groma_lang::walk::{Purpose, Settings};
use groma_model::address::{AbsInstance, ResourceMode, Traversal};
use groma_model::diag::Diagnostics;
use groma_model::mark::Mark;
use groma_model::schema::{Attribute, Block, Schema};
use groma_model::span::SourceMap;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::Expr;

use crate::{Rules, Surroundings, Verdict, check, load};

/// Files in memory, and nothing else outside.
struct Texts(BTreeMap<PathBuf, Vec<u8>>);

impl SourceTree for Texts {
    fn list_files(&self, dir: &Path) -> io::Result<Vec<String>> {
        let dir = if dir == Path::new(".") { Path::new("") } else { dir };
        let direct = self.0.keys().filter(|path| path.parent() == Some(dir));
        Ok(direct.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect())
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.get(path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics> {
        request.local_dir().ok_or_else(|| request.not_installed().into())
    }
}

impl Environment for Texts {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        SourceTree::read_file(self, path)
    }

    fn file_kind(&self, _: &Path) -> io::Result<Option<FileKind>> {
        Ok(None)
    }

    fn read_dir(&self, _: &Path) -> io::Result<Vec<(String, FileKind)>> {
        Ok(Vec::new())
    }

    fn working_dir(&self) -> PathBuf {
        "/".into()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        None
    }

    fn now(&self) -> (i64, u32) {
        (0, 0)
    }

    fn random(&self, _: &mut [u8]) {}
}

struct Constants;

impl StaticEvaluator for Constants {
    fn evaluate(&self, _: &ModuleChain<'_>, expr: &Expr, _: &str) -> (Value, Diagnostics) {
        evaluate(expr, &EmptyScope)
    }
}

/// Every resource has a status.
struct Schemas;

impl SchemaSource for Schemas {
    fn provider(&self, _: &ProviderSource) -> Option<Arc<Schema>> {
        None
    }

    fn resource(&self, _: &ProviderSource, _: ResourceMode, _: &str) -> Option<Arc<Schema>> {
        let mut block = Block::default();
        block.attributes.insert("status".into(), Attribute::of_type(Type::String));
        Some(Arc::new(Schema { version: 0, block }))
    }
}

pub(crate) struct Loaded {
    texts: Texts,
    pub(crate) map: SourceMap,
    pub(crate) tree: ModuleTree,
    pub(crate) rules: Rules,
    pub(crate) found: Diagnostics,
}

impl Loaded {
    /// A configuration with two modules, and files of rules.
    fn new(rules: &[(&str, &str)]) -> Self {
        let main = "resource t_vm web { }\nresource t_vm db { count = 2 }\nresource t_disk a { }\nresource u_x x { }\n\
                    module m {\n source = \"./m\"\n for_each = {}\n}\nmodule n {\n source = \"./m\"\n}\n";
        let module = "resource t_vm web { }\nresource t_net only { }\n";
        let mut files = vec![("main.tf", main), ("m/main.tf", module)];
        files.extend(rules);
        Self::of(&files)
    }

    /// A configuration of these files.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let texts = files.iter().map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec())).collect();
        let (texts, mut map) = (Texts(texts), SourceMap::new());
        let (root, mut found) = load_module(&mut map, &texts, Path::new("."));
        let (tree, more) = load_tree(&mut map, &texts, root, &Constants);
        found.extend(more);
        assert!(!found.has_errors(), "{found:?}");
        let (rules, found) = load(&mut map, &texts, &tree);
        Self { texts, map, tree, rules, found }
    }

    fn shown(&self, found: &Diagnostics) -> Vec<String> {
        let line = |diagnostic: &groma_model::diag::Diagnostic| {
            let span = diagnostic.subject.unwrap();
            let severity = if diagnostic.is_error() { "error" } else { "warning" };
            let (file, line) = (self.map.file(span.file).name(), self.map.start(span).line);
            format!("{severity} {file}:{line} {}", diagnostic.summary)
        };
        found.iter().map(line).collect()
    }

    /// The timeout of the rule about an instance, in seconds.
    fn timeout(&self, address: &str) -> Option<u64> {
        self.rules.waits.find(&instance(address)).map(|rule| rule.says.timeout.as_secs())
    }

    fn judge(&self, address: &str, object: &Value) -> Verdict {
        let rule = self.rules.waits.find(&instance(address)).unwrap();
        let oracle = NothingExists(Schemas);
        rule.says.judge(object, &Surroundings::of(rule, &self.settings(&oracle)))
    }

    pub(crate) fn settings<'s>(&'s self, oracle: &'s dyn ResourceOracle) -> Settings<'s> {
        Settings {
            purpose: Purpose::Evaluate,
            environment: &self.texts,
            root_dir: Path::new("."),
            workspace: "default",
            plan_time: None,
            pure_only: false,
            lenient: false,
            oracle,
            sources: &self.map,
        }
    }
}

pub(crate) fn instance(address: &str) -> AbsInstance {
    AbsInstance::from_traversal(&Traversal::parse(address).unwrap()).unwrap()
}

fn with_status(status: &str) -> Value {
    Value::object([("status", Value::from(status))])
}

#[test]
fn the_most_exact_rule_wins_and_of_those_the_outermost() {
    let wait = |pattern: &str, seconds: u64| {
        format!("wait \"{pattern}\" {{\n until = self.status == \"up\"\n timeout = \"{seconds}s\"\n}}\n")
    };
    let root = [
        wait("t_*", 1),
        wait("t_vm", 2),
        wait("t_vm.w*", 3),
        wait("t_vm.web", 4),
        wait("t_vm.db[1]", 5),
        wait("module.m.t_vm.web", 6),
        wait("module.m[\\\"k\\\"].t_vm.web", 7),
    ];
    let inner = [wait("t_net", 8), wait("t_vm.web", 9), wait("t_*", 10)];
    let loaded = Loaded::new(&[("a.groma.hcl", &root.concat()), ("m/b.groma.hcl", &inner.concat())]);
    assert_eq!(loaded.shown(&loaded.found), Vec::<String>::new());
    let expected = [
        ("t_vm.web", Some(4)),
        ("t_vm.wide", Some(3)),
        ("t_vm.db[0]", Some(2)),
        ("t_vm.db[1]", Some(5)),
        ("t_disk.a", Some(1)),
        ("u_x.x", None),
        // Said by the root as exactly as by the module itself.
        ("module.m[\"a\"].t_vm.web", Some(6)),
        ("module.m[\"k\"].t_vm.web", Some(7)),
        ("module.n.t_vm.web", Some(9)),
        // Said more exactly by the module.
        ("module.n.t_net.only", Some(8)),
    ];
    for (address, timeout) in expected {
        assert_eq!(loaded.timeout(address), timeout, "{address}");
    }
}

#[test]
fn defaults_and_the_json_syntax() {
    let native = "wait \"t_vm\" {\n until = true\n}\non_create_error \"t_*\" { keep = true }";
    let json = r#"{"wait": {"t_disk.a": {"until": "${self.status == \"up\"}", "interval": "1m30s"}},
                   "on_create_error": {"u_x.x": {"keep": false}}}"#;
    let loaded = Loaded::new(&[("a.groma.hcl", native), ("b.groma.json", json)]);
    assert_eq!(loaded.shown(&loaded.found), Vec::<String>::new());
    let rule = |address| &loaded.rules.waits.find(&instance(address)).unwrap().says;
    assert_eq!(
        (rule("t_vm.web").timeout, rule("t_vm.web").interval),
        (Duration::from_mins(10), Duration::from_secs(5))
    );
    assert_eq!(rule("t_disk.a").interval, Duration::from_secs(90));
    let keep = |address| loaded.rules.on_create_error.find(&instance(address)).map(|rule| rule.says.keep);
    assert_eq!((keep("t_disk.a"), keep("u_x.x"), keep("v.v")), (Some(true), Some(false), None));
    assert!(matches!(loaded.judge("t_disk.a", &with_status("up")), Verdict::Holds));
}

#[test]
fn objects_are_judged_and_nothing_sensitive_is_told() {
    let rule = "wait \"t_vm\" {\n until = self.status == \"up\"\n fail_if = contains([\"bad\"], self.status)\n}\n\
                wait \"t_disk\" {\n until = self.missing.at.all\n}";
    let loaded = Loaded::new(&[("a.groma.hcl", rule)]);
    let told = |object: &Value| match loaded.judge("t_vm.web", object) {
        Verdict::Holds => "holds".to_owned(),
        Verdict::NotYet(seen) => format!("not yet: {seen}"),
        Verdict::Failed(seen) => format!("failed: {seen}"),
        Verdict::Unclear(found) => format!("unclear: {}", found.iter().next().unwrap().summary),
    };
    assert_eq!(told(&with_status("up")), "holds");
    assert_eq!(told(&with_status("off")), "not yet: self.status is \"off\"");
    assert_eq!(told(&with_status("bad")), "failed: self.status is \"bad\"");
    let hidden = Value::object([("status", Value::from("off").mark(Mark::Sensitive))]);
    assert_eq!(told(&hidden), "not yet: self.status has a sensitive value");
    assert_eq!(told(&Value::object([("other", Value::from(1))])), "unclear: Unsupported attribute");
    assert!(matches!(loaded.judge("t_disk.a", &with_status("up")), Verdict::Unclear(_)));
}

#[test]
fn mistakes_have_a_place() {
    let cases: [(&str, &[&str]); 12] = [
        ("wiat \"t_vm\" { }", &["error a.groma.hcl:1 Unsupported block type (GR1101)"]),
        ("wait \"t_vm\" { }", &["error a.groma.hcl:1 Missing required argument"]),
        ("wait \"t_vm\" {\n until = true\n often = 1\n}", &["error a.groma.hcl:3 Unsupported argument"]),
        ("wait \"t_vm\" {\n until = true\n timeout = \"soon\"\n}", &["error a.groma.hcl:3 Invalid duration"]),
        ("wait \"t_vm\" {\n until = true\n interval = \"0s\"\n}", &["error a.groma.hcl:3 Invalid duration"]),
        ("wait \"t_vm\" {\n until = var.x\n}", &["error a.groma.hcl:2 Invalid reference in a rule"]),
        ("wait \"t_vm\" {\n until = t_vm.web.x == path.cwd\n}", &["error a.groma.hcl:2 Invalid reference in a rule"]),
        ("on_create_error \"t_vm\" {\n keep = \"no\"\n}", &["error a.groma.hcl:2 Unsuitable value type"]),
        (
            "wait \"t_vm\" {\n until = true\n}\nwait \"t_vm\" {\n until = false\n}",
            &["error a.groma.hcl:4 Duplicate rule"],
        ),
        ("wait \"gone.x\" {\n until = true\n}", &["warning a.groma.hcl:1 Rule matches nothing"]),
        ("wait \"module.m\" {\n until = true\n}", &["error a.groma.hcl:1 Invalid pattern"]),
        ("wait \"data.a.b\" {\n until = true\n}", &["error a.groma.hcl:1 Invalid pattern"]),
    ];
    for (text, expected) in cases {
        let loaded = Loaded::new(&[("a.groma.hcl", text)]);
        assert_eq!(loaded.shown(&loaded.found), expected, "{text}");
    }
}

#[test]
fn mistakes_that_schemas_tell_are_found_once() {
    let rule = "wait \"t_*\" {\n until = self.state == \"up\"\n}\nwait \"u_x\" {\n until = \"maybe\"\n}\n\
                wait \"t_vm\" {\n until = self.status == \"up\"\n fail_if = nonsense(self.status)\n}";
    let loaded = Loaded::new(&[("a.groma.hcl", rule)]);
    assert_eq!(loaded.shown(&loaded.found), Vec::<String>::new());
    let oracle = NothingExists(Schemas);
    let mut found = check(&loaded.rules, &loaded.tree, &Schemas, &loaded.settings(&oracle));
    found.sort(&loaded.map);
    let expected = [
        "error a.groma.hcl:2 Unsupported attribute",
        "error a.groma.hcl:5 Incorrect value type",
        "error a.groma.hcl:9 Call to unknown function",
    ];
    assert_eq!(loaded.shown(&found), expected);
}

#[test]
fn labels_never_panic() {
    for text in [
        "",
        ".",
        "[",
        "a[",
        "a.b[",
        "a.b[]",
        "a.b[\"",
        "a.b[\"\\\"]",
        "*.*.*",
        "a..b",
        "module",
        "module.",
        "a.b]c",
        "é*",
    ] {
        let _ = crate::Pattern::parse(text);
    }
    assert_eq!(crate::Pattern::parse("module.a[*].b.c[\"x.y\"]").unwrap().to_string(), "module.a.b.c[\"x.y\"]");
}
