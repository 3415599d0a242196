//! What plans look like.

#![allow(clippy::needless_raw_string_hashes, reason = "the tool that updates snapshots writes hashes")]

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::{Expect, expect};
use groma_model::address::{AbsInstance, DeposedKey, Module, Provider, ProviderConfig, Traversal};
use groma_model::path::Path;
use groma_model::schema::{Attribute, Block, NestedBlock, Nesting, Schema};
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_run::engine::ImportTarget;
use groma_run::engine::change::{Note, Reason};
use groma_run::engine::plan::{Options, OutputChange, RelevantAttribute};
use groma_run::state::State;

use super::*;
use crate::render::Style;

const LOOK: Look = Look {
    style: Style { color: false, width: 78, ascii: false },
    fold: false,
    show_sensitive: false,
    in_automation: false,
};

fn address(text: &str) -> AbsInstance {
    AbsInstance::from_traversal(&Traversal::parse(text).unwrap()).unwrap()
}

/// `id` is chosen by the provider, `size` and `tags` are arguments, `disk` is a block.
fn schema() -> Arc<Schema> {
    let argument = |ty: Type| Attribute { optional: true, ..Attribute::of_type(ty) };
    let disk = Block { attributes: BTreeMap::from([("gb".into(), argument(Type::Number))]), ..Block::default() };
    let block = Block {
        attributes: BTreeMap::from([
            ("id".into(), Attribute { computed: true, ..Attribute::of_type(Type::String) }),
            ("size".into(), argument(Type::Number)),
            ("tags".into(), argument(Type::map(Type::String))),
            ("zone".into(), argument(Type::String)),
        ]),
        block_types: BTreeMap::from([(
            "disk".into(),
            NestedBlock { block: disk, nesting: Nesting::List, min_items: 0, max_items: 0 },
        )]),
        ..Block::default()
    };
    Arc::new(Schema { version: 0, block })
}

fn null() -> Value {
    Value::null(schema().block.implied_type())
}

/// A thing with this id and size.
fn thing(id: Option<&str>, size: i64) -> Value {
    let id = id.map_or_else(|| Value::unknown(Type::String), Value::string);
    let disks = Value::list(Type::object([("gb", Type::Number)]), Vec::new());
    let tags = Value::null(Type::map(Type::String));
    let zone = Value::null(Type::String);
    Value::object([("disk", disks), ("id", id), ("size", Value::number(size)), ("tags", tags), ("zone", zone)])
}

#[expect(clippy::default_trait_access, reason = "the name of that type is not known here")]
fn change(at: &str, action: Action, before: Value, after: Value) -> Change {
    Change {
        address: address(at),
        deposed: None,
        previous_address: None,
        provider: ProviderConfig::default_in(Module::root(), Provider::builtin("terraform"))
            .instance(groma_model::address::InstanceKey::None),
        action,
        reason: None,
        before,
        after,
        configured_sensitive: Vec::new(),
        before_identity: None,
        after_identity: None,
        private: Default::default(),
        replace_paths: Vec::new(),
        importing: None,
        schema: schema(),
        dependencies: Arc::new([]),
        create_before_destroy: false,
        generated_config: None,
        notes: Vec::new(),
        not_ready: None,
    }
}

fn created(at: &str) -> Change {
    change(at, Action::Create, null(), thing(None, 1))
}

fn updated(at: &str) -> Change {
    change(at, Action::Update, thing(Some("i"), 1), thing(Some("i"), 2))
}

fn deleted(at: &str, reason: Reason) -> Change {
    Change { reason: Some(reason), ..change(at, Action::Delete, thing(Some("i"), 1), null()) }
}

fn replaced(at: &str, action: Action, reason: Reason) -> Change {
    Change { reason: Some(reason), ..change(at, action, thing(Some("i"), 1), thing(None, 1)) }
}

fn planned(changes: Vec<Change>) -> Plan {
    Plan {
        mode: PlanMode::Normal,
        changes,
        drift: Vec::new(),
        outputs: BTreeMap::new(),
        previous_state: State::default(),
        prior_state: State::default(),
        data: BTreeMap::new(),
        execution: groma_run::engine::execution::Execution::default(),
        checks: Vec::new(),
        replacement: groma_run::engine::replacement::Replacement::default(),
        relevant: Vec::new(),
        options: Options::default(),
        errored: false,
    }
}

fn check(given: &Plan, expected: Expect) {
    expected.assert_eq(&plan(given, &LOOK));
}

/// The comments in front of the changes.
fn headlines(changes: Vec<Change>) -> String {
    let text = plan(&planned(changes), &LOOK);
    let comments = text.lines().filter_map(|line| line.strip_prefix("  # "));
    comments.flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn things_are_made_changed_and_deleted() {
    let given = planned(vec![
        created("a_thing.new"),
        updated("a_thing.old"),
        deleted("a_thing.gone", Reason::DeleteBecauseNoResourceConfig),
        change("a_thing.same", Action::NoOp, thing(Some("i"), 1), thing(Some("i"), 1)),
    ]);
    check(
        &given,
        expect![[r#"

        groma used the selected providers to generate the following execution plan.
        Resource actions are indicated with the following symbols:
          + create
          ~ update in-place (current -> planned)
          - destroy

        groma will perform the following actions:

          # a_thing.new will be created
          + resource "a_thing" "new" {
              + id   = (known after apply)
              + size = 1
            }

          # a_thing.old will be updated in-place
          ~ resource "a_thing" "old" {
                id   = "i"
              ~ size = 1 -> 2
            }

          # a_thing.gone will be destroyed
          # (because a_thing.gone is not in configuration)
          - resource "a_thing" "gone" {
              - id   = "i" -> null
              - size = 1 -> null
            }

        Plan: 1 to add, 1 to change, 1 to destroy.
    "#]],
    );
}

#[test]
fn what_forces_a_replacement_is_said() {
    let zone = |name: &str, id| {
        let entries = thing(id, 1);
        let parts = entries.as_entries().unwrap().iter().map(|(name, value)| (name.clone(), value.clone()));
        let parts: BTreeMap<_, _> = parts.chain([("zone".into(), Value::string(name))]).collect();
        Value::object(parts)
    };
    let mut given = change("a_thing.a", Action::DeleteThenCreate, zone("x", Some("i")), zone("y", None));
    given.reason = Some(Reason::ReplaceBecauseCannotUpdate);
    given.replace_paths = vec![Path::root().attr("zone")];
    check(
        &planned(vec![given]),
        expect![[r#"

        groma used the selected providers to generate the following execution plan.
        Resource actions are indicated with the following symbols:
        -/+ destroy and then create replacement

        groma will perform the following actions:

          # a_thing.a must be replaced
        -/+ resource "a_thing" "a" {
              ~ id   = "i" -> (known after apply)
              ~ zone = "x" -> "y" # forces replacement
                # (1 unchanged attribute hidden)
            }

        Plan: 1 to add, 0 to change, 1 to destroy.
    "#]],
    );
}

#[test]
fn every_reason_has_its_words() {
    let mut moved = deleted("a_thing.m", Reason::DeleteBecauseNoMoveTarget);
    moved.previous_address = Some(address("a_thing.l"));
    let read = |reason| {
        let mut read = change("data.a_thing.d", Action::Read, null(), thing(None, 1));
        read.reason = Some(reason);
        read
    };
    let forgotten = |reason| Change { action: Action::Forget, ..deleted("a_thing.f", reason) };
    let given = vec![
        deleted("a_thing.a", Reason::DeleteBecauseNoResourceConfig),
        deleted("module.m[0].a_thing.a", Reason::DeleteBecauseNoModule),
        deleted("a_thing.a", Reason::DeleteBecauseWrongRepetition),
        deleted("a_thing.a[0]", Reason::DeleteBecauseWrongRepetition),
        deleted("a_thing.a[\"k\"]", Reason::DeleteBecauseWrongRepetition),
        deleted("a_thing.a[3]", Reason::DeleteBecauseCountIndex),
        deleted("a_thing.a[\"k\"]", Reason::DeleteBecauseEachKey),
        deleted("a_thing.a", Reason::DeleteBecauseEnabledFalse),
        moved,
        replaced("a_thing.r", Action::DeleteThenCreate, Reason::ReplaceBecauseTainted),
        replaced("a_thing.r", Action::CreateThenDelete, Reason::ReplaceByRequest),
        replaced("a_thing.r", Action::DeleteThenCreate, Reason::ReplaceByTriggers),
        replaced("a_thing.r", Action::ForgetThenCreate, Reason::ReplaceBecauseCannotUpdate),
        read(Reason::ReadBecauseConfigUnknown),
        read(Reason::ReadBecauseDependencyPending),
        read(Reason::ReadBecauseCheckNested),
        forgotten(Reason::ForgotBecauseLifecycleDestroyInConfig),
        forgotten(Reason::ForgotBecauseLifecycleDestroyInState),
        forgotten(Reason::DeleteBecauseNoResourceConfig),
    ];
    expect![[r#"
        a_thing.a will be destroyed
        (because a_thing.a is not in configuration)
        module.m[0].a_thing.a will be destroyed
        (because module.m[0] is not in configuration)
        a_thing.a will be destroyed
        (because resource uses count or for_each)
        a_thing.a[0] will be destroyed
        (because resource does not use count)
        a_thing.a["k"] will be destroyed
        (because resource does not use for_each)
        a_thing.a[3] will be destroyed
        (because index [3] is out of range for count)
        a_thing.a["k"] will be destroyed
        (because key ["k"] is not in for_each map)
        a_thing.a will be destroyed
        (because enabled is false)
        a_thing.m will be destroyed
        (because a_thing.l was moved to a_thing.m, which is not in configuration)
        (moved from a_thing.l)
        a_thing.r is tainted, so it must be replaced
        a_thing.r will be replaced, as requested
        a_thing.r will be replaced due to changes in replace_triggered_by
        a_thing.r must be replaced - older instance will not be destroyed (lifecycle.destroy = false)
        data.a_thing.d will be read during apply
        (config refers to values not yet known)
        data.a_thing.d will be read during apply
        (depends on a resource or a module with changes pending)
        data.a_thing.d will be read during apply
        (config will be reloaded to verify a check block)
        a_thing.f will be removed from the groma state but will not be destroyed
        (because lifecycle.destroy = false is set in the configuration)
        a_thing.f will be removed from the groma state but will not be destroyed
        (because lifecycle.destroy = false was configured before this resource was removed)
        a_thing.f will be removed from the groma state but will not be destroyed
    "#]]
    .assert_eq(&headlines(given));
}

#[test]
fn what_is_left_over_moved_or_imported_is_said() {
    let mut leftover = deleted("a_thing.a", Reason::DeleteBecauseNoResourceConfig);
    leftover.reason = None;
    leftover.deposed = DeposedKey::parse("0123abcd");
    let same = |at| change(at, Action::NoOp, thing(Some("i"), 1), thing(Some("i"), 1));
    let moved = Change { previous_address: Some(address("a_thing.old")), ..same("a_thing.new") };
    let moved_and_changed = Change { previous_address: Some(address("a_thing.old")), ..updated("a_thing.newer") };
    let imported = |target| Change { importing: Some(target), ..same("a_thing.i") };
    let generated = Change { generated_config: Some("x".into()), ..imported(ImportTarget::Id("an \"id\"".into())) };
    let by_identity = imported(ImportTarget::Identity(Value::object([("region", Value::string("x"))])));
    let mut replaced = replaced("a_thing.r", Action::DeleteThenCreate, Reason::ReplaceBecauseCannotUpdate);
    replaced.importing = Some(ImportTarget::Id("x".into()));
    let given = vec![leftover, moved, moved_and_changed, generated, by_identity, replaced];
    expect![[r#"
        a_thing.a (deposed object 0123abcd) will be destroyed
        (left over from a partially-failed replacement of this instance)
        a_thing.old has moved to a_thing.new
        a_thing.newer will be updated in-place
        (moved from a_thing.old)
        a_thing.i will be imported
        (config will be generated)
        (imported from "an \"id\"")
        a_thing.i will be imported
        imported using resource identity: {
          "region": "x"
        }
        a_thing.r must be replaced
        (imported from "x")
        Warning: this will destroy the imported resource
    "#]]
    .assert_eq(&headlines(given));
}

#[test]
fn notes_are_a_line_each() {
    let mut given = replaced("a_thing.r", Action::CreateThenDelete, Reason::ReplaceByTriggers);
    given.notes = vec![
        Note::Ignored(Path::root().attr("tags").key("a")),
        Note::TriggeredBy("a_thing.b.size".into()),
        Note::TakenAlong("a_thing.d".into(), "with-its-box".into()),
        Note::MadeFirstFor(address("a_thing.c").config()),
        Note::Requested,
        Note::NotDestroyed,
    ];
    expect![[r#"
        a_thing.r will be replaced due to changes in replace_triggered_by
        (ignore_changes keeps tags["a"])
        (replace_triggered_by: a_thing.b.size changes)
        (replaced along with a_thing.d: rule "with-its-box", replace_dependents)
        (its replacement is made first, as a_thing.c asks for)
    "#]]
    .assert_eq(&headlines(vec![given]));
}

#[test]
fn what_is_forgotten_has_no_signs() {
    let given = Change { action: Action::Forget, ..deleted("a_thing.a", Reason::DeleteBecauseNoResourceConfig) };
    check(
        &planned(vec![given]),
        expect![[r#"

        groma used the selected providers to generate the following execution plan.
        Resource actions are indicated with the following symbols:
          . forget

        groma will perform the following actions:

          # a_thing.a will be removed from the groma state but will not be destroyed
          . resource "a_thing" "a" {
            id   = "i"
            size = 1
        }

        Plan: 0 to add, 0 to change, 0 to destroy, 1 to forget.
    "#]],
    );
}

#[test]
fn what_is_imported_is_shown_whole() {
    let mut given = change("a_thing.i", Action::NoOp, thing(Some("i"), 1), thing(Some("i"), 1));
    given.importing = Some(ImportTarget::Id("x".into()));
    check(
        &planned(vec![given]),
        expect![[r#"

        groma will perform the following actions:

          # a_thing.i will be imported
          # (imported from "x")
            resource "a_thing" "i" {
                id   = "i"
                size = 1
            }

        Plan: 1 to import, 0 to add, 0 to change, 0 to destroy.
    "#]],
    );
}

fn output(action: Action, before: Value, after: Value, sensitive: bool) -> OutputChange {
    OutputChange { action, before, after, sensitive }
}

#[test]
fn outputs_change() {
    let nothing = || Value::null(Type::Dynamic);
    let mut given = planned(Vec::new());
    given.outputs = BTreeMap::from([
        ("added".into(), output(Action::Create, nothing(), Value::string("x"), false)),
        ("changed".into(), output(Action::Update, Value::number(1), Value::string("one"), false)),
        ("gone".into(), output(Action::Delete, Value::number(1), nothing(), false)),
        ("same".into(), output(Action::NoOp, Value::number(1), Value::number(1), false)),
        ("secret".into(), output(Action::Update, Value::string("hush"), Value::string("hush!"), true)),
        (
            "told".into(),
            output(Action::Update, Value::string("hush").mark(Mark::Sensitive), Value::string("hush!"), false),
        ),
    ]);
    check(
        &given,
        expect![[r#"

        Changes to Outputs:
          + added   = "x"
          ~ changed = 1 -> "one"
          - gone    = 1 -> null
          ~ secret  = (sensitive value)
          ~ told    = (sensitive value)

        You can apply this plan to save these new output values to the state, without
        changing any real infrastructure.
    "#]],
    );
}

#[test]
fn nothing_to_do() {
    check(
        &planned(Vec::new()),
        expect![[r#"

        No changes. Your infrastructure matches the configuration.

        groma has compared your real infrastructure with your configuration and found
        no differences, so no changes are needed.
    "#]],
    );
    check(
        &Plan { mode: PlanMode::Destroy, ..planned(Vec::new()) },
        expect![[r#"

        No changes. No objects need to be destroyed.

        Either you have not created any objects yet or the existing objects were
        already deleted outside of groma.
    "#]],
    );
    check(
        &Plan { mode: PlanMode::RefreshOnly, ..planned(Vec::new()) },
        expect![[r#"

        No changes. Your infrastructure still matches the configuration.

        groma has checked that the real objects are as your last changes left them,
        and found no differences.
    "#]],
    );
    check(
        &Plan { errored: true, ..planned(Vec::new()) },
        expect![[r#"

        Planning failed. groma encountered an error while generating this plan.

    "#]],
    );
}

#[test]
fn an_incomplete_plan_says_so() {
    let given = Plan { errored: true, ..planned(vec![created("a_thing.a")]) };
    assert!(plan(&given, &LOOK).contains("\ngroma planned the following actions, but then encountered a problem:\n"));
}

#[test]
fn drift_is_shown_as_far_as_it_matters() {
    let mut given = planned(vec![created("a_thing.b")]);
    given.drift = vec![updated("a_thing.a"), updated("a_thing.unrelated")];
    assert!(!plan(&given, &LOOK).contains("outside"));
    let relevant =
        |attribute: &str| RelevantAttribute { resource: "a_thing.a".into(), attribute: Path::root().attr(attribute) };
    given.relevant = vec![relevant("zone")];
    assert!(!plan(&given, &LOOK).contains("outside"));
    given.relevant = vec![relevant("size")];
    check(
        &given,
        expect![[r#"

        Note: Objects have changed outside of groma

        groma detected the following changes made outside of groma since the last
        "groma apply" which may have affected this plan:

          # a_thing.a has changed
          ~ resource "a_thing" "a" {
                id   = "i"
              ~ size = 1 -> 2
            }


        Unless your configuration says the same, or tells groma to leave it with
        ignore_changes, the following plan may undo these changes or follow from
        them.

        ─────────────────────────────────────────────────────────────────────────────

        groma used the selected providers to generate the following execution plan.
        Resource actions are indicated with the following symbols:
          + create

        groma will perform the following actions:

          # a_thing.b will be created
          + resource "a_thing" "b" {
              + id   = (known after apply)
              + size = 1
            }

        Plan: 1 to add, 0 to change, 0 to destroy.
    "#]],
    );
    // Nobody asks where a plan that does nothing comes from.
    given.changes.clear();
    assert!(!plan(&given, &LOOK).contains("outside"));
}

#[test]
fn a_refresh_shows_all_drift() {
    let gone = change("a_thing.gone", Action::Delete, thing(Some("i"), 1), null());
    let drift = vec![updated("a_thing.a"), gone];
    check(
        &Plan { mode: PlanMode::RefreshOnly, drift, ..planned(Vec::new()) },
        expect![[r#"

        Note: Objects have changed outside of groma

        groma detected the following changes made outside of groma since the last
        "groma apply" which may have affected this plan:

          # a_thing.a has changed
          ~ resource "a_thing" "a" {
                id   = "i"
              ~ size = 1 -> 2
            }

          # a_thing.gone has been deleted
          - resource "a_thing" "gone" {
              - id   = "i" -> null
              - size = 1 -> null
            }


        This is a refresh-only plan, so groma will not take any actions to undo
        these. If you were expecting these changes then you can apply this plan to
        record the updated values in the state without changing any real objects.
    "#]],
    );
}

#[test]
fn many_that_are_alike_are_folded_for_people() {
    let mut changes: Vec<Change> = Vec::new();
    for index in 0..1000 {
        let mut change = created(&format!("a_thing.a[{index}]"));
        // Their own number makes no difference, another one does.
        change.after = thing(None, if index == 500 { 7 } else { index });
        changes.push(change);
    }
    // What the provider chose makes no difference either.
    for index in 0..12 {
        let before = thing(Some(&format!("i-{}", index * 7919)), 1);
        changes.push(change(&format!("a_thing.b[{index}]"), Action::Delete, before, null()));
    }
    let given = planned(changes);
    let complete = plan(&given, &LOOK);
    assert_eq!(complete.matches(" will be created").count(), 1000);
    let folded = plan(&given, &Look { fold: true, ..LOOK });
    let lines = folded.lines().filter(|line| line.starts_with("  # ") || line.starts_with("Plan:"));
    expect![[r#"
          # a_thing.a[0] will be created
          # a_thing.a[1] will be created
          # a_thing.a[2] will be created
          # … and 996 more like a_thing.a[0], up to a_thing.a[999]
          # a_thing.a[500] will be created
          # a_thing.b[0] will be destroyed
          # a_thing.b[1] will be destroyed
          # a_thing.b[2] will be destroyed
          # a_thing.b[3] will be destroyed
          # … and 8 more like a_thing.b[0], up to a_thing.b[11]
        Plan: 1000 to add, 0 to change, 12 to destroy.
    "#]]
    .assert_eq(&lines.flat_map(|line| [line, "\n"]).collect::<String>());
}

#[test]
fn colours_add_nothing_but_colours() {
    let given = planned(vec![created("a_thing.a"), updated("a_thing.b")]);
    let look = Look { style: Style { color: true, width: 78, ascii: false }, ..LOOK };
    let coloured = plan(&given, &look);
    assert!(coloured.contains("\u{1b}[32m+\u{1b}[0m"));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, behind)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = behind.split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_eq!(plain, plan(&given, &LOOK));
}

#[test]
fn what_to_do_next() {
    let saved = next_step(Some("my plan".as_ref()), Some("new.tf".as_ref()), &LOOK);
    expect![[r#"

        ─────────────────────────────────────────────────────────────────────────────

        groma has generated configuration and written it to new.tf. Look it through,
        and change what needs to be changed, before you keep it.

        Saved the plan to: my plan

        To perform exactly these actions, run the following command to apply:
            groma apply "my plan"
    "#]]
    .assert_eq(&saved);
    assert_eq!(next_step(None, None, &Look { in_automation: true, ..LOOK }), "");
}
