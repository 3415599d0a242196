//! A scenario, tried for real: both orders are carried out, and what is planned and warned of is set beside what came of them.

use std::collections::BTreeMap;

use groma_engine::change::Action;
use groma_engine::plan::{Options, Plan};
use groma_engine::replacement::ReplaceOptions;
use groma_model::address::AbsInstance;
use groma_model::diag::{Diagnostics, Severity};
use groma_rules::replace::rule::{Mode, Order};
use groma_simulated::world::Objects;
use groma_state::State;

use crate::runner::{Protocol, Ran, Runner, ids, no_state};
use crate::scenario::Scenario;

/// Whether an order worked out, and if not, what went wrong.
pub(crate) type Outcome = Result<(), String>;

/// What came of a scenario.
pub(crate) struct Trial {
    pub(crate) scenario: Scenario,
    pub(crate) delete_first: Outcome,
    pub(crate) create_first: Outcome,
    pub(crate) plans: Vec<Planned>,
    /// What the protocols do not agree about.
    pub(crate) disparities: Vec<String>,
}

/// One way to plan it: with or without `create_before_destroy`.
pub(crate) struct Planned {
    /// The order without rules.
    pub(crate) order: Order,
    /// What the user is warned of.
    pub(crate) warnings: Vec<Warning>,
    /// What machines are shown of that.
    pub(crate) shown: String,
    /// The order in automatic mode.
    pub(crate) automatic: Order,
    /// What came of it where the order without rules does not work.
    pub(crate) rescue: Option<Rescue>,
}

/// A warning about the order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Warning {
    pub(crate) rule: String,
    /// What it recommends. None if neither order is safe.
    pub(crate) order: Option<Order>,
    /// Whether it could not be known.
    pub(crate) open: bool,
}

/// Who made it work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rescue {
    /// The catalogue, in automatic mode.
    Catalogue,
    /// A rule of the user that does what was recommended, in automatic mode.
    Adopted,
    /// Another name, as the warning of no safe order suggests.
    Renamed,
    /// Nobody.
    Nobody(String),
}

impl Trial {
    pub(crate) fn outcome(&self, order: Order) -> &Outcome {
        match order {
            Order::DeleteFirst => &self.delete_first,
            Order::CreateFirst => &self.create_first,
        }
    }
}

/// Where everything begins: what the configuration was before has been applied.
struct Base<'s> {
    scenario: &'s Scenario,
    objects: Objects,
    state: State,
    /// What is replaced, and whether that must be asked for.
    addresses: Vec<AbsInstance>,
    asked_for: Vec<AbsInstance>,
}

/// Tries everything.
pub(crate) async fn tried(runner: &mut Runner, scenario: &Scenario) -> Trial {
    let base = Base::new(runner, scenario).await;
    let mut outcomes = BTreeMap::new();
    for order in [Order::DeleteFirst, Order::CreateFirst] {
        let mut outcome = Ok(());
        // What is not known when it is planned must work out whatever it is.
        for after in &scenario.after {
            let orders = base.addresses.iter().map(|address| (address.clone(), order)).collect();
            let tried = base.carried_out(runner, &after[0], None, Mode::Off, orders).await;
            outcome = outcome.and(tried);
        }
        outcomes.insert(order, outcome);
    }
    let mut trial = Trial {
        scenario: scenario.clone(),
        create_first: outcomes.remove(&Order::CreateFirst).unwrap(),
        delete_first: outcomes.remove(&Order::DeleteFirst).unwrap(),
        plans: Vec::new(),
        disparities: Vec::new(),
    };
    for first in [false, true].into_iter().filter(|first| scenario.both || !first) {
        let planned = base.planned(runner, usize::from(first), &mut trial).await;
        trial.plans.push(planned);
    }
    trial
}

impl<'s> Base<'s> {
    async fn new(runner: &mut Runner, scenario: &'s Scenario) -> Self {
        runner.world.restore(&Objects::default()).unwrap();
        runner.write(&[(scenario.file, &scenario.before)]);
        let provider = (scenario.provider.as_str(), Protocol::Six);
        let ran = runner.run(provider, &no_state(), &off(), true).await;
        let (state, found) = ran.applied.unwrap_or_else(|| panic!("{}: {:?}", scenario.name, ran.diagnostics));
        assert!(!found.has_errors(), "{}: {found:?}", scenario.name);
        let objects = runner.world.read().unwrap();
        let mut base = Self { scenario, objects, state, addresses: Vec::new(), asked_for: Vec::new() };
        let ran = base.plan(runner, Protocol::Six, &scenario.after[0][0], &off()).await;
        base.addresses = base.replaced(&ran);
        if base.addresses.is_empty() {
            // Somebody may always ask for it.
            base.addresses = base.all_targets(&ran);
            base.asked_for.clone_from(&base.addresses);
        }
        assert!(!base.addresses.is_empty(), "{}: nothing is replaced", scenario.name);
        base
    }

    fn is_target(&self, address: &AbsInstance) -> bool {
        let resource = format!("{}", address.resource());
        self.scenario.targets.iter().any(|target| *target == resource || *target == address.to_string())
    }

    fn all_targets(&self, ran: &Ran) -> Vec<AbsInstance> {
        let changes = ran.plan.iter().flat_map(|plan| &plan.changes);
        changes.filter(|change| self.is_target(&change.address)).map(|change| change.address.clone()).collect()
    }

    fn replaced(&self, ran: &Ran) -> Vec<AbsInstance> {
        let changes = ran.plan.iter().flat_map(|plan| &plan.changes).filter(|change| change.action.is_replace());
        changes.filter(|change| self.is_target(&change.address)).map(|change| change.address.clone()).collect()
    }

    /// Writes what the configuration is now. The user may have more rules than the scenario has.
    fn write(&self, runner: &Runner, config: &str, rules: Option<&str>) {
        let mut files = vec![(self.scenario.file, config)];
        files.extend(self.scenario.rules.as_deref().map(|text| ("own.groma.hcl", text)));
        files.extend(rules.map(|text| ("adopted.groma.hcl", text)));
        runner.write(&files);
    }

    fn options(&self, mode: Mode, orders: BTreeMap<AbsInstance, Order>) -> Options {
        let replacement = ReplaceOptions { mode, orders, in_full: true, ..ReplaceOptions::default() };
        Options { replace: self.asked_for.clone(), replacement, ..Options::default() }
    }

    /// A plan from the beginning.
    async fn plan(&self, runner: &mut Runner, protocol: Protocol, config: &str, options: &Options) -> Ran {
        runner.world.restore(&self.objects).unwrap();
        self.write(runner, config, None);
        let ran = runner.run((&self.scenario.provider, protocol), &self.state, options, false).await;
        assert!(!ran.diagnostics.has_errors(), "{}: {:?}", self.scenario.name, ran.diagnostics);
        ran
    }

    /// Plans and applies, and looks whether everything is as it should be.
    async fn carried_out(
        &self,
        runner: &mut Runner,
        config: &str,
        rules: Option<&str>,
        mode: Mode,
        orders: BTreeMap<AbsInstance, Order>,
    ) -> Outcome {
        runner.world.restore(&self.objects).unwrap();
        self.write(runner, config, rules);
        let provider = (self.scenario.provider.as_str(), Protocol::Six);
        let ran = runner.run(provider, &self.state, &self.options(mode, orders), true).await;
        let Some((state, found)) = ran.applied else { return Err(errors(&ran.diagnostics)) };
        if found.has_errors() {
            return Err(errors(&found));
        }
        // Another process looks at the same world.
        let again = runner.run((provider.0, Protocol::Five), &state, &off(), false).await;
        let plan = again.plan.expect("a plan");
        let left: Vec<String> = plan
            .changes
            .iter()
            .filter(|change| change.action != Action::NoOp)
            .map(|change| format!("{} {}", change.action.names().join("+"), change.address))
            .collect();
        if !left.is_empty() {
            return Err(format!("lost afterwards: {}", left.join(", ")));
        }
        let there = runner.world.read().unwrap().objects.into_keys().collect();
        if ids(&state) != there {
            return Err(format!("nobody knows of all of {there:?}"));
        }
        Ok(())
    }

    async fn planned(&self, runner: &mut Runner, first: usize, trial: &mut Trial) -> Planned {
        let config = &self.scenario.after[0][first];
        let mut ran = BTreeMap::new();
        for (name, mode) in [("off", Mode::Off), ("warn", Mode::Warn), ("auto", Mode::Auto)] {
            let options = self.options(mode, BTreeMap::new());
            let six = self.plan(runner, Protocol::Six, config, &options).await;
            if mode != Mode::Off {
                let five = self.plan(runner, Protocol::Five, config, &options).await;
                trial.disparities.extend(disparity(&format!("{}, {name}", self.scenario.name), &five, &six));
            }
            ran.insert(name, six);
        }
        let order = self.order(ran["off"].plan.as_ref());
        let warnings = self.warnings(&ran["warn"].diagnostics);
        let automatic = self.order(ran["auto"].plan.as_ref());
        let mut rescue = None;
        if trial.outcome(order).is_err() {
            rescue = self.rescue(runner, config, &warnings).await;
        }
        let shown = std::mem::take(&mut ran.get_mut("warn").expect("it was planned").shown);
        Planned { order, warnings, shown, automatic, rescue }
    }

    /// The order of what the scenario is about.
    fn order(&self, plan: Option<&Plan>) -> Order {
        let mut orders = self.addresses.iter().map(|address| {
            let changes = plan.iter().flat_map(|plan| &plan.changes);
            let action = changes.into_iter().find(|change| change.address == *address).map(|change| change.action);
            match action {
                Some(Action::DeleteThenCreate) => Order::DeleteFirst,
                Some(Action::CreateThenDelete) => Order::CreateFirst,
                other => panic!("{}: {address} is not replaced: {other:?}", self.scenario.name),
            }
        });
        let order = orders.next().expect("something is replaced");
        assert!(orders.all(|other| other == order), "{}: two orders at once", self.scenario.name);
        order
    }

    /// What the user is told about the order of what the scenario is about.
    fn warnings(&self, found: &Diagnostics) -> Vec<Warning> {
        let names: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
        let about = found.iter().filter(|problem| {
            problem.severity == Severity::Warning && problem.address.as_ref().is_some_and(|one| names.contains(one))
        });
        let mut warnings = Vec::new();
        for problem in about {
            let order = match problem.summary.as_str() {
                text if text.contains("delete-first replacement") => Some(Order::DeleteFirst),
                text if text.contains("create-first replacement") => Some(Order::CreateFirst),
                text if text.contains("No safe replacement order") => None,
                _ => continue,
            };
            let rule = problem.detail.rsplit_once("groma explain rule ").map_or("", |(_, rule)| rule.trim());
            let open = problem.detail.contains("Not known before the apply");
            warnings.push(Warning { rule: rule.to_owned(), order, open });
        }
        warnings.dedup();
        warnings
    }

    /// Whether following the advice helps. None if the advice is another name, and there is none to change.
    async fn rescue(&self, runner: &mut Runner, config: &str, warnings: &[Warning]) -> Option<Rescue> {
        let mut problem = match self.carried_out(runner, config, None, Mode::Auto, BTreeMap::new()).await {
            Ok(()) => return Some(Rescue::Catalogue),
            Err(problem) => problem,
        };
        if let Some(order) = warnings.iter().find_map(|warning| warning.order) {
            let rules = self.adopted(order);
            match self.carried_out(runner, config, Some(&rules), Mode::Auto, BTreeMap::new()).await {
                Ok(()) => return Some(Rescue::Adopted),
                Err(other) => problem = other,
            }
        } else if !warnings.is_empty() {
            let renamed = self.renamed()?;
            let orders = self.addresses.iter().map(|address| (address.clone(), Order::CreateFirst)).collect();
            match self.carried_out(runner, &renamed, None, Mode::Auto, orders).await {
                Ok(()) => return Some(Rescue::Renamed),
                Err(other) => problem = other,
            }
        }
        Some(Rescue::Nobody(problem))
    }

    /// A recommendation, as a rule of the user.
    fn adopted(&self, order: Order) -> String {
        let rule = |(at, target): (usize, &String)| {
            let ty = target.rsplit('.').nth(1).unwrap_or_default();
            format!(
                "replace_rule \"adopted-{at}\" {{\n  resource = \"{ty}\"\n  target   = [\"{target}\"]\n  order    = \"{}\"\n  behavior = \"auto\"\n  reasoning = \"As was recommended\"\n}}\n",
                order.name()
            )
        };
        self.scenario.targets.iter().enumerate().map(rule).collect()
    }

    /// The new configuration with another name, if there is a name at all.
    fn renamed(&self) -> Option<String> {
        let mut config: serde_json::Value = serde_json::from_str(&self.scenario.after[0][1]).ok()?;
        let target = self.scenario.targets.first()?;
        let (ty, name) = target.split_once('.')?;
        let body = config.get_mut("resource")?.get_mut(ty)?.get_mut(name)?;
        let name = format!("{}-renamed", body.get("name")?.as_str()?);
        body["name"] = name.into();
        Some(config.to_string())
    }
}

fn off() -> Options {
    Options { replacement: ReplaceOptions { mode: Mode::Off, ..ReplaceOptions::default() }, ..Options::default() }
}

fn errors(found: &Diagnostics) -> String {
    let errors = found.iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(|problem| format!("{}: {}", problem.summary, problem.detail)).collect::<Vec<_>>().join("; ")
}

/// What protocol 5 and 6 do not agree about. Nothing in a plan names a protocol, so everything must be the same.
fn disparity(name: &str, five: &Ran, six: &Ran) -> Option<String> {
    if five.shown != six.shown {
        return Some(format!("{name}: the plans differ\n{}\n{}", five.shown, six.shown));
    }
    let told =
        |ran: &Ran| ran.diagnostics.iter().map(|one| format!("{}\n{}", one.summary, one.detail)).collect::<Vec<_>>();
    (told(five) != told(six)).then(|| format!("{name}: {:?} and {:?}", told(five), told(six)))
}
