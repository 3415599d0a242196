//! What comes of cases, and what is wrong with some.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use groma_model::address::Module;
use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;
use groma_syntax::parse_native;

use super::{Outcome, Trial, Tried, read};
use crate::replace::decode;
use crate::replace::eval::Verdict;
use crate::replace::rules::ReplaceRules;
use crate::replace::testing::sim_box;

fn cases(text: &str) -> (Vec<Trial>, Diagnostics) {
    let mut map = SourceMap::new();
    let file = map.add("cases.hcl", text);
    let parsed = parse_native(&map, file);
    assert!(!parsed.diagnostics.has_errors(), "{:?}", parsed.diagnostics);
    read(&map, &parsed.value)
}

/// Rules of the root module, and the catalogue.
fn rules(text: &str) -> ReplaceRules {
    let mut map = SourceMap::new();
    let file = map.add("rules.groma.hcl", text);
    let parsed = parse_native(&map, file);
    let (content, found) = crate::file::decode(&map, &parsed.value);
    assert!(!found.has_errors(), "{found:?}");
    let (decoded, found) = decode::directory(&map, &content.replacements);
    assert!(!found.has_errors(), "{found:?}");
    let mut rules = ReplaceRules::default();
    rules.catalogue = Some("test");
    rules.add(&decoded, &Module::root());
    rules
}

fn tried(rules: &ReplaceRules, case: &str) -> Tried {
    let (trials, found) = cases(&format!("case \"a\" {{\n{case}\n}}\n"));
    assert!(!found.has_errors(), "{found:?}");
    trials[0].run(rules, None).unwrap()
}

const SAME_NAME: &str = "replace_rule \"same-name\" {\n  resource = \"sim_box\"\n  logic = \"NOT\"\n  predicate \"field_changed\" {\n    field = \
                         \"name\"\n    against = \"create\"\n  }\n}\n";

#[test]
fn what_all_rules_want() {
    let held = "replace_rule \"held\" {\n  resource = \"sim_box\"\n  order = \"create_first\"\n  predicate \"has_attached_resources\" {\n    \
                resource_types = [\"sim_user\"]\n  }\n}\n";
    let rules = rules(&format!("{SAME_NAME}{held}"));
    let outcome = |new: &str, more: &str| {
        let case = format!(
            "resource = \"sim_box\"\nold = {{ name = \"a\" }}\nnew = {{ name = {new} }}\n{more}\norder = \"none\""
        );
        tried(&rules, &case).outcome
    };
    let [used, free] = ["dependents = { \"sim_user.a\" = \"update\" }", "dependents = {}"];
    assert_eq!(outcome("\"a\"", free).name(), "delete_first");
    assert_eq!(outcome("\"b\"", used).name(), "create_first");
    assert_eq!(outcome("\"a\"", used), Outcome::NoSafeOrder);
    assert_eq!(outcome("\"b\"", free), Outcome::Nothing);
    // Without a word about others nothing is known of them.
    assert_eq!(outcome("\"b\"", ""), Outcome::Unknown);
    assert_eq!(outcome("\"(known after apply)\"", free), Outcome::Unknown);
    assert_eq!(outcome("\"(generated)\"", free), Outcome::Nothing);
}

#[test]
fn rules_of_the_user_count_more_than_the_catalogue() {
    let rules = rules("replace_rule \"mine\" {\n  resource = \"local_file\"\n  order = \"create_first\"\n}\n");
    let case = "resource = \"local_file\"\nold = { filename = \"a\", content = \"x\" }\nnew = { filename = \"a\", content = \"y\" }\norder = \
                \"create_first\"\nrule \"local.file\" {\n  result = true\n}";
    let found = tried(&rules, case);
    assert!(found.passed(), "{:?}", found.differences);
    assert_eq!(found.results.iter().filter(|result| result.verdict == Verdict::True).count(), 2);
}

/// The cause is what changes, unless it is said.
#[test]
fn what_forces_the_replacement() {
    let rules = rules("replace_rule \"by-size\" {\n  resource = \"sim_box\"\n  field = \"size\"\n}\n");
    let result = |new: &str, meta: &str| {
        let case = format!(
            "resource = \"sim_box\"\nold = {{ size = 1, name = \"a\" }}\nnew = {new}\nmeta = {{ {meta} }}\nrule \"by-size\" {{\n  result = true\n}}"
        );
        tried(&rules, &case).results[0].verdict
    };
    assert_eq!(result("{ size = 2, name = \"a\" }", ""), Verdict::True);
    assert_eq!(result("{ size = 1, name = \"b\" }", ""), Verdict::NotApplicable);
    assert_eq!(result("{ size = 1, name = \"b\" }", "replace_paths = [\"size\"]"), Verdict::True);
    assert_eq!(result("{ size = 2 }", "replace_paths = [\"name\"]"), Verdict::NotApplicable);
    assert_eq!(result("{ size = 2 }", "replace_reason = \"replace_because_tainted\""), Verdict::True);
    // What the provider chooses does not change by an update.
    assert_eq!(result("{ size = \"(generated)\", name = \"b\" }", ""), Verdict::NotApplicable);
}

#[test]
fn with_a_schema_objects_are_whole() {
    let (trials, found) = cases(
        "case \"a\" {\n  resource = \"sim_box\"\n  old = { secret = \"hunter2\", disk = [{ source = \"x\" }], tags = [\"b\", \"a\"], cfg = \
         [{ net = [{ private = true }] }] }\n  new = { tags = [\"a\", \"b\"], size = \"5\" }\n  order = \"none\"\n}\n",
    );
    assert!(!found.has_errors(), "{found:?}");
    let views = trials[0].views(Some(sim_box())).unwrap();
    let ty = sim_box().block.implied_type();
    for view in [&views.old, &views.new, &views.update, &views.config] {
        assert!(view.is_of_type(&ty), "{:?}", view.ty());
    }
    let part = |name: &str| views.old.as_entries().unwrap().get(name).unwrap().clone();
    assert!(part("secret").contains_marks() && !part("name").contains_marks());
    let changed: Vec<String> = views.replace_paths.iter().map(ToString::to_string).collect();
    assert_eq!(changed, [".cfg", ".disk", ".secret", ".size"]);
    let wrong = |old: &str| {
        let text =
            format!("case \"a\" {{\n  resource = \"sim_box\"\n  old = {old}\n  new = {{}}\n  order = \"none\"\n}}\n");
        let found = cases(&text).0[0].run(&ReplaceRules::default(), Some(sim_box())).unwrap_err();
        found.iter().map(|problem| problem.detail.clone()).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(wrong("{ nmae = 1 }"), "there is no attribute or block named \"nmae\". Did you mean \"name\"?");
    assert_eq!(wrong("{ size = \"hunter2\" }"), "size: a number is required.");
    assert_eq!(
        wrong("{ disk = [{ soruce = 1 }] }"),
        "disk[0]: there is no attribute or block named \"soruce\". Did you mean \"source\"?"
    );
    assert_eq!(wrong("{ disk = 1 }"), "disk: this must be a list of blocks.");
}
