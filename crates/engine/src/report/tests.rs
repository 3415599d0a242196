//! Explanations as people read them.

#![allow(
    clippy::unwrap_used,
    clippy::needless_raw_string_hashes,
    reason = "tests may panic, and the tool that updates snapshots writes hashes"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::{Expect, expect};
use groma_model::address::{ConfigResource, Provider, ProviderConfig};
use groma_model::mark::Mark;
use groma_model::schema::{Attribute, Block, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::Private;
use groma_state::{Attributes, CheckStatus, InstanceState, ObjectState, ResourceState, State};

use super::*;
use crate::checks::{CheckReport, Checked, InstanceReport};
use crate::execution::{Execution, Step};
use crate::plan::Options;

fn change(address: &str, action: Action) -> Change {
    let attributes =
        [("id", Type::String), ("size", Type::Number), ("secret", Type::String), ("tags", Type::map(Type::String))];
    let attributes: BTreeMap<Str, Attribute> =
        attributes.into_iter().map(|(name, ty)| (Str::from(name), Attribute::of_type(ty))).collect();
    let schema = Arc::new(Schema { version: 0, block: Block { attributes, ..Block::default() } });
    let nothing = Value::null(schema.block.implied_type());
    let provider = ProviderConfig::default_in(groma_model::address::Module::root(), Provider::builtin("test"));
    Change {
        address: address.parse().unwrap(),
        deposed: None,
        previous_address: None,
        provider: provider.instance(groma_model::address::InstanceKey::None),
        action,
        reason: None,
        before: nothing.clone(),
        after: nothing,
        configured_sensitive: Vec::new(),
        before_identity: None,
        after_identity: None,
        private: Private::default(),
        replace_paths: Vec::new(),
        importing: None,
        schema,
        dependencies: Arc::new([]),
        create_before_destroy: false,
        generated_config: None,
        notes: Vec::new(),
        not_ready: None,
    }
}

fn object(id: &str, size: i64, secret: &str, tag: &str) -> Value {
    let tags: BTreeMap<Str, Value> = [(Str::from("name"), Value::string(tag))].into();
    Value::object([
        ("id", Value::string(id)),
        ("secret", Value::string(secret).mark(Mark::Sensitive)),
        ("size", Value::number(size)),
        ("tags", Value::map(Type::String, tags.into_iter().collect())),
    ])
}

fn plan(changes: Vec<Change>, execution: Execution) -> Plan {
    Plan {
        mode: Mode::Normal,
        changes,
        drift: Vec::new(),
        outputs: BTreeMap::new(),
        previous_state: State::default(),
        prior_state: State::default(),
        data: BTreeMap::new(),
        execution,
        checks: Vec::new(),
        replacement: crate::replacement::Replacement::default(),
        relevant: Vec::new(),
        options: Options::default(),
        errored: false,
    }
}

/// Everything that an explanation says, in short.
fn shown(plan: &Plan, address: &str) -> String {
    let mut text = String::new();
    for found in explain(plan, &address.parse().unwrap()) {
        let mut line = |head: &str, rest: String| writeln!(text, "{head} {rest}").unwrap();
        line("#", found.summary);
        found.because.into_iter().for_each(|because| line("because", because));
        for attribute in found.attributes {
            let AttributeChange { path, difference, forces_replacement, sensitive, before, after } = attribute;
            let forces = if forces_replacement { ", forces replacement" } else { "" };
            let hidden = if sensitive { ", sensitive" } else { "" };
            line("differs", format!("{path} {difference:?} {before:?} {after:?}{forces}{hidden}"));
        }
        found.ignored.into_iter().for_each(|path| line("ignored", path.to_string()));
        found.drift.into_iter().for_each(|drift| line("drift", format!("{} {:?}", drift.path, drift.difference)));
        found.drifted_dependencies.into_iter().for_each(|address| line("drifted", address.to_string()));
        found.replacement_order.into_iter().for_each(|order| line("order", order));
        let neighbour = |found: Neighbour| format!("{} is {}", found.address, found.step.done());
        found.waits_for.into_iter().for_each(|other| line("waits until", neighbour(other)));
        found.needed_by.into_iter().for_each(|other| line("before", neighbour(other)));
        found.blocked.into_iter().for_each(|blocked| line("blocked", blocked));
    }
    text
}

fn check(plan: &Plan, address: &str, expected: Expect) {
    expected.assert_eq(&shown(plan, address));
}

fn replaced() -> Change {
    Change {
        reason: Some(Reason::ReplaceBecauseCannotUpdate),
        before: object("i-1", 1, "old", "x"),
        after: object("i-2", 2, "new", "x"),
        replace_paths: vec![Path::root().attr("size")],
        ..change("test_thing.web", Action::CreateThenDelete)
    }
}

#[test]
fn a_replacement_and_its_place_in_the_order() {
    let base = change("test_thing.base", Action::Create);
    let needed: ConfigResource = base.address.config();
    let user = change("test_thing.user[0]", Action::Update);
    let other = change("test_thing.user[1]", Action::Delete);
    let notes = vec![Note::MadeFirstFor(user.address.config()), Note::Ignored(Path::root().attr("tags").key("a"))];
    let web = Change { dependencies: Arc::new([needed]), notes, ..replaced() };
    let changes = vec![base, user, other, web];
    // Declarations 0 to 2, a gate, then what is done.
    let execution = Execution {
        steps: vec![
            Step::Declare(0),
            Step::Declare(1),
            Step::Gate,
            Step::Make(0),
            Step::Make(3),
            Step::Make(1),
            Step::Remove(2),
            Step::Remove(3),
        ],
        needs: vec![vec![3], vec![0, 4], vec![5, 6], vec![], vec![0], vec![1], vec![], vec![2, 4]],
        deposed_as: BTreeMap::new(),
    };
    let plan = plan(changes, execution);
    check(
        &plan,
        "test_thing.web",
        expect![[r#"
            # test_thing.web will be replaced: a new one is created, then the old one destroyed.
            because The provider cannot change size in place.
            differs .id Changed Some("\"i-1\"") Some("\"i-2\"")
            differs .secret Changed None None, sensitive
            differs .size Changed Some("1") Some("2"), forces replacement
            ignored .tags["a"]
            order The new object is created first because test_thing.user, which depends on it, says create_before_destroy: it must never be without this one.
            waits until test_thing.base is created
            waits until test_thing.user[0] is updated
            waits until test_thing.user[1] is destroyed
            before test_thing.user[0] is updated
        "#]],
    );
    check(
        &plan,
        "test_thing.base",
        expect![[r#"
            # test_thing.base will be created.
            because The configuration declares it, and the state has no object for it.
            before test_thing.user[0] is updated
            before test_thing.web is created
        "#]],
    );
}

#[test]
fn something_changed_outside() {
    let drift = Change {
        before: object("i-1", 1, "old", "x"),
        after: object("i-1", 3, "old", "x"),
        ..change("test_thing.web", Action::Update)
    };
    let update = Change {
        before: object("i-1", 3, "old", "x"),
        after: object("i-1", 1, "old", "y"),
        ..change("test_thing.web", Action::Update)
    };
    let gone = Change { before: object("i-9", 1, "old", "x"), ..change("test_thing.gone", Action::Delete) };
    let again = change("test_thing.gone", Action::Create);
    let user = Change {
        dependencies: Arc::new([drift.address.config()]),
        before: object("i-7", 1, "old", "x"),
        after: object("i-7", 1, "old", "x"),
        ..change("test_thing.user", Action::NoOp)
    };
    let plan = Plan { drift: vec![gone, drift], ..plan(vec![again, user, update], Execution::default()) };
    check(
        &plan,
        "test_thing.web",
        expect![[r#"
            # test_thing.web will be updated in place.
            because Its configuration and the object as it is differ.
            differs .size Changed Some("3") Some("1")
            differs .tags["name"] Changed Some("\"x\"") Some("\"y\"")
            drift .size Changed
        "#]],
    );
    check(
        &plan,
        "test_thing.gone",
        expect![[r#"
            # test_thing.gone will be created.
            because It was there when the last run ended and is gone now: something else deleted it. It is created again.
        "#]],
    );
    check(
        &plan,
        "test_thing.user",
        expect![[r#"
            # Nothing is done with test_thing.user.
            because The object is as its configuration says.
            drifted test_thing.web
        "#]],
    );
}

#[test]
fn every_reason_has_words() {
    let reasons = [
        Reason::ReplaceBecauseTainted,
        Reason::ReplaceByRequest,
        Reason::ReplaceByTriggers,
        Reason::ReplaceBecauseCannotUpdate,
        Reason::DeleteBecauseNoResourceConfig,
        Reason::DeleteBecauseNoModule,
        Reason::DeleteBecauseWrongRepetition,
        Reason::DeleteBecauseCountIndex,
        Reason::DeleteBecauseEachKey,
        Reason::DeleteBecauseEnabledFalse,
        Reason::DeleteBecauseNoMoveTarget,
        Reason::ReadBecauseConfigUnknown,
        Reason::ReadBecauseDependencyPending,
        Reason::ReadBecauseCheckNested,
        Reason::ForgotBecauseLifecycleDestroyInConfig,
        Reason::ForgotBecauseLifecycleDestroyInState,
    ];
    let of = change("module.a.test_thing.x[3]", Action::Delete);
    let text: String = reasons.iter().map(|reason| words::reason(*reason, &of) + "\n").collect();
    expect![[r#"
        It is tainted: an earlier apply failed while creating it, or "taint" marked it, so it is replaced.
        A replacement was asked for with -replace.
        Something that its replace_triggered_by names changes.
        The provider cannot make this change in place.
        The configuration has no resource block for test_thing.x any more.
        The configuration does not call module.a any more.
        The resource has no count any more, and this instance has a number.
        Its index [3] is beyond the present count.
        Its key [3] is not in for_each any more.
        Its lifecycle says enabled = false.
        It was moved to this address, and the configuration declares nothing here.
        Its configuration refers to values that are not known before the apply.
        Something that it depends on changes first.
        It belongs to a check block, which reads it at the end of each apply.
        Its lifecycle block says destroy = false, so the object is kept.
        When it was last applied its lifecycle block said destroy = false, so the object is kept.
    "#]]
    .assert_eq(&text);
}

#[test]
fn why_nothing_is_done() {
    let moved = Change {
        previous_address: Some("test_thing.old".parse().unwrap()),
        before: object("i-1", 1, "old", "x"),
        after: object("i-1", 1, "old", "x"),
        ..change("test_thing.web", Action::NoOp)
    };
    let mut plan = plan(vec![moved], Execution::default());
    plan.options.refresh = false;
    check(
        &plan,
        "test_thing.web",
        expect![[r#"
            # Nothing is done with test_thing.web.
            because It was test_thing.old before; a moved block, or the loss of a count, gave it its new address.
            because Objects were not read anew (-refresh=false), so what changed outside is not seen.
        "#]],
    );
    let provider = plan.changes[0].provider.config.clone();
    let stored = ObjectState::new(0, Attributes::Json("{}".to_owned()));
    let resource = ResourceState {
        provider,
        instances: [(groma_model::address::InstanceKey::None, InstanceState::from(stored))].into(),
    };
    let left: AbsInstance = "test_thing.left".parse().unwrap();
    plan.prior_state.resources.insert(left.resource(), resource);
    plan.options.targets = vec!["test_thing.web".parse().unwrap()];
    plan.data.insert("data.test_thing.read".parse().unwrap(), Value::empty_object());
    check(
        &plan,
        "test_thing.left",
        expect![[r#"
            # Nothing is done with test_thing.left.
            because It is left out by -target or -exclude.
        "#]],
    );
    check(
        &plan,
        "data.test_thing.read",
        expect![[r#"
            # Nothing is done with data.test_thing.read.
            because It was read while the plan was made, so nothing is left to do for it.
        "#]],
    );
    check(&plan, "test_thing.unheard_of", expect![""]);
    let all: Vec<String> = addresses(&plan).iter().map(ToString::to_string).collect();
    assert_eq!(all, ["data.test_thing.read", "test_thing.left", "test_thing.web"]);
}

#[test]
fn what_keeps_it_from_being_done() {
    let web = replaced();
    let address = web.address.clone();
    let report = CheckReport {
        subject: Checked::Resource(address.config()),
        status: CheckStatus::Fail,
        instances: vec![InstanceReport {
            address: CheckedInstance::Resource(address),
            status: CheckStatus::Fail,
            problems: vec!["The size must be odd.".to_owned()],
        }],
    };
    let plan = Plan { checks: vec![report], errored: true, ..plan(vec![web], Execution::default()) };
    let found = &explain(&plan, &"test_thing.web".parse().unwrap())[0];
    assert_eq!(
        found.blocked,
        [
            "A condition does not hold: The size must be odd.",
            "The plan is incomplete, since there were errors. It cannot be applied."
        ]
    );
}

#[test]
fn secrets_inside_of_what_is_hidden_stay_hidden() {
    let hidden = |text: &str| {
        let tags: BTreeMap<Str, Value> = [(Str::from("name"), Value::string(text))].into();
        Value::object([
            ("id", Value::string("i")),
            ("secret", Value::null(Type::String)),
            ("size", Value::null(Type::Number)),
            ("tags", Value::map(Type::String, tags.into_iter().collect()).mark(Mark::Sensitive)),
        ])
    };
    let update = Change {
        before: hidden("topsecret1"),
        after: hidden("topsecret2"),
        ..change("test_thing.web", Action::Update)
    };
    let text = shown(&plan(vec![update], Execution::default()), "test_thing.web");
    assert!(!text.contains("topsecret"), "{text}");
    assert!(text.contains("differs .tags[\"name\"] Changed None None, sensitive"), "{text}");
}

#[test]
fn copies_of_secrets_are_hidden_too() {
    let copied = |secret: &str| {
        Value::object([
            ("id", Value::string(format!("made with {secret}"))),
            ("secret", Value::string(secret).mark(Mark::Sensitive)),
            ("size", Value::null(Type::Number)),
            ("tags", Value::null(Type::map(Type::String))),
        ])
    };
    let update = Change {
        before: copied("topsecret1"),
        after: copied("topsecret2"),
        ..change("test_thing.web", Action::Update)
    };
    let text = shown(&plan(vec![update], Execution::default()), "test_thing.web");
    assert!(!text.contains("topsecret"), "{text}");
    assert!(text.contains("differs .id Changed None None, sensitive"), "{text}");
}
