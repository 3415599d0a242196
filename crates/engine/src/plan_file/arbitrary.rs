//! Random plans: senseless, but each field takes all of its forms.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groma_model::address::{
    AbsInstance, ConfigResource, DeposedKey, InstanceKey, Module, ModuleInstance, Provider, ProviderConfig,
    ProviderInstance, Resource, ResourceMode, Target,
};
use groma_model::mark::{Deprecation, Mark};
use groma_model::number::Number;
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value};
use groma_provider::api::{ImportTarget, Patience, Pending, Private, SaidBy};
use groma_state::{
    Attributes, CheckKind, CheckObject, CheckResult, CheckStatus, InstanceState, ObjectState, ObjectStatus,
    OutputState, ResourceState, State, StoredIdentity,
};

use super::testing::schema;
use crate::change::{Action, Change, Note, Reason};
use crate::checks::{CheckReport, Checked, CheckedInstance, InstanceReport};
use crate::execution::{Execution, Step};
use crate::plan::{Mode, Options, OutputChange, Plan, RelevantAttribute};
use crate::replacement::{Decision, ModeSource, ReplaceOptions, Replacement};
use groma_rules::replace::rule::{Mode as RuleMode, Order};

/// Numbers that are the same for the same seed.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 0
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| make(self))
    }

    fn some<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    fn text(&mut self) -> String {
        let texts = [
            "",
            "a",
            "web",
            "\u{e9}t\u{e9}",
            "with \"quotes\"\n",
            "${x}",
            "a rather long text that goes on for a while",
        ];
        let text = self.pick(&texts);
        if self.flag() { text.to_owned() } else { format!("{text}{}", self.below(1000)) }
    }

    fn name(&mut self) -> Str {
        Str::from(self.pick(&["a", "b", "web", "main"]))
    }

    fn key(&mut self) -> InstanceKey {
        match self.below(3) {
            0 => InstanceKey::None,
            1 => InstanceKey::Int(self.number() as i64 >> self.below(63)),
            _ => InstanceKey::String(self.text().into()),
        }
    }

    fn module(&mut self) -> ModuleInstance {
        let mut module = ModuleInstance::root();
        for _ in 0..self.below(3) {
            module = module.child(self.name(), self.key());
        }
        module
    }

    fn resource(&mut self) -> Resource {
        let mode = self.pick(&[ResourceMode::Managed, ResourceMode::Data, ResourceMode::Ephemeral]);
        Resource::new(mode, self.pick(&["plain_thing", "rich_thing"]), self.name())
    }

    fn address(&mut self) -> AbsInstance {
        let resource = self.resource();
        resource.instance(self.key()).absolute(self.module())
    }

    fn config_resource(&mut self) -> ConfigResource {
        self.address().config()
    }

    fn target(&mut self) -> Target {
        match self.below(3) {
            0 => Target::Module(self.module()),
            1 => Target::Resource(self.address().resource()),
            _ => Target::Instance(self.address()),
        }
    }

    fn provider(&mut self) -> ProviderInstance {
        let provider = Provider::new("registry.example.com", "acme", self.pick(&["x", "y"]));
        let module = Module::new(self.some(2, Self::name));
        let alias = self.maybe(Self::name);
        ProviderConfig { module, provider, alias }.instance(self.key())
    }

    fn path(&mut self) -> Path {
        let step = |chance: &mut Self| match chance.below(4) {
            0 => PathStep::Attr(chance.name()),
            1 => PathStep::Index(PathKey::Number(Number::from(chance.below(9) as u64))),
            2 => PathStep::Index(PathKey::String(chance.text().into())),
            _ => PathStep::Element(Box::new(chance.plain(&Type::String, 1))),
        };
        Path::from(self.some(3, step))
    }

    fn mark(&mut self) -> Mark {
        match self.below(4) {
            0 => Mark::Sensitive,
            1 => Mark::Ephemeral,
            2 => {
                let why = Deprecation { origin: self.text().into(), message: self.text().into(), remote: self.flag() };
                Mark::Deprecated(Arc::new(why))
            }
            _ => Mark::TypeText,
        }
    }

    fn ty(&mut self, depth: usize) -> Type {
        match self.below(if depth == 0 { 3 } else { 8 }) {
            0 => Type::String,
            1 => Type::Number,
            2 => Type::Bool,
            3 => Type::list(self.ty(depth - 1)),
            4 => Type::set(self.ty(depth - 1)),
            5 => Type::map(self.ty(depth - 1)),
            6 => Type::tuple(self.some(3, |chance| chance.ty(depth - 1))),
            _ => Type::object([("a", self.ty(depth - 1)), ("b", self.ty(depth - 1))]),
        }
    }

    fn unknown(&mut self, ty: &Type) -> Value {
        let refinement = match ty {
            Type::String if self.flag() => Refinement::prefix(self.text()),
            Type::Number if self.flag() => Refinement::between(1.into(), 9.into()),
            ty if ty.is_collection() && self.flag() => Refinement::length(1, Some(4000)),
            _ if self.flag() => Refinement::not_null(),
            _ => Refinement::default(),
        };
        Value::unknown_refined(ty.clone(), refinement)
    }

    /// A value of a type without marks.
    fn plain(&mut self, ty: &Type, depth: usize) -> Value {
        match self.below(8) {
            0 => return Value::null(ty.clone()),
            1 => return self.unknown(ty),
            _ => {}
        }
        let inner = depth.saturating_sub(1);
        match ty {
            Type::Dynamic => {
                let own = self.ty(inner);
                self.plain(&own, inner)
            }
            Type::Bool => Value::bool(self.flag()),
            Type::Number => {
                let texts = ["0", "-7", "3.25", "0.1", "123456789012345678901234567890", "9007199254740993"];
                Value::number(Number::parse(self.pick(&texts)).unwrap())
            }
            Type::String => Value::string(self.text()),
            Type::List(element) => {
                let items = self.some(3, |chance| chance.plain(element, inner));
                Value::list(element.as_ref().clone(), items)
            }
            Type::Set(element) => {
                let items = self.some(3, |chance| chance.plain(element, inner));
                Value::set(element.as_ref().clone(), items)
            }
            Type::Map(element) => {
                let entries = self.some(3, |chance| (Str::from(chance.text()), chance.plain(element, inner)));
                let entries: BTreeMap<Str, Value> = entries.into_iter().collect();
                Value::map(element.as_ref().clone(), entries.into_iter().collect())
            }
            Type::Tuple(types) => Value::tuple(types.iter().map(|ty| self.plain(ty, inner)).collect()),
            Type::Object(object) => {
                let attribute = |(name, attribute): (&Str, &groma_model::ty::AttributeType)| {
                    (name.clone(), self.plain(&attribute.ty, inner))
                };
                Value::object(object.iter().map(attribute).collect::<Vec<_>>())
            }
        }
    }

    fn value(&mut self, ty: &Type) -> Value {
        let mut value = self.plain(ty, 3);
        let mut places = Vec::new();
        value.walk(&mut |path, _| {
            places.push(path.clone());
            groma_model::value::WalkControl::Enter
        });
        for _ in 0..self.below(3) {
            let path = self.pick(&places);
            let marks = groma_model::mark::Marks::one(self.mark());
            value = value.with_path_marks(&[groma_model::value::PathMarks { path, marks }]);
        }
        value
    }

    fn own_value(&mut self) -> Value {
        let ty = self.ty(2);
        if self.below(9) == 0 { Value::dynamic() } else { self.value(&ty) }
    }

    pub(super) fn change(&mut self) -> Change {
        let address = self.address();
        let provider = self.provider();
        let resource = &address.instance.resource;
        let schema = schema(&provider.config.provider, resource.mode, &resource.ty).unwrap();
        let ty = schema.block.implied_type();
        let object =
            |chance: &mut Self| if chance.below(5) == 0 { Value::null(Type::Dynamic) } else { chance.value(&ty) };
        let actions = [
            Action::NoOp,
            Action::Create,
            Action::Read,
            Action::Update,
            Action::Delete,
            Action::DeleteThenCreate,
            Action::CreateThenDelete,
            Action::Forget,
            Action::ForgetThenCreate,
        ];
        let reasons = [
            Reason::ReplaceBecauseTainted,
            Reason::DeleteBecauseEachKey,
            Reason::ReadBecauseConfigUnknown,
            Reason::ForgotBecauseLifecycleDestroyInState,
        ];
        Change {
            deposed: self.maybe(Self::deposed),
            previous_address: self.maybe(Self::address),
            action: self.pick(&actions),
            reason: self.maybe(|chance| chance.pick(&reasons)),
            before: object(self),
            after: object(self),
            configured_sensitive: self.some(2, Self::path),
            before_identity: self.maybe(Self::own_value),
            after_identity: self.maybe(Self::own_value),
            private: Private(self.text().into_bytes()),
            replace_paths: self.some(2, Self::path),
            importing: self.maybe(|chance| {
                if chance.flag() { ImportTarget::Id(chance.text()) } else { ImportTarget::Identity(chance.own_value()) }
            }),
            schema,
            dependencies: self.some(3, Self::config_resource).into(),
            create_before_destroy: self.flag(),
            generated_config: self.maybe(Self::text),
            notes: self.some(2, Self::note),
            not_ready: self.maybe(Self::pending),
            address,
            provider,
        }
    }

    fn pending(&mut self) -> Pending {
        Pending {
            waiting_for: self.text(),
            last_seen: self.maybe(Self::text),
            since: self.maybe(|chance| chance.number() as i64),
            by: self.pick(&[SaidBy::Provider, SaidBy::Rule, SaidBy::CreateError]),
            patience: self.maybe(|chance| Patience { timeout: chance.duration(), interval: chance.duration() }),
        }
    }

    fn duration(&mut self) -> Duration {
        Duration::from_millis(self.number() >> 16)
    }

    fn note(&mut self) -> Note {
        match self.below(7) {
            0 => Note::Ignored(self.path()),
            1 => Note::TriggeredBy(self.text()),
            2 => Note::MadeFirstFor(self.config_resource()),
            3 => Note::Requested,
            4 => Note::Ordered(self.text().into()),
            5 => Note::TakenAlong(self.text(), self.text()),
            _ => Note::NotDestroyed,
        }
    }

    fn deposed(&mut self) -> DeposedKey {
        DeposedKey::new(self.number() as u32)
    }

    fn object_state(&mut self) -> ObjectState {
        let attributes = if self.flag() {
            Attributes::Json(format!("{{\"id\":\"{}\"}}", self.below(99)))
        } else {
            Attributes::Flat(self.some(2, |chance| (chance.text(), chance.text())).into_iter().collect())
        };
        ObjectState {
            status: self.pick(&[ObjectStatus::Ready, ObjectStatus::Tainted]),
            sensitive: self.some(2, Self::path),
            private: self.text().into_bytes(),
            dependencies: self.some(3, Self::config_resource),
            create_before_destroy: self.flag(),
            skip_destroy: self.flag(),
            identity: self
                .maybe(|chance| StoredIdentity { json: chance.text(), schema_version: chance.maybe(Self::number) }),
            ..ObjectState::new(self.number(), attributes)
        }
    }

    fn check_result(&mut self) -> CheckResult {
        CheckResult {
            kind: self.pick(&[CheckKind::Resource, CheckKind::Output, CheckKind::Check, CheckKind::Variable]),
            config_address: self.text(),
            status: self.status(),
            objects: self.some(2, |chance| CheckObject {
                address: chance.text(),
                status: chance.status(),
                failures: chance.some(2, Self::text),
            }),
        }
    }

    fn status(&mut self) -> CheckStatus {
        self.pick(&[CheckStatus::Pass, CheckStatus::Fail, CheckStatus::Error, CheckStatus::Unknown])
    }

    fn state(&mut self) -> State {
        let instance = |chance: &mut Self| InstanceState {
            provider_key: chance.key(),
            current: chance.maybe(Self::object_state),
            deposed: chance.some(2, |chance| (chance.deposed(), chance.object_state())).into_iter().collect(),
        };
        let resource = |chance: &mut Self| ResourceState {
            provider: chance.provider().config,
            instances: chance.some(3, |chance| (chance.key(), instance(chance))).into_iter().collect(),
        };
        let output = |chance: &mut Self| OutputState {
            value: chance.own_value().unmark_deep().0,
            sensitive: chance.flag(),
            deprecated: chance.maybe(|chance| chance.text().into()),
        };
        State {
            tool_version: "1.12.0".to_owned(),
            serial: self.number(),
            lineage: self.text(),
            outputs: self.some(2, |chance| (chance.name(), output(chance))).into_iter().collect(),
            resources: self.some(4, |chance| (chance.address().resource(), resource(chance))).into_iter().collect(),
            checks: self.maybe(|chance| chance.some(2, Self::check_result)),
        }
    }

    fn execution(&mut self, changes: usize) -> Execution {
        let mut execution = Execution::default();
        for at in 0..self.below(12) {
            execution.steps.push(match self.below(4) {
                0 if changes > 0 => Step::Make(self.below(changes)),
                1 if changes > 0 => Step::Remove(self.below(changes)),
                2 => Step::Gate,
                _ => Step::Declare(at),
            });
            let needs = if at == 0 { Vec::new() } else { self.some(3, |chance| chance.below(at)) };
            execution.needs.push(needs);
        }
        if changes > 0 && self.flag() {
            execution.deposed_as.insert(self.below(changes), self.deposed());
        }
        execution
    }

    fn checked(&mut self) -> Checked {
        self.checked_instance().config()
    }

    fn checked_instance(&mut self) -> CheckedInstance {
        match self.below(4) {
            0 => CheckedInstance::Resource(self.address()),
            1 => CheckedInstance::Output(self.module(), self.name()),
            2 => CheckedInstance::Check(self.module(), self.name()),
            _ => CheckedInstance::Variable(self.module(), self.name()),
        }
    }

    fn report(&mut self) -> CheckReport {
        CheckReport {
            subject: self.checked(),
            status: self.status(),
            instances: self.some(2, |chance| InstanceReport {
                address: chance.checked_instance(),
                status: chance.status(),
                problems: chance.some(2, Self::text),
            }),
        }
    }

    fn order(&mut self) -> Order {
        self.pick(&[Order::DeleteFirst, Order::CreateFirst])
    }

    fn decision(&mut self) -> Decision {
        Decision { order: self.order(), document: self.text().into() }
    }

    pub(super) fn plan(&mut self) -> Plan {
        let changes = self.some(5, Self::change);
        let previous_state = self.state();
        let mut prior_state = if self.flag() { previous_state.clone() } else { self.state() };
        if self.flag() {
            prior_state.resources.pop_last();
            prior_state.serial = self.number();
        }
        let output = |chance: &mut Self| OutputChange {
            action: chance.pick(&[Action::NoOp, Action::Create, Action::Update, Action::Delete]),
            before: chance.own_value(),
            after: chance.own_value(),
            sensitive: chance.flag(),
        };
        Plan {
            mode: self.pick(&[Mode::Normal, Mode::Destroy, Mode::RefreshOnly]),
            drift: self.some(2, Self::change),
            outputs: self.some(3, |chance| (chance.name(), output(chance))).into_iter().collect(),
            previous_state,
            prior_state,
            data: self.some(2, |chance| (chance.address(), chance.own_value())).into_iter().collect(),
            execution: self.execution(changes.len()),
            checks: self.some(2, Self::report),
            relevant: self.some(2, |chance| RelevantAttribute { resource: chance.text(), attribute: chance.path() }),
            options: Options {
                mode: self.pick(&[Mode::Normal, Mode::Destroy, Mode::RefreshOnly]),
                refresh: self.flag(),
                targets: self.some(2, Self::target),
                excludes: self.some(2, Self::target),
                replace: self.some(2, Self::address),
                parallelism: self.below(100),
                generate_config: self.flag(),
                replacement: ReplaceOptions {
                    mode: self.pick(&[RuleMode::Off, RuleMode::Warn, RuleMode::Auto]),
                    mode_source: self.pick(&[ModeSource::Default, ModeSource::Settings, ModeSource::CommandLine]),
                    orders: self.some(2, |chance| (chance.address(), chance.order())).into_iter().collect(),
                    in_full: self.flag(),
                },
            },
            replacement: Replacement {
                rules: self.text(),
                decisions: self.some(2, |chance| (chance.address(), chance.decision())).into_iter().collect(),
            },
            errored: self.flag(),
            changes,
        }
    }
}
