//! What waits for changes that are planned: data sources that are read later, and resources that are replaced with others.

use std::collections::BTreeSet;

use groma_lang::config::{Expr, Repetition, Resource, ResourceMode, Traversal, trigger_keys, trigger_target};
use groma_lang::graph::{ModuleIndex, NodeIndex, NodeKind};
use groma_lang::refs::{Reference, Subject};
use groma_lang::walk::Site;
use groma_model::address::ModuleInstance;
use groma_model::diag::Diagnostics;
use groma_model::path::Path;
use groma_model::value::Value;

use super::Mode;
use super::driver::Driver;
use super::ignore::path_of_steps;
use crate::change::{Action, Change, Reason};
use crate::execution::may_meet;

impl Driver<'_, '_> {
    /// Why a data source cannot be read now, if its configuration does not say so itself.
    pub(super) fn deferral(&self, node: NodeIndex, site: Site<'_>, config: &Value) -> Option<Reason> {
        if !config.is_wholly_known() {
            return Some(Reason::ReadBecauseConfigUnknown);
        }
        // What goes is there until then.
        if self.request.options.mode == Mode::Destroy {
            return None;
        }
        let module = self.walk.graph().nodes[node].module;
        let here = self.walk.module_instance(site.module);
        let waits_for = self.awaited(node, module, site.resource);
        let own = site.resource.key.mode;
        let pending = waits_for.iter().any(|node| self.is_pending(*node, here, own));
        pending.then_some(Reason::ReadBecauseDependencyPending)
    }

    /// The managed resources whose changes a data source must see.
    fn awaited(&self, node: NodeIndex, module: ModuleIndex, resource: &Resource) -> BTreeSet<NodeIndex> {
        let graph = self.walk.graph();
        // Conditions are about everything that there is behind the data source.
        if resource.conditions().next().is_some() {
            return self.dependencies.reached_from(node).clone();
        }
        let mut found = BTreeSet::new();
        let mut references = resource.config.references();
        if let Repetition::Count(expr) | Repetition::ForEach(expr) | Repetition::Enabled(expr) = &resource.repetition {
            references.extend(expr.references().into_iter().cloned());
        }
        for traversal in references {
            if let Ok(Reference { subject: Subject::Resource { resource, .. }, .. }) = Reference::parse(&traversal) {
                found.extend(graph.find(module, NodeKind::Resource(resource)));
            }
        }
        found.extend(self.behind(module, &resource.depends_on));
        let (mut child, mut parent) = (module, graph.modules[module].parent);
        while let Some(caller) = parent {
            let name = graph.modules[child].node.path.last();
            let call = name.and_then(|name| graph.modules[caller].node.module.module_calls.get(name));
            if let Some(call) = call {
                found.extend(self.behind(caller, &call.depends_on));
            }
            (child, parent) = (caller, graph.modules[caller].parent);
        }
        found
    }

    /// The resources that `depends_on` names, and all that are behind the rest that it names.
    fn behind(&self, module: ModuleIndex, depends_on: &[Traversal]) -> BTreeSet<NodeIndex> {
        let graph = self.walk.graph();
        let mut found = BTreeSet::new();
        for traversal in depends_on {
            let Ok(reference) = Reference::parse(traversal) else { continue };
            let node = match reference.subject {
                // Who names a resource means that one.
                Subject::Resource { resource, .. } => {
                    found.extend(graph.find(module, NodeKind::Resource(resource)));
                    None
                }
                Subject::Variable(name) => graph.find(module, NodeKind::Variable(name)),
                Subject::Local(name) => graph.find(module, NodeKind::Local(name)),
                // All of a module, or what an output of it is made of.
                Subject::Module { name, output, .. } => {
                    let child = graph.modules[module].children.get(&name);
                    child.and_then(|child| graph.find(*child, output.map_or(NodeKind::Close, NodeKind::Output)))
                }
                _ => None,
            };
            if let Some(node) = node {
                found.insert(node);
                found.extend(self.dependencies.reached_from(node));
            }
        }
        found
    }

    /// Whether something is still to be done with a resource. What is only read has no effects that others like it must wait for.
    fn is_pending(&self, node: NodeIndex, here: &ModuleInstance, own: ResourceMode) -> bool {
        let counts = matches!(&self.walk.graph().nodes[node].kind, NodeKind::Resource(key) if key.mode != own);
        counts && self.gathered.pending_in(node).iter().any(|there| may_meet(here, there))
    }

    /// Whether an entry of `replace_triggered_by` triggers.
    pub(super) fn triggers(&self, site: Site<'_>, expr: &Expr) -> Result<bool, Diagnostics> {
        let Some(traversal) = trigger_target(expr) else { return Ok(false) };
        let reference = Reference::parse(&traversal).map_err(Diagnostics::from)?;
        let Subject::Resource { resource, key } = &reference.subject else { return Ok(false) };
        let mut key = key.clone();
        for index in trigger_keys(expr) {
            let (value, found) = self.walk.resource_expr(site, index);
            if found.has_errors() {
                return Err(found);
            }
            key = super::provider_use::instance_key((value, found))?;
        }
        let target = self.absolute(site.module, resource);
        let path = path_of_steps(reference.remaining(&traversal));
        let mut changes = self.gathered.changes_of(&target);
        Ok(changes.any(|change| (key.is_none() || *change.address.key() == key) && has_changed(change, &path)))
    }
}

/// Whether a planned change changes what is at a path, or anything.
fn has_changed(change: &Change, path: &Path) -> bool {
    let acts = change.action.creates() || change.action == Action::Update;
    let at = |value: &Value| value.clone().unmark_deep().0.apply_path(path).ok();
    acts && change.deposed.is_none() && (path.is_empty() || at(&change.before) != at(&change.after))
}
