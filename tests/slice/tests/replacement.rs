//! The order of replacements: what rules, users and lifecycle blocks make of it together, and in which order things are then done.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use std::sync::{Arc, Mutex};

use common::{Given, Workspace};
use groma_engine::change::{Action, Note, Reason};
use groma_engine::events::{Event, Events};
use groma_engine::plan::Plan;
use groma_engine::replacement::{ModeSource, ReplaceOptions};
use groma_model::address::DeposedKey;
use groma_model::diag::Diagnostics;
use groma_rules::replace::rule::{Mode, Order};
use serde_json::Value as Json;

/// What was done, in the order in which it was done.
#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Events for Recorder {
    fn tell(&self, event: Event) {
        let Event::ApplyDone { address, action, .. } = event else { return };
        let name = match action {
            Action::Delete => "delete",
            Action::Create => "create",
            _ => "update",
        };
        let address = address.to_string().replace("terraform_data.", "");
        self.0.lock().unwrap().push(format!("{name} {address}"));
    }
}

const CBD: &str = "lifecycle {\n    create_before_destroy = true\n  }";

/// A workspace in which everything was made once, and whose `change` variable then changes.
struct Scene {
    workspace: Workspace,
    recorder: Arc<Recorder>,
    _dir: tempfile::TempDir,
}

impl Scene {
    /// `VERSION` in the configuration becomes another number.
    async fn new(config: &str, rules: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut workspace = Workspace::new(dir.path(), Given::built_in(dir.path()));
        workspace.write(&config.replace("VERSION", "1"));
        workspace.apply().await;
        workspace.write(&config.replace("VERSION", "2"));
        std::fs::write(dir.path().join("order.groma.hcl"), rules).unwrap();
        let recorder = Arc::new(Recorder::default());
        workspace.events = Arc::clone(&recorder) as Arc<dyn Events>;
        Self { workspace, recorder, _dir: dir }
    }

    fn mode(mut self, mode: Mode) -> Self {
        self.workspace.options.replacement.mode = mode;
        self
    }

    fn ordered(mut self, address: &str, order: Order) -> Self {
        self.workspace.options.replacement.orders.insert(address.parse().unwrap(), order);
        self
    }

    async fn planned(&self) -> (Plan, Diagnostics) {
        let (plan, diagnostics) = self.workspace.try_plan().await;
        (plan.unwrap_or_else(|| panic!("no plan: {diagnostics:?}")), diagnostics)
    }

    /// Applies, and gives what was done in which order.
    async fn done(mut self) -> Vec<String> {
        let found = self.workspace.attempt().await;
        assert!(!found.has_errors(), "{found:?}");
        std::mem::take(&mut *self.recorder.0.lock().unwrap())
    }
}

fn summaries(diagnostics: &Diagnostics) -> Vec<&str> {
    diagnostics.iter().map(|found| found.summary.as_str()).collect()
}

fn order(plan: &Plan, address: &str) -> Action {
    plan.changes.iter().find(|change| change.address.to_string() == address).unwrap().action
}

fn document(plan: &Plan, address: &str) -> Json {
    serde_json::from_str(&plan.replacement.decisions[&address.parse().unwrap()].document).unwrap()
}

/// `b` depends on `a`, both are replaced.
fn two(a: &str, b: &str) -> String {
    format!(
        "resource \"terraform_data\" \"a\" {{\n  triggers_replace = \"VERSION\"\n  {a}\n}}\n\
         resource \"terraform_data\" \"b\" {{\n  input            = terraform_data.a.id\n  triggers_replace = \"VERSION\"\n  {b}\n}}\n"
    )
}

fn rule(id: &str, target: &str, order: &str, behavior: &str) -> String {
    format!(
        "replace_rule \"{id}\" {{\n  resource = \"terraform_data\"\n  target   = [\"terraform_data.{target}\"]\n  \
         field    = \"triggers_replace\"\n  order    = \"{order}\"\n  behavior = \"{behavior}\"\n}}\n"
    )
}

const A: &str = "terraform_data.a";
const B: &str = "terraform_data.b";

#[tokio::test]
async fn only_automatic_rules_in_automatic_mode_are_obeyed() {
    for behavior in ["warn", "auto"] {
        for mode in [Mode::Off, Mode::Warn, Mode::Auto] {
            let config = "resource \"terraform_data\" \"a\" {\n  triggers_replace = \"VERSION\"\n  lifecycle {\n    create_before_destroy = true\n  }\n}\n";
            let scene = Scene::new(config, &rule("r", "a", "delete_first", behavior)).await.mode(mode);
            let (plan, found) = scene.planned().await;
            let obeyed = mode == Mode::Auto && behavior == "auto";
            let expected = if obeyed { Action::DeleteThenCreate } else { Action::CreateThenDelete };
            assert_eq!(order(&plan, A), expected, "{mode:?} {behavior}");
            let warns = mode != Mode::Off && !obeyed;
            let warning = "Field 'triggers_replace' may require delete-first replacement";
            assert_eq!(summaries(&found), if warns { vec![warning] } else { Vec::new() }, "{mode:?} {behavior}");
            // How to have it obeyed is said only of rules that would be.
            let hinted = found.iter().any(|found| found.hints.iter().any(|hint| hint.contains("=true")));
            assert_eq!(hinted, mode == Mode::Warn && behavior == "auto", "{mode:?} {behavior}");
        }
    }
}

#[tokio::test]
async fn a_rule_that_wants_what_is_planned_is_silent() {
    let config = "resource \"terraform_data\" \"a\" {\n  triggers_replace = \"VERSION\"\n}\n";
    let scene = Scene::new(config, &rule("r", "a", "delete_first", "auto")).await.mode(Mode::Auto);
    let (plan, found) = scene.planned().await;
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(document(&plan, A)["status"], "satisfied");
}

#[tokio::test]
async fn a_rule_about_another_field_does_not_matter() {
    let config = format!(
        "resource \"terraform_data\" \"a\" {{\n  input = \"VERSION\"\n  triggers_replace = \"VERSION\"\n  {CBD}\n}}\n"
    );
    let rules = rule("r", "a", "delete_first", "auto").replace("\"triggers_replace\"", "\"input\"");
    let scene = Scene::new(&config, &rules).await.mode(Mode::Auto);
    let (plan, _) = scene.planned().await;
    assert_eq!(order(&plan, A), Action::CreateThenDelete);
    assert!(plan.replacement.decisions.is_empty());
}

#[tokio::test]
async fn a_forced_replacement_is_about_the_fields_that_change() {
    // Nothing that a provider could not update changes.
    let config = format!("resource \"terraform_data\" \"a\" {{\n  input = \"same\"\n  {CBD}\n}}\n");
    for (rules, obeyed) in [
        (rule("r", "a", "delete_first", "auto"), false),
        (rule("r", "a", "delete_first", "auto").replace("  field    = \"triggers_replace\"\n", ""), true),
    ] {
        let mut scene = Scene::new(&config, &rules).await.mode(Mode::Auto);
        scene.workspace.options.replace = vec![A.parse().unwrap()];
        let (plan, _) = scene.planned().await;
        assert_eq!(order(&plan, A) == Action::DeleteThenCreate, obeyed, "{rules}");
    }
}

#[tokio::test]
async fn a_rule_of_the_root_takes_what_depends_on_it_along() {
    let scene = Scene::new(&two("", CBD), &rule("r", "a", "delete_first", "auto")).await.mode(Mode::Auto);
    let (plan, found) = scene.planned().await;
    assert!(found.is_empty(), "{found:?}");
    assert_eq!((order(&plan, A), order(&plan, B)), (Action::DeleteThenCreate, Action::DeleteThenCreate));
    assert_eq!(document(&plan, A)["demotes"], serde_json::json!([B]));
    assert_eq!(document(&plan, B)["forced_by"], serde_json::json!([A]));
    assert_eq!(scene.done().await, ["delete b", "delete a", "create a", "create b"]);
}

#[tokio::test]
async fn what_depends_on_what_is_created_first_may_be_deleted_first() {
    let scene = Scene::new(&two("", ""), &rule("r", "a", "create_first", "auto")).await.mode(Mode::Auto);
    assert_eq!(scene.done().await, ["delete b", "create a", "create b", "delete a"]);
}

#[tokio::test]
async fn both_are_created_first() {
    let scene = Scene::new(&two("", ""), &rule("r", "b", "create_first", "auto")).await.mode(Mode::Auto);
    let (plan, _) = scene.planned().await;
    assert_eq!(document(&plan, A)["forced_by"], serde_json::json!([B]));
    assert_eq!(scene.done().await, ["create a", "create b", "delete b", "delete a"]);
}

#[tokio::test]
async fn the_command_line_has_the_last_word() {
    let rules = rule("r", "a", "delete_first", "auto");
    let scene = Scene::new(&two(CBD, ""), &rules).await.mode(Mode::Auto).ordered(A, Order::CreateFirst);
    let (plan, found) = scene.planned().await;
    assert_eq!(order(&plan, A), Action::CreateThenDelete);
    assert_eq!(document(&plan, A)["decided_by"]["layer"], "cli");
    assert_eq!(document(&plan, A)["rules"][0]["status"], "overridden");
    assert_eq!(summaries(&found), ["Field 'triggers_replace' may require delete-first replacement"]);
    assert!(found.iter().next().unwrap().detail.contains("Overridden by: -replace-order for terraform_data.a"));
}

#[tokio::test]
async fn words_that_exclude_each_other_are_an_error_with_the_way_between() {
    let scene = Scene::new(&two("", ""), "").await.ordered(A, Order::DeleteFirst).ordered(B, Order::CreateFirst);
    let (_, found) = scene.planned().await;
    assert_eq!(summaries(&found), ["Irreconcilable replacement orders (GR2001)"]);
    assert!(found.iter().next().unwrap().detail.contains("terraform_data.b -> terraform_data.a"), "{found:?}");
}

#[tokio::test]
async fn an_order_for_what_is_not_replaced_is_an_error() {
    let scene = Scene::new("resource \"terraform_data\" \"a\" {}\n", "").await.ordered(A, Order::DeleteFirst);
    let (_, found) = scene.planned().await;
    assert_eq!(summaries(&found), ["Order for an object that is not replaced (GR3001)"]);
}

#[tokio::test]
async fn rules_of_one_layer_that_disagree_are_an_error_if_both_are_to_be_obeyed() {
    let rules = rule("one", "a", "delete_first", "auto") + &rule("other", "a", "create_first", "auto");
    for (mode, expected, is_error) in
        [(Mode::Auto, "Rules disagree (GR2003)", true), (Mode::Warn, "No safe replacement order (GR2002)", false)]
    {
        let scene = Scene::new(&two(CBD, ""), &rules).await.mode(mode);
        let (plan, found) = scene.planned().await;
        assert_eq!(summaries(&found), [expected]);
        assert_eq!(found.has_errors(), is_error);
        assert_eq!(order(&plan, A), Action::CreateThenDelete, "what the configuration says holds");
    }
}

#[tokio::test]
async fn what_is_only_updated_still_keeps_what_it_needs() {
    let config = format!(
        "resource \"terraform_data\" \"a\" {{\n  triggers_replace = \"VERSION\"\n}}\n\
         resource \"terraform_data\" \"b\" {{\n  input = terraform_data.a.id\n  {CBD}\n}}\n"
    );
    let scene = Scene::new(&config, "").await.mode(Mode::Auto);
    let (plan, _) = scene.planned().await;
    assert_eq!(order(&plan, A), Action::CreateThenDelete);

    let scene = Scene::new(&config, &rule("r", "a", "delete_first", "auto")).await.mode(Mode::Auto);
    let (plan, _) = scene.planned().await;
    assert_eq!((order(&plan, A), order(&plan, B)), (Action::DeleteThenCreate, Action::Update));
    assert_eq!(scene.done().await, ["delete a", "create a", "update b"]);
}

#[tokio::test]
async fn settings_disable_rules_and_choose_the_mode() {
    let rules =
        "replace_settings {\n  disable_rules = [\"r*\"]\n}\n".to_owned() + &rule("r", "a", "delete_first", "auto");
    let scene = Scene::new(&two(CBD, ""), &rules).await.mode(Mode::Auto);
    let (plan, found) = scene.planned().await;
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(order(&plan, A), Action::CreateThenDelete);
    assert_eq!(document(&plan, A)["rules"][0]["status"], "disabled");
}

#[tokio::test]
async fn what_is_not_known_is_never_obeyed_unless_that_is_wanted() {
    let config = format!(
        "resource \"terraform_data\" \"new\" {{\n  triggers_replace = \"VERSION\"\n}}\n\
         resource \"terraform_data\" \"a\" {{\n  input            = terraform_data.new.id\n  triggers_replace = \"VERSION\"\n  {CBD}\n}}\n"
    );
    let rules = |on_unknown: &str| {
        format!(
            "replace_rule \"r\" {{\n  resource   = \"terraform_data\"\n  target     = [\"terraform_data.a\"]\n  \
             behavior   = \"auto\"\n  on_unknown = \"{on_unknown}\"\n  predicate \"field_equals\" {{\n    field = \"input\"\n    \
             value = \"x\"\n    on    = \"new\"\n  }}\n}}\n"
        )
    };
    for (on_unknown, status, obeyed, summary) in [
        ("warn", "unknown", false, Some("terraform_data.a may require delete-first replacement")),
        ("match", "applied", true, None),
        ("no_match", "no_match", false, None),
        ("error", "unknown", false, Some("Rule cannot be evaluated before the apply (GR2006)")),
    ] {
        let scene = Scene::new(&config, &rules(on_unknown)).await.mode(Mode::Auto);
        let (plan, found) = scene.planned().await;
        assert_eq!(document(&plan, A)["rules"][0]["status"], status, "{on_unknown}");
        assert_eq!(order(&plan, A) == Action::DeleteThenCreate, obeyed, "{on_unknown}");
        assert_eq!(summaries(&found), summary.into_iter().collect::<Vec<_>>(), "{on_unknown}");
        assert_eq!(found.has_errors(), on_unknown == "error");
    }
}

#[tokio::test]
async fn who_still_uses_the_object_is_counted_by_instance() {
    let config = "resource \"terraform_data\" \"a\" {\n  count            = 2\n  triggers_replace = \"VERSION\"\n}\n\
                  resource \"terraform_data\" \"b\" {\n  count = 3\n  input = terraform_data.a[count.index % 2].id\n}\n";
    let rules = "replace_rule \"r\" {\n  resource = \"terraform_data\"\n  target   = [\"terraform_data.a\"]\n  order    = \"create_first\"\n  \
                 behavior = \"auto\"\n  predicate \"has_attached_resources\" \"held\" {\n    resource_types  = [\"terraform_data\"]\n    \
                 check_conflicts = true\n    minimum_count   = 2\n  }\n}\n";
    let scene = Scene::new(config, rules).await.mode(Mode::Auto);
    let (plan, _) = scene.planned().await;
    assert_eq!(order(&plan, "terraform_data.a[0]"), Action::CreateThenDelete, "b[0] and b[2] hold it");
    assert_eq!(order(&plan, "terraform_data.a[1]"), Action::DeleteThenCreate, "only b[1] does");
    let steps = &document(&plan, "terraform_data.a[0]")["rules"][0]["tree"]["children"][0]["steps"];
    assert_eq!(steps[0], "2 attached: terraform_data.b[0], terraform_data.b[2]");
}

#[tokio::test]
async fn many_warnings_of_one_rule_are_one() {
    let config = format!(
        "resource \"terraform_data\" \"a\" {{\n  count            = COUNT\n  triggers_replace = \"VERSION\"\n  {CBD}\n}}\n"
    );
    for (count, expected) in [(5, 5), (7, 1)] {
        let config = config.replace("COUNT", &count.to_string());
        let scene = Scene::new(&config, &rule("r", "a", "delete_first", "warn")).await;
        let (_, found) = scene.planned().await;
        assert_eq!(found.iter().count(), expected);
        let lists = found.iter().any(|found| found.detail.contains("terraform_data.a[6]"));
        assert_eq!(lists, count == 7);
    }
}

#[tokio::test]
async fn the_mark_in_the_state_is_what_the_configuration_says() {
    let mut scene = Scene::new(&two(CBD, CBD), &rule("r", "a", "delete_first", "auto")).await.mode(Mode::Auto);
    let found = scene.workspace.attempt().await;
    assert!(!found.has_errors(), "{found:?}");
    for address in [A, B] {
        let resource = &scene.workspace.state.resources[&address.parse().unwrap()];
        assert!(resource.instances.values().all(|instance| instance.current.as_ref().unwrap().create_before_destroy));
    }
    assert!(scene.workspace.plan().await.is_empty());
}

#[tokio::test]
async fn who_left_the_configuration_with_a_mark_makes_no_cycle() {
    let config = two("", CBD);
    let scene = Scene::new(&config, &rule("r", "a", "delete_first", "auto")).await.mode(Mode::Auto);
    // `b` goes, `a` is replaced.
    scene.workspace.write("resource \"terraform_data\" \"a\" {\n  triggers_replace = \"2\"\n}\n");
    assert_eq!(scene.done().await, ["delete b", "delete a", "create a"]);
}

#[tokio::test]
async fn rules_that_fail_are_told_and_never_obeyed() {
    let config = format!(
        "resource \"terraform_data\" \"a\" {{\n  input            = 0\n  triggers_replace = \"VERSION\"\n  {CBD}\n}}\n"
    );
    let rules = |on_error: &str| {
        format!(
            "replace_rule \"r\" {{\n  resource = \"terraform_data\"\n  behavior = \"auto\"\n  on_error = \"{on_error}\"\n  \
             predicate \"state_check\" {{\n    condition = 1 / old.input > 1\n  }}\n}}\n"
        )
    };
    for (on_error, fails) in [("warn", false), ("fail", true)] {
        let scene = Scene::new(&config, &rules(on_error)).await.mode(Mode::Auto);
        let (plan, found) = scene.planned().await;
        assert_eq!(found.iter().count(), 1, "{found:?}");
        assert_eq!(found.has_errors(), fails, "{found:?}");
        assert_eq!(order(&plan, A), Action::CreateThenDelete);
    }
}

#[tokio::test]
async fn off_changes_nothing() {
    let rules = rule("r", "a", "delete_first", "auto");
    let without = Scene::new(&two(CBD, ""), "").await.mode(Mode::Off);
    let with = Scene::new(&two(CBD, ""), &rules).await.mode(Mode::Off);
    let (without, with) = (without.planned().await.0, with.planned().await.0);
    assert_eq!(common::summary(&without), common::summary(&with));
    assert_eq!(with.replacement, groma_engine::replacement::Replacement::default());
    assert_eq!(
        with.options.replacement,
        ReplaceOptions { mode: Mode::Off, mode_source: ModeSource::Default, ..Default::default() }
    );
}

#[tokio::test]
async fn older_objects_that_were_put_aside_go_before_the_new_one_comes() {
    let config = two(CBD, "");
    for rules in [String::new(), rule("r", "a", "delete_first", "auto")] {
        let mut scene = Scene::new(&config, &rules).await.mode(Mode::Auto);
        let resource = scene.workspace.state.resources.get_mut(&A.parse().unwrap()).unwrap();
        let instance = resource.instances.values_mut().next().unwrap();
        let older = instance.current.clone().unwrap();
        instance.deposed.insert(DeposedKey::parse("0123abcd").unwrap(), older);
        let done = scene.done().await;
        let place = |what: &str| done.iter().rposition(|done| done == what).unwrap();
        // Both objects of `a` are deleted; the last of these comes before or after.
        assert_eq!(done.iter().filter(|done| *done == "delete a").count(), 2, "{done:?}");
        assert_eq!(place("delete a") < place("create a"), !rules.is_empty(), "{done:?}");
    }
}

#[tokio::test]
async fn an_object_that_is_not_destroyed_meets_the_new_one() {
    let config = "resource \"terraform_data\" \"a\" {\n  triggers_replace = \"VERSION\"\n  lifecycle {\n    destroy = false\n  }\n}\n";
    let scene = Scene::new(config, &rule("r", "a", "delete_first", "auto")).await.mode(Mode::Auto);
    let (plan, found) = scene.planned().await;
    assert_eq!(order(&plan, A), Action::ForgetThenCreate);
    let warning = found.iter().find(|found| found.summary.contains("may require delete-first replacement"));
    assert!(warning.unwrap().detail.contains("the old object stays, and meets the new one"), "{found:?}");
}

#[tokio::test]
async fn provisioners_that_will_not_run_are_told() {
    let config = "resource \"terraform_data\" \"a\" {\n  triggers_replace = \"VERSION\"\n  provisioner \"local-exec\" {\n    \
                  when    = destroy\n    command = \"true\"\n  }\n}\n";
    let scene = Scene::new(config, &rule("r", "a", "create_first", "auto")).await.mode(Mode::Auto);
    let (plan, found) = scene.planned().await;
    assert_eq!(order(&plan, A), Action::CreateThenDelete);
    assert_eq!(summaries(&found), ["Destroy-time provisioners will not run"]);
}

#[tokio::test]
async fn a_rule_takes_those_along_that_hold_the_object() {
    let config = "resource \"terraform_data\" \"a\" {\n  count            = 2\n  triggers_replace = count.index == 0 ? \"VERSION\" : \"same\"\n}\n\
                  resource \"terraform_data\" \"b\" {\n  count = 2\n  input = terraform_data.a[count.index].id\n}\n";
    let rules = rule("r", "a", "delete_first", "auto")
        .replace("  behavior", "  replace_dependents = [\"terraform_*\"]\n  behavior");
    let both = |plan: &Plan| ["terraform_data.b[0]", "terraform_data.b[1]"].map(|address| order(plan, address));
    let (warned, _) = Scene::new(config, &rules).await.mode(Mode::Warn).planned().await;
    assert_eq!(both(&warned), [Action::Update, Action::NoOp], "a rule that is not obeyed takes nobody along");
    let told = Scene::new(config, &rules).await.mode(Mode::Auto).ordered("terraform_data.a[0]", Order::CreateFirst);
    assert_eq!(both(&told.planned().await.0), [Action::Update, Action::NoOp], "nor one that the user overrules");
    let scene = Scene::new(config, &rules).await.mode(Mode::Auto);
    let (plan, _) = scene.planned().await;
    assert_eq!(both(&plan), [Action::DeleteThenCreate, Action::NoOp], "the other one holds what stays");
    let change = plan.changes.iter().find(|change| change.address.to_string() == "terraform_data.b[0]").unwrap();
    assert_eq!(change.reason, Some(Reason::ReplaceByTriggers));
    assert_eq!(change.notes[0], Note::TakenAlong("terraform_data.a[0]".to_owned(), "r".to_owned()));
    assert_eq!(scene.done().await, ["delete b[0]", "delete a[0]", "create a[0]", "create b[0]"]);
}

#[tokio::test]
async fn what_must_not_be_destroyed_hears_the_rule_in_the_error() {
    let guarded = "lifecycle {\n    create_before_destroy = true\n    prevent_destroy = true\n  }";
    let config = format!("resource \"terraform_data\" \"a\" {{\n  triggers_replace = \"VERSION\"\n  {guarded}\n}}\n");
    for (mode, noted) in [(Mode::Off, false), (Mode::Warn, true), (Mode::Auto, true)] {
        let scene = Scene::new(&config, &rule("r", "a", "delete_first", "warn")).await.mode(mode);
        let (_, found) = scene.workspace.try_plan().await;
        assert_eq!(summaries(&found), ["Resource instance cannot be destroyed"], "{mode:?}");
        let hints: Vec<&String> = found.iter().flat_map(|found| &found.hints).collect();
        assert_eq!(hints.iter().any(|hint| hint.contains("says the rule \"r\"")), noted, "{mode:?}: {hints:?}");
    }
}

#[tokio::test]
async fn who_is_left_out_of_a_plan_still_holds_what_it_holds() {
    let config = "resource \"terraform_data\" \"a\" {\n  triggers_replace = \"VERSION\"\n}\n\
                  resource \"terraform_data\" \"b\" {\n  input = terraform_data.a.id\n  triggers_replace = \"VERSION\"\n}\n";
    let rules = "replace_rule \"r\" {\n  resource = \"terraform_data\"\n  target   = [\"terraform_data.a\"]\n  order    = \"create_first\"\n  \
                 behavior = \"auto\"\n  predicate \"has_attached_resources\" \"held\" {\n    resource_types  = [\"terraform_data\"]\n    \
                 check_conflicts = true\n  }\n}\n";
    let mut scene = Scene::new(config, rules).await.mode(Mode::Auto);
    let (whole, _) = scene.planned().await;
    assert_eq!(order(&whole, A), Action::DeleteThenCreate, "who holds it is replaced, too");
    scene.workspace.options.targets = vec![A.parse().unwrap()];
    let (narrow, _) = scene.planned().await;
    assert_eq!(order(&narrow, A), Action::CreateThenDelete);
    let steps = document(&narrow, A)["rules"][0]["tree"]["children"][0]["steps"].to_string();
    assert!(steps.contains("terraform_data.b (not part of this plan: as the state has it)"), "{steps}");
}

/// A rule of a module about its `a`, or about that of the modules that it calls.
fn module_rule(id: &str, order: &str, behavior: &str) -> String {
    format!(
        "replace_rule \"{id}\" {{\n  resource = \"terraform_data\"\n  field    = \"triggers_replace\"\n  order    = \"{order}\"\n  \
         behavior = \"{behavior}\"\n}}\n"
    )
}

/// The root calls `outer`, which calls `inner`, which has `a`. Each has rules, the root first.
async fn in_modules(repeated: &str, lifecycle: &str, rules: [&str; 3]) -> Scene {
    let dir = tempfile::tempdir().unwrap();
    for (at, text) in [
        (
            "main.tf",
            format!(
                "module \"outer\" {{\n  source = \"./outer\"\n  {repeated}\n  number = var.number\n}}\nvariable \"number\" {{\n  default = 1\n}}\n"
            ),
        ),
        (
            "outer/main.tf",
            "module \"inner\" {\n  source = \"./inner\"\n  number = var.number\n}\nvariable \"number\" {}\n".to_owned(),
        ),
        (
            "outer/inner/main.tf",
            format!(
                "resource \"terraform_data\" \"a\" {{\n  triggers_replace = var.number\n  {lifecycle}\n}}\nvariable \"number\" {{}}\n"
            ),
        ),
    ] {
        std::fs::create_dir_all(dir.path().join(at).parent().unwrap()).unwrap();
        std::fs::write(dir.path().join(at), text).unwrap();
    }
    let mut workspace = Workspace::new(dir.path(), Given::built_in(dir.path()));
    workspace.apply().await;
    let main = std::fs::read_to_string(dir.path().join("main.tf")).unwrap();
    workspace.write(&main.replace("default = 1", "default = 2"));
    for (module, rules) in ["", "outer", "outer/inner"].into_iter().zip(rules) {
        std::fs::write(dir.path().join(module).join("order.groma.hcl"), rules).unwrap();
    }
    Scene { workspace, recorder: Arc::default(), _dir: dir }.mode(Mode::Auto)
}

const INNER: &str = "module.outer.module.inner.terraform_data.a";

#[tokio::test]
async fn a_rule_counts_more_than_the_lifecycle_and_the_root_more_than_modules() {
    let [delete, create] = ["delete_first", "create_first"].map(|order| module_rule("r", order, "auto"));
    for (rules, expected, layer) in [
        (["", "", ""], Action::CreateThenDelete, "lifecycle"),
        (["", "", &*delete], Action::DeleteThenCreate, "module_rule"),
        (["", &*create, &*delete], Action::CreateThenDelete, "module_rule"),
        (["", &*delete, &*create], Action::DeleteThenCreate, "module_rule"),
        ([&*delete, &*create, &*create], Action::DeleteThenCreate, "root_rule"),
        ([&*create, &*delete, &*delete], Action::CreateThenDelete, "root_rule"),
    ] {
        let scene = in_modules("", CBD, rules).await;
        let (plan, found) = scene.planned().await;
        assert!(!found.has_errors(), "{found:?}");
        assert_eq!(order(&plan, INNER), expected, "{rules:?}");
        if rules != ["", "", ""] {
            assert_eq!(document(&plan, INNER)["decided_by"]["layer"], layer, "{rules:?}");
        }
    }
}

/// A rule that only warns silences nobody.
#[tokio::test]
async fn only_rules_that_are_obeyed_outrank_others() {
    let inner = module_rule("inner", "delete_first", "auto");
    for outer in ["create_first", "delete_first"] {
        let outer = module_rule("outer", outer, "warn");
        for rules in [["", &*outer, &*inner], [&*outer, "", &*inner]] {
            let (plan, found) = in_modules("", CBD, rules).await.planned().await;
            assert_eq!(order(&plan, INNER), Action::DeleteThenCreate, "{rules:?}");
            assert_eq!(document(&plan, INNER)["decided_by"]["rule"], "inner", "{rules:?}");
            let differs = outer.contains("create_first");
            assert_eq!(found.iter().count(), usize::from(differs), "who warns is heard: {found:?}");
        }
    }
    // Two that only warn and contradict each other silence nobody either, and are told.
    let both = module_rule("one", "delete_first", "warn") + &module_rule("other", "create_first", "warn");
    let (plan, found) = in_modules("", CBD, ["", &both, &inner]).await.planned().await;
    assert_eq!(order(&plan, INNER), Action::DeleteThenCreate);
    assert_eq!(summaries(&found), ["No safe replacement order (GR2002)"]);
    // What is outranked contradicts nobody.
    let both = both.replace("\"warn\"", "\"auto\"");
    let outer = module_rule("outer", "create_first", "auto");
    let (plan, found) = in_modules("", "", ["", &outer, &both]).await.planned().await;
    assert_eq!(order(&plan, INNER), Action::CreateThenDelete);
    assert!(!found.has_errors(), "{found:?}");
}

#[tokio::test]
async fn a_rule_is_about_every_instance_of_its_module() {
    for repeated in ["count = 2", "for_each = toset([\"x\", \"y\"])"] {
        let inner = module_rule("inner", "delete_first", "auto");
        let (plan, _) = in_modules(repeated, CBD, ["", "", &inner]).await.planned().await;
        let orders: Vec<Action> = plan.changes.iter().map(|change| change.action).collect();
        assert_eq!(orders, [Action::DeleteThenCreate, Action::DeleteThenCreate], "{repeated}");
        // One of them by its address, as the module that has the rule sees it.
        let key = if repeated.starts_with("count") { "0" } else { "\\\"x\\\"" };
        let target = format!("target = [\"module.outer[{key}].module.inner.terraform_data.a\"]\n  field ");
        let root = inner.replace("field ", &target);
        let (plan, found) = in_modules(repeated, CBD, [&root, "", ""]).await.planned().await;
        let orders: Vec<Action> = plan.changes.iter().map(|change| change.action).collect();
        assert_eq!(orders, [Action::DeleteThenCreate, Action::CreateThenDelete], "{repeated}: {found:?}");
    }
}

#[tokio::test]
async fn rules_that_disagree_are_named_with_their_places() {
    let rules = rule("one", "a", "delete_first", "auto") + &rule("other", "a", "create_first", "auto");
    for mode in [Mode::Auto, Mode::Warn] {
        let (_, found) = Scene::new(&two(CBD, ""), &rules).await.mode(mode).planned().await;
        let problem = found.iter().next().unwrap();
        assert!(problem.detail.contains("rule \"one\", order.groma.hcl:1"), "{problem:?}");
        assert!(problem.detail.contains("rule \"other\", order.groma.hcl:8"), "{problem:?}");
        assert_eq!(problem.subject.is_some(), mode == Mode::Auto);
    }
}

/// Asks who is attached, by the `id` of the object.
fn held(extra: &str) -> String {
    format!(
        "replace_rule \"r\" {{\n  resource = \"terraform_data\"\n  target   = [\"terraform_data.a\"]\n  order    = \"create_first\"\n  \
         behavior = \"auto\"\n  predicate \"has_attached_resources\" \"held\" {{\n    resource_types = [\"terraform_data\"]\n    {extra}\n  }}\n}}\n"
    )
}

fn steps(plan: &Plan, address: &str) -> Vec<String> {
    let rules = document(plan, address)["rules"].clone();
    let steps = rules[0]["tree"]["children"][0]["steps"].as_array().cloned().unwrap_or_default();
    steps.iter().map(|step| step.as_str().unwrap().to_owned()).collect()
}

/// Where there is one instance, it need not be the `id` that is held.
#[tokio::test]
async fn who_uses_another_attribute_holds_the_only_instance() {
    let object = "  input            = \"same\"\n  triggers_replace = \"VERSION\"\n}\n";
    let user = |from: &str| format!("resource \"terraform_data\" \"b\" {{\n  input = {from}\n}}\n");
    let alone = format!("resource \"terraform_data\" \"a\" {{\n{object}");
    let passed_on = format!("locals {{\n  it = terraform_data.a.output\n}}\n{alone}");
    for config in [alone.clone() + &user("terraform_data.a.output"), passed_on + &user("local.it")] {
        let (plan, _) = Scene::new(&config, &held("")).await.mode(Mode::Auto).planned().await;
        assert_eq!(order(&plan, A), Action::CreateThenDelete, "{config}");
        assert_eq!(steps(&plan, A)[0], "1 attached: terraform_data.b");
    }
    // Of several instances, nobody knows which is used.
    let several =
        format!("resource \"terraform_data\" \"a\" {{\n  count = 2\n{object}") + &user("terraform_data.a[0].output");
    let (plan, _) = Scene::new(&several, &held("")).await.mode(Mode::Auto).planned().await;
    assert_eq!(order(&plan, "terraform_data.a[0]"), Action::DeleteThenCreate);
    // Who only depends on who uses it does not use it.
    let behind = alone.clone()
        + &user("terraform_data.a.output")
        + "resource \"terraform_data\" \"c\" {\n  input = terraform_data.b.output\n}\n";
    let (plan, _) = Scene::new(&behind, &held("minimum_count = 2")).await.mode(Mode::Auto).planned().await;
    assert_eq!(steps(&plan, A)[0], "1 attached: terraform_data.b");
    // Nor does who refers to it now and was not made with it.
    let scene = Scene::new(&(alone.clone() + &user("\"x\"")), &held("")).await.mode(Mode::Auto);
    scene.workspace.write(&(alone.replace("VERSION", "2") + &user("terraform_data.a.output")));
    let (plan, _) = scene.planned().await;
    assert_eq!(steps(&plan, A)[0], "0 attached");
}

/// Of the only instance anything may be used, not only what it is known by.
#[tokio::test]
async fn what_is_referred_to_is_counted_however_it_is_used() {
    let config = "resource \"terraform_data\" \"b\" {\n  input = \"x\"\n}\n\
                  resource \"terraform_data\" \"a\" {\n  input            = terraform_data.b.id\n  triggers_replace = \"VERSION\"\n}\n";
    let rules = held("via = \"references\"\n    check_conflicts = true");
    let (plan, _) = Scene::new(config, &rules).await.mode(Mode::Auto).planned().await;
    assert_eq!(steps(&plan, A), ["1 attached: terraform_data.b", "minimum 1: met", "1 conflicts: terraform_data.b"]);
    // Of another attribute it is not known whether that will be the same.
    let other = config.replace("terraform_data.b.id", "terraform_data.b.output");
    let (plan, _) = Scene::new(&other, &rules).await.mode(Mode::Auto).planned().await;
    assert_eq!(document(&plan, A)["rules"][0]["result"], "unknown");
}

#[tokio::test]
async fn data_is_referred_to_and_depends_on_nothing_that_is_replaced() {
    let data = "resource \"local_file\" \"f\" {\n  filename = \"DIR/f.txt\"\n  content  = \"x\"\n}\n\
                data \"local_file\" \"d\" {\n  filename = local_file.f.filename\n}\n\
                resource \"terraform_data\" \"a\" {\n  input            = data.local_file.d.id\n  triggers_replace = \"VERSION\"\n}\n";
    let scratch = tempfile::tempdir().unwrap();
    let data = data.replace("DIR", scratch.path().to_str().unwrap());
    let refers = held("via = \"references\"\n    check_conflicts = true")
        .replace("[\"terraform_data\"]\n    via", "[\"local_file\"]\n    via");
    let (plan, _) = Scene::new(&data, &refers).await.mode(Mode::Auto).planned().await;
    assert_eq!(order(&plan, A), Action::CreateThenDelete);
    assert!(steps(&plan, A)[2].contains("data.local_file.d"), "{:?}", steps(&plan, A));

    let used = "resource \"terraform_data\" \"a\" {\n  input            = \"DIR/f.txt\"\n  triggers_replace = \"VERSION\"\n}\n\
                resource \"local_file\" \"f\" {\n  filename = terraform_data.a.output\n  content  = terraform_data.a.id\n}\n\
                data \"local_file\" \"d\" {\n  filename = local_file.f.filename\n}\n";
    let used = used.replace("DIR", scratch.path().to_str().unwrap());
    let depend = held("").replace("[\"terraform_data\"]\n    \n", "[\"local_file\"]\n");
    let (plan, _) = Scene::new(&used, &depend).await.mode(Mode::Auto).planned().await;
    assert_eq!(steps(&plan, A)[0], "1 attached: local_file.f", "what is read holds nothing");
}

#[tokio::test]
async fn what_became_of_a_rule_is_not_told_of_others() {
    // Six are not known, seven are: only those of a kind are told together.
    let config = format!(
        "resource \"terraform_data\" \"new\" {{\n  triggers_replace = \"VERSION\"\n}}\n\
         resource \"terraform_data\" \"a\" {{\n  count = 13\n  input = count.index < 6 ? terraform_data.new.id : \"x\"\n  \
         triggers_replace = \"VERSION\"\n  {CBD}\n}}\n"
    );
    let rules = "replace_rule \"r\" {\n  resource = \"terraform_data\"\n  target   = [\"terraform_data.a\"]\n  predicate \"field_equals\" {\n    \
                 field = \"input\"\n    value = \"x\"\n    on    = \"new\"\n  }\n}\n";
    let (_, found) = Scene::new(&config, rules).await.planned().await;
    let told: Vec<(bool, bool)> = found
        .iter()
        .map(|found| {
            (found.detail.contains("Not known before the apply"), found.detail.contains("terraform_data.a[12]"))
        })
        .collect();
    assert_eq!(told, [(true, false), (false, true)], "{found:?}");
}

/// Machines are told why a rule does not match, and what went wrong.
#[tokio::test]
async fn documents_have_the_trees_of_rules_that_do_not_match_or_fail() {
    let config = "resource \"terraform_data\" \"a\" {\n  input            = 0\n  triggers_replace = \"VERSION\"\n}\n\
                  resource \"terraform_data\" \"b\" {\n  input = terraform_data.a.id\n}\n";
    let asking = |id: &str, contents: &str| {
        format!(
            "replace_rule \"{id}\" {{\n  resource = \"terraform_data\"\n  target = [\"terraform_data.a\"]\n{contents}}}\n"
        )
    };
    let equals =
        "  predicate \"field_equals\" {\n    field = \"input\"\n    value = \"other\"\n    on = \"old\"\n  }\n";
    let changed = "  predicate \"field_changed\" {\n    field = \"triggers_replace\"\n  }\n";
    let many = "  predicate \"has_attached_resources\" {\n    resource_types = [\"terraform_data\"]\n    minimum_count = 2\n  }\n";
    let alone = "  predicate \"resource_count\" {\n    via = \"siblings\"\n    operator = \">\"\n    count = 4\n  }\n";
    let rules = asking("fields", &format!("{equals}{changed}"))
        + &asking("settled", &format!("{equals}{many}"))
        + &asking("asked", &format!("{changed}{many}"))
        + &asking("siblings", alone)
        + &asking("wrong", "  predicate \"state_check\" {\n    condition = 1 / old.input > 1\n  }\n");
    for mode in [Mode::Warn, Mode::Auto] {
        for in_full in [false, true] {
            let mut scene = Scene::new(config, &rules).await.mode(mode);
            scene.workspace.options.replacement.in_full = in_full;
            let (plan, _) = scene.planned().await;
            let document = document(&plan, A);
            let results = |id: &str| -> Vec<String> {
                let rules = document["rules"].as_array().unwrap();
                let rule = rules.iter().find(|rule| rule["id"] == *id).unwrap();
                let parts = rule["tree"]["children"].as_array().unwrap_or_else(|| panic!("{id}: {rule:#}"));
                let all = std::iter::once(&rule["result"]).chain(parts.iter().map(|part| &part["result"]));
                all.map(|result| result.as_str().unwrap().to_owned()).collect()
            };
            assert_eq!(results("fields"), ["false", "false", "true"], "everything is asked");
            let second = if in_full { "false" } else { "skipped" };
            assert_eq!(results("settled"), ["false", "false", second], "what others say does not matter");
            assert_eq!(results("asked"), ["false", "true", "false"]);
            assert_eq!(results("siblings"), ["false", "false"]);
            assert_eq!(results("wrong"), ["error", "error"]);
            let wrong = &document["rules"][4];
            assert_eq!(wrong["status"], "error");
            assert_eq!(wrong["error"], "Division by zero", "{wrong:#}");
        }
    }
}
