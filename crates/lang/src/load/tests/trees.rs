//! Trees of modules: where calls lead, and files that cannot be read.

use std::path::Path;

use groma_model::span::SourceMap;

use super::{Texts, check, load, shown};
use crate::load::{check_test_files, load_module};

#[test]
fn local_sources_need_no_installation() {
    let (tree, _, found) = load(&[
        ("main.tf", "module \"a\" {\n  source = \"./x/../y\"\n}\n"),
        ("y/main.tf", "module \"b\" {\n  source = \"../z\"\n}\n"),
        ("z/main.tf", "variable \"v\" {\n  default = 1\n}\n"),
    ]);
    assert_eq!(found, Vec::<String>::new());
    let root = tree.unwrap().root;
    let inner = &root.children["a"].children["b"];
    assert_eq!(inner.path, ["a", "b"]);
    assert_eq!(inner.module.source_dir, Path::new("z"));
    assert!(!inner.remote);
}

#[test]
fn remote_sources_need_installation() {
    check(
        &[("main.tf", "module \"a\" {\n  source = \"hashicorp/consul/aws\"\n}\n")],
        &["error main.tf:1 Module not installed"],
    );
    let (tree, _, found) = load(&[
        ("main.tf", "module \"installed\" {\n  source  = \"a/b/c\"\n  version = \"~> 1.0\"\n}\n"),
        ("cache/main.tf", ""),
    ]);
    assert_eq!(found, Vec::<String>::new());
    assert!(tree.unwrap().root.children["installed"].remote);
}

#[test]
fn bad_sources_are_reported_where_they_stand() {
    check(
        &[(
            "main.tf",
            "module \"a\" {\n  source = \"x\"\n}\nmodule \"b\" {\n  source = \"./y\"\n  version = \"1.0\"\n}\n\
             module \"c\" {\n  source = 5\n  version = \"nope\"\n}\nmodule \"d\" {}\n",
        )],
        &["error main.tf:12 Missing required argument"],
    );
    check(
        &[(
            "main.tf",
            "module \"a\" {\n  source = \"x\"\n}\nmodule \"b\" {\n  source = \"./y\"\n  version = \"1.0\"\n}\n\
             module \"c\" {\n  source = \"./z\"\n  version = \"nope\"\n}\n",
        )],
        &[
            "error main.tf:2 Invalid module source address",
            "error main.tf:5 Invalid registry module source address",
            "error main.tf:9 Invalid registry module source address",
            "error main.tf:10 Invalid version constraint",
        ],
    );
}

#[test]
fn a_module_that_calls_itself_comes_to_an_end() {
    let (_, _, found) = load(&[("main.tf", "module \"a\" {\n  source = \"./\"\n}\n")]);
    assert_eq!(found, ["error main.tf:1 Too many modules"]);
}

#[test]
fn arguments_must_fit_the_variables() {
    check(
        &[
            ("main.tf", "module \"a\" {\n  source = \"./m\"\n  extra  = 1\n  block {}\n}\n"),
            ("m/main.tf", "variable \"needed\" {}\nvariable \"free\" { default = 1 }\n"),
        ],
        &[
            "error main.tf:1 Missing required argument",
            "error main.tf:3 Unsupported argument",
            "error main.tf:4 Unsupported block type",
        ],
    );
}

#[test]
fn child_modules_have_no_imports_and_no_backends() {
    check(
        &[
            ("main.tf", "module \"a\" {\n  source = \"./m\"\n}\n"),
            (
                "m/main.tf",
                "terraform {\n  backend \"local\" {}\n}\nimport {\n  to = terraform_data.a\n  id = \"x\"\n}\n",
            ),
        ],
        &["warning m/main.tf:2 Backend configuration ignored", "error m/main.tf:4 Invalid import configuration"],
    );
}

#[test]
fn a_missing_directory_is_reported() {
    check(&[("main.tf", "module \"a\" {\n  source = \"./m\"\n}\n")], &["error main.tf:1 Module not installed"]);
}

#[test]
fn files_must_be_utf8() {
    let mut texts = Texts::new(&[]);
    texts.0.insert("main.tf".into(), b"locals {\n  a = \"\xff\"\n}\n".to_vec());
    let mut map = SourceMap::new();
    let (_, diagnostics) = load_module(&mut map, &texts, Path::new("."));
    let found: Vec<String> = diagnostics.iter().map(|diagnostic| shown(&map, diagnostic)).collect();
    assert_eq!(found, ["error main.tf:2 Invalid character encoding"]);
}

#[test]
fn test_files_are_checked_with_the_root() {
    let texts = Texts::new(&[
        ("main.tf", ""),
        ("a.tftest.hcl", "run \"x\" {\n  command = later\n  assert {\n    condition = true\n  }\n}\n"),
        ("tests/b.tftest.hcl", "variables {}\nvariables {}\nwhat {}\n"),
        ("tests/b.tofutest.hcl", ""),
        ("tests/c.tftest.hcl", "mock_provider \"x\" {}\nmock_provider \"x\" {}\n"),
    ]);
    let mut map = SourceMap::new();
    let diagnostics = check_test_files(&mut map, &texts, Path::new("."), Path::new("tests"));
    let mut found: Vec<String> = diagnostics.iter().map(|diagnostic| shown(&map, diagnostic)).collect();
    found.sort();
    assert_eq!(
        found,
        [
            "error a.tftest.hcl:2 Invalid \"command\" keyword",
            "error a.tftest.hcl:3 Missing required argument",
            "error a.tftest.hcl:4 Invalid assert expression",
            "error tests/c.tftest.hcl:2 Duplicated `mock_provider` block",
        ]
    );
}
