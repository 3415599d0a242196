//! A working directory over the simulated cloud, and what must be true of both after every step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groma_engine::change::{Action, Change};
use groma_engine::plan::{Mode, Options, Plan, check};
use groma_engine::plan_file;
use groma_model::codec::json;
use groma_model::diag::Diagnostics;
use groma_model::value::Value;
use groma_state::{Attributes, ObjectState, ObjectStatus};
use groma_testkit::chance::Chance;
use groma_testkit::cloud::{Faults, Judge, text};
use groma_testkit::simulator::{resized, schema_block};
use groma_testkit::workspace::{Files, Workspace};

use crate::history::Weather;

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stepped {
    /// As configured.
    Done,
    /// There is no order in which it could be done. Everything is as it was.
    NoOrder,
    /// Calls failed, and what is left has no order.
    Stuck,
}

/// A working directory and its surroundings.
pub(crate) struct World {
    workspace: Workspace,
    weather: Weather,
}

type Checked<T> = Result<T, String>;

impl World {
    pub(crate) fn new(weather: Weather) -> Self {
        Self { workspace: Workspace::default(), weather }
    }

    /// Plans and applies a configuration, until it is as configured.
    pub(crate) async fn step(&mut self, files: Files, seed: u64) -> Checked<Stepped> {
        let mut chance = Chance::new(seed);
        let before = std::mem::replace(&mut self.workspace.files, files);
        let drifted = self.drift(&mut chance);
        let mut options = Options { refresh: drifted || !chance.one_in(6), ..Options::default() };
        let Some(plan) = self.plan(&options, &mut chance).await? else {
            self.workspace.files = before;
            return Ok(Stepped::NoOrder);
        };
        let mut plan = plan;
        if chance.one_in(5) {
            let stays = plan.changes.iter().filter(|change| change.action == Action::NoOp && change.deposed.is_none());
            let stays: Vec<_> = stays.map(|change| change.address.clone()).collect();
            options.replace.extend(chance.pick(&stays));
            let Some(replacing) = self.plan(&options, &mut chance).await? else {
                self.workspace.files = before;
                return Ok(Stepped::NoOrder);
            };
            plan = replacing;
        }
        if self.weather == Weather::Stormy {
            for _ in 0..chance.below(3) {
                self.try_to_apply(&plan, &mut chance).await?;
                // An object that could not be deleted has forgotten that it was to be replaced by one made first, with us as with
                // others, and then there may be no order any more.
                let Some(again) = self.plan(&Options::default(), &mut chance).await? else { return Ok(Stepped::Stuck) };
                plan = again;
            }
        }
        self.apply(&plan, &mut chance).await?;
        self.check_settled(&mut chance).await?;
        Ok(Stepped::Done)
    }

    /// Takes everything down.
    pub(crate) async fn end(&mut self) -> Checked<()> {
        let mut chance = Chance::new(1);
        let options = Options { mode: Mode::Destroy, ..Options::default() };
        let mut plan = self.must_plan(&options, &mut chance, "to destroy in").await?;
        if self.weather == Weather::Stormy {
            self.try_to_apply(&plan, &mut chance).await?;
            plan = self.must_plan(&options, &mut chance, "to destroy in").await?;
        }
        self.apply(&plan, &mut chance).await?;
        let left: Vec<String> = self.workspace.cloud.objects().into_keys().collect();
        if !left.is_empty() || !self.workspace.state.is_empty() {
            return Err(format!("left after destroy: {left:?}, {:?}", self.workspace.state.managed_objects()));
        }
        Ok(())
    }

    /// Sometimes somebody changes or deletes an object by hand.
    fn drift(&self, chance: &mut Chance) -> bool {
        if !chance.one_in(5) {
            return false;
        }
        let cloud = &self.workspace.cloud;
        if chance.one_in(2) {
            return chance.pick(&cloud.unused()).is_some_and(|id| cloud.delete(&id).is_ok());
        }
        let ids: Vec<String> = cloud.objects().into_keys().collect();
        let Some(id) = chance.pick(&ids) else { return false };
        let object = cloud.get(&id).expect("it is there");
        cloud.tamper(&id, resized(&object, 1000));
        true
    }

    /// A plan, made more than once in other circumstances. None if there is no order for it.
    async fn plan(&self, options: &Options, chance: &mut Chance) -> Checked<Option<Plan>> {
        match self.try_to_plan(options, chance).await? {
            Ok(plan) => Ok(Some(plan)),
            Err(_) => Ok(None),
        }
    }

    /// A plan where there must be an order.
    async fn must_plan(&self, options: &Options, chance: &mut Chance, when: &str) -> Checked<Plan> {
        self.try_to_plan(options, chance).await?.map_err(|cycle| format!("no order {when}: {cycle}"))
    }

    /// A plan, or the steps that wait for each other.
    async fn try_to_plan(&self, options: &Options, chance: &mut Chance) -> Checked<Result<Plan, String>> {
        let mut first: Option<Vec<u8>> = None;
        for parallelism in [10, 1 + chance.below(4)] {
            let options = Options { parallelism, ..options.clone() };
            let (plan, diagnostics) = self.workspace.plan(&options, chance.number()).await;
            if let Some(cycle) = diagnostics.iter().find(|found| found.summary.starts_with("Cycle")) {
                return Ok(Err(cycle.summary.clone()));
            }
            let plan = plan.filter(|_| !diagnostics.has_errors());
            let mut plan = plan.ok_or_else(|| format!("no plan: {}", shown(&diagnostics)))?;
            let problems = check::problems(&plan);
            if !problems.is_empty() {
                return Err(format!("the plan is not sound: {problems:?}"));
            }
            plan.options.parallelism = 0;
            let bytes = plan_file::encode(&plan).map_err(|error| format!("not encoded: {error}"))?;
            if first.as_ref().is_some_and(|first| *first != bytes) {
                return Err("not the same plan again: its bytes differ".to_owned());
            }
            first = Some(bytes);
        }
        let bytes = first.expect("two rounds");
        let plan = self.workspace.reread(&bytes);
        if plan_file::encode(&plan).map_err(|error| format!("not encoded: {error}"))? != bytes {
            return Err("not the same plan after it was read: its bytes differ".to_owned());
        }
        Ok(Ok(plan))
    }

    /// Carries a plan out while calls fail. Whatever comes of it, nothing is lost.
    async fn try_to_apply(&mut self, plan: &Plan, chance: &mut Chance) -> Checked<()> {
        let faults = Faults { chance: Chance::new(chance.number()), one_in: 2 + chance.below(5) };
        self.workspace.cloud.set_faults(Some(faults));
        self.carry_out(plan, chance).await;
        self.workspace.cloud.set_faults(None);
        self.check_order()?;
        let known = self.known()?;
        let lost: Vec<String> =
            self.workspace.cloud.objects().into_keys().filter(|id| !known.contains_key(id)).collect();
        if lost.is_empty() { Ok(()) } else { Err(format!("lost: {lost:?}")) }
    }

    async fn apply(&mut self, plan: &Plan, chance: &mut Chance) -> Checked<()> {
        let diagnostics = self.carry_out(plan, chance).await;
        self.check_order()?;
        if diagnostics.has_errors() { Err(format!("not applied: {}", shown(&diagnostics))) } else { Ok(()) }
    }

    async fn carry_out(&mut self, plan: &Plan, chance: &mut Chance) -> Diagnostics {
        self.workspace.cloud.set_judge(Some(judge(plan)));
        let parallelism = 1 + chance.below(10);
        self.workspace.apply(plan, parallelism, chance.number()).await.diagnostics
    }

    fn check_order(&self) -> Checked<()> {
        let refused = self.workspace.cloud.take_refused();
        if refused.is_empty() { Ok(()) } else { Err(format!("in the wrong order: {refused:?}")) }
    }

    /// The objects in the state, by id.
    fn known(&self) -> Checked<BTreeMap<String, (Value, bool)>> {
        let mut found = BTreeMap::new();
        let mut take = |object: &ObjectState, settled: bool| {
            let value = value(object);
            let id = text(&value, "id").ok_or("an object without an id")?;
            let settled = settled && object.status == ObjectStatus::Ready;
            let again = found.insert(id.clone(), (value, settled)).is_some();
            if again { Err(format!("twice in the state: {id}")) } else { Ok(()) }
        };
        for (address, resource) in &self.workspace.state.resources {
            if address.resource.mode != groma_model::address::ResourceMode::Managed {
                continue;
            }
            for instance in resource.instances.values() {
                instance.current.iter().try_for_each(|object| take(object, true))?;
                instance.deposed.values().try_for_each(|object| take(object, false))?;
            }
        }
        Ok(found)
    }

    /// State and cloud agree, and there is nothing left to do.
    async fn check_settled(&self, chance: &mut Chance) -> Checked<()> {
        let (known, there) = (self.known()?, self.workspace.cloud.objects());
        let (ids, real): (BTreeSet<&String>, BTreeSet<&String>) = (known.keys().collect(), there.keys().collect());
        if ids != real {
            return Err(format!("not the same objects: the state has {ids:?}, the cloud has {real:?}"));
        }
        for (id, (value, settled)) in &known {
            if !settled {
                return Err(format!("left over: {id} is tainted or put aside"));
            }
            if there[id] != *value {
                return Err(format!("not the same object: {value:?} and {:?}", there[id]));
            }
        }
        let plan = self.must_plan(&Options::default(), chance, "for nothing").await?;
        if plan.is_empty() && plan.drift.is_empty() {
            return Ok(());
        }
        let changes = plan.changes.iter().filter(|change| change.action != Action::NoOp);
        let changes: Vec<String> = changes.map(|change| format!("{:?} {}", change.action, change.address)).collect();
        let outputs = plan.outputs.iter().filter(|(_, output)| output.action != Action::NoOp);
        let outputs: Vec<_> = outputs.map(|(name, output)| (name, &output.before, &output.after)).collect();
        let drift: Vec<String> = plan.drift.iter().map(|change| change.address.to_string()).collect();
        Err(format!("something left to do: {changes:?}, outputs {outputs:?}, drift {drift:?}"))
    }
}

fn value(object: &ObjectState) -> Value {
    let Attributes::Json(text) = &object.attributes else { panic!("attributes as JSON") };
    json::decode(text, &schema_block().implied_type()).expect("an object of the schema")
}

fn shown(diagnostics: &Diagnostics) -> String {
    let text = |found: &groma_model::diag::Diagnostic| {
        format!("{} {} ({})", found.summary, found.detail, found.address.clone().unwrap_or_default())
    };
    diagnostics.iter().filter(|found| found.is_error()).map(text).collect::<Vec<_>>().join("; ")
}

/// Loose references need not be gone before their target when only an update would remove them: unless the target waits for its
/// successor, it goes first. What goes itself goes before what it refers to, always.
fn judge(plan: &Plan) -> Judge {
    let waits = |change: &Change| {
        change.action == Action::CreateThenDelete || (change.action == Action::Delete && change.create_before_destroy)
    };
    let facts = plan.changes.iter().filter_map(|change| {
        let id = text(&change.before.clone().unmark_deep().0, "id")?;
        Some((id, (waits(change), change.action.deletes())))
    });
    let facts: BTreeMap<String, (bool, bool)> = facts.collect();
    Arc::new(move |target, referring| {
        let waits = facts.get(target).is_some_and(|(waits, _)| *waits);
        waits || facts.get(referring).is_some_and(|(_, goes)| *goes)
    })
}
