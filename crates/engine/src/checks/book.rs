//! Collects what conditions say during a walk.

use std::collections::BTreeMap;

use groma_lang::graph::{Graph, Node, NodeIndex, NodeKind};
use groma_lang::walk::{InstanceIndex, Judgement, RuleResult, RuleStatus, Site, Walk};
use groma_model::address::{AbsInstance, Module, ModuleInstance};
use groma_model::diag::Diagnostics;
use groma_model::value::Value;
use groma_state::CheckStatus;

use super::{CheckReport, Checked, CheckedInstance, InstanceReport};

/// Which conditions of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Before: preconditions, validations, assertions.
    Before,
    /// Postconditions.
    After,
    /// Whether the data source of a `check` block could be read.
    Data,
}

/// Everything that has conditions, and what they said so far.
pub(crate) struct CheckBook {
    pages: BTreeMap<Checked, Page>,
}

struct Page {
    /// How many conditions each instance has.
    conditions: usize,
    /// None until it is known which instances there are.
    instances: Option<BTreeMap<CheckedInstance, Vec<Entry>>>,
}

struct Entry {
    part: Part,
    status: RuleStatus,
    problem: Option<String>,
}

impl CheckBook {
    /// Everything in a configuration that has conditions; nothing was said yet.
    pub(crate) fn new(graph: &Graph<'_>) -> Self {
        let mut pages = BTreeMap::new();
        let mut add = |subject: Checked, conditions: usize| {
            if conditions > 0 {
                pages.insert(subject, Page { conditions, instances: None });
            }
        };
        for entry in &graph.modules {
            let path = Module::new(entry.node.path.iter().cloned());
            let module = &entry.node.module;
            for (key, resource) in &module.resources {
                add(Checked::Resource(key.in_module(path.clone())), resource.conditions().count());
            }
            for (name, output) in &module.outputs {
                add(Checked::Output(path.clone(), name.clone()), output.preconditions.len());
            }
            for (name, variable) in &module.variables {
                add(Checked::Variable(path.clone(), name.clone()), variable.validations.len());
            }
            for (name, check) in &module.checks {
                let conditions = check.asserts.len() + usize::from(check.data.is_some());
                add(Checked::Check(path.clone(), name.clone()), conditions);
            }
        }
        Self { pages }
    }

    /// Whether something has conditions.
    pub(crate) fn has(&self, subject: &Checked) -> bool {
        self.pages.contains_key(subject)
    }

    /// While everything is being taken down the outputs of the root module are still there; nobody asks for their conditions.
    pub(crate) fn expect_root_outputs(&mut self) {
        for (subject, page) in &mut self.pages {
            if let Checked::Output(module, name) = subject
                && module.is_root()
            {
                let instance = CheckedInstance::Output(ModuleInstance::root(), name.clone());
                page.instances.get_or_insert_default().entry(instance).or_default();
            }
        }
    }

    /// It is known now that something has these instances.
    pub(crate) fn expanded(&mut self, subject: &Checked, found: impl Iterator<Item = CheckedInstance>) {
        let Some(page) = self.pages.get_mut(subject) else { return };
        let instances = page.instances.get_or_insert_default();
        for instance in found {
            instances.entry(instance).or_default();
        }
    }

    /// Evaluates a declaration that is neither resource nor provider, and notes what its conditions said.
    pub(crate) fn evaluate(&mut self, walk: &mut Walk<'_>, node: NodeIndex) -> Diagnostics {
        let found = match &walk.graph().nodes[node] {
            // A check whose data could not be read has failed already.
            Node { module, kind: NodeKind::Check(name) } => {
                let instance = |at| CheckedInstance::Check(walk.module_instance(at).clone(), name.clone());
                let instances = walk.instances_of(*module).iter().copied();
                let failed: Vec<InstanceIndex> = instances.filter(|at| self.has_failed(&instance(*at))).collect();
                walk.visit_where(node, &|at| !failed.contains(&at))
            }
            _ => walk.visit(node),
        };
        let judgements = walk.take_judgements();
        self.note_judgements(walk, judgements);
        found
    }

    /// Judges the preconditions of an instance.
    pub(crate) fn judge_before(&mut self, walk: &Walk<'_>, site: Site<'_>, address: &AbsInstance) -> Diagnostics {
        self.judged(address, Part::Before, walk.preconditions(site))
    }

    /// Judges the postconditions of an instance that has come out as `value`.
    pub(crate) fn judge_after(
        &mut self,
        walk: &Walk<'_>,
        site: Site<'_>,
        address: &AbsInstance,
        value: &Value,
    ) -> Diagnostics {
        self.judged(address, Part::After, walk.postconditions(site, value))
    }

    fn judged(&mut self, address: &AbsInstance, part: Part, results: Vec<RuleResult>) -> Diagnostics {
        self.note(&CheckedInstance::Resource(address.clone()), part, &results);
        results.into_iter().flat_map(|result| result.diagnostics).collect()
    }

    /// Takes in what conditions of an instance said.
    fn note(&mut self, instance: &CheckedInstance, part: Part, results: &[RuleResult]) {
        let said = results.iter().map(|result| (result.status, result.failure.clone()));
        self.put(instance, part, said);
    }

    /// Takes in what conditions of variables, outputs and `check` blocks said.
    fn note_judgements(&mut self, walk: &Walk<'_>, judgements: Vec<Judgement>) {
        for Judgement { instance, about, results } in judgements {
            let module = walk.module_instance(instance).clone();
            let about = match about {
                NodeKind::Variable(name) => CheckedInstance::Variable(module, name),
                NodeKind::Output(name) => CheckedInstance::Output(module, name),
                NodeKind::Check(name) => CheckedInstance::Check(module, name),
                _ => continue,
            };
            self.note(&about, Part::Before, &results);
        }
    }

    /// Takes in whether the data source of a `check` block could be read.
    pub(crate) fn note_data(&mut self, check: &CheckedInstance, problem: Option<String>) {
        let status = if problem.is_some() { RuleStatus::Fail } else { RuleStatus::Pass };
        self.put(check, Part::Data, std::iter::once((status, problem)));
    }

    /// Whether an instance has failed already.
    fn has_failed(&self, instance: &CheckedInstance) -> bool {
        let page = self.pages.get(&instance.config());
        let entries = page.and_then(|page| page.instances.as_ref()?.get(instance));
        entries.into_iter().flatten().any(|entry| matches!(entry.status, RuleStatus::Fail | RuleStatus::Error))
    }

    fn put(
        &mut self,
        instance: &CheckedInstance,
        part: Part,
        said: impl Iterator<Item = (RuleStatus, Option<String>)>,
    ) {
        let Some(page) = self.pages.get_mut(&instance.config()) else { return };
        let entries = page.instances.get_or_insert_default().entry(instance.clone()).or_default();
        entries.retain(|entry| entry.part != part);
        entries.extend(said.map(|(status, problem)| Entry { part, status, problem }));
    }

    /// What was said, in the order of the addresses.
    pub(crate) fn reports(&self) -> Vec<CheckReport> {
        self.pages.iter().map(|(subject, page)| page.report(subject.clone())).collect()
    }
}

impl Page {
    fn report(&self, subject: Checked) -> CheckReport {
        let Some(instances) = &self.instances else {
            return CheckReport { subject, status: CheckStatus::Unknown, instances: Vec::new() };
        };
        let reports = instances.iter().map(|(address, entries)| {
            let silent = self.conditions.saturating_sub(entries.len());
            let statuses = entries.iter().map(|entry| entry.status);
            let status = all_in_all(statuses.chain(std::iter::repeat_n(RuleStatus::Unknown, silent)));
            let mut problems: Vec<String> = entries.iter().filter_map(|entry| entry.problem.clone()).collect();
            problems.sort();
            InstanceReport { address: address.clone(), status, problems }
        });
        let instances: Vec<InstanceReport> = reports.collect();
        let status = all_in_all(instances.iter().map(|instance| rule_status(instance.status)));
        CheckReport { subject, status, instances }
    }
}

/// The worst counts; what passed counts only if nothing else was said.
fn all_in_all(statuses: impl Iterator<Item = RuleStatus>) -> CheckStatus {
    let mut worst = CheckStatus::Pass;
    for status in statuses {
        worst = match (worst, status) {
            (CheckStatus::Error, _) | (_, RuleStatus::Error) => CheckStatus::Error,
            (CheckStatus::Fail, _) | (_, RuleStatus::Fail) => CheckStatus::Fail,
            (CheckStatus::Unknown, _) | (_, RuleStatus::Unknown) => CheckStatus::Unknown,
            (CheckStatus::Pass, RuleStatus::Pass) => CheckStatus::Pass,
        };
    }
    worst
}

fn rule_status(status: CheckStatus) -> RuleStatus {
    match status {
        CheckStatus::Pass => RuleStatus::Pass,
        CheckStatus::Fail => RuleStatus::Fail,
        CheckStatus::Error => RuleStatus::Error,
        CheckStatus::Unknown => RuleStatus::Unknown,
    }
}
