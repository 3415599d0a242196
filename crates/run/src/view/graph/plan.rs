//! The graph of a plan: its steps, and what each waits for.

use std::collections::BTreeSet;

use groma_engine::change::{Action, Change};
use groma_engine::execution::Step;
use groma_engine::plan::Plan;
use groma_lang::graph::NodeKind as Declared;
use groma_lang::load::ModuleTree;

use super::configuration::{Builder, declarations, kind_of};
use super::{GraphView, Node, NodeKind};

/// The graph of a plan. The configuration must be the one that it was made from.
pub(super) fn graph(tree: &ModuleTree, plan: &Plan) -> GraphView {
    let declared = declarations(tree);
    let mut builder = Builder::new(&declared);
    let mut users = Vec::new();
    let mut gates = BTreeSet::new();
    let mut places = Vec::with_capacity(plan.execution.steps.len());
    for (at, step) in plan.execution.steps.iter().enumerate() {
        let place = match step {
            // What a declaration was skipped for still orders others.
            Step::Declare(_) | Step::Gate if at < builder.starts.len() => (builder.starts[at], builder.results[at]),
            Step::Declare(_) | Step::Gate => {
                let gate = builder.view.add(Node::helper(format!("gate {at}"), ""));
                gates.insert(gate);
                same(gate)
            }
            Step::Make(change) | Step::Remove(change) => {
                let change = &plan.changes[*change];
                let node = same(builder.view.add(node(step, change)));
                let provider = builder.provider(&change.provider.config);
                builder.view.need(node.0, provider);
                users.push((provider, node.0));
                node
            }
        };
        places.push(place);
    }
    for (needs, (start, _)) in plan.execution.needs.iter().zip(&places) {
        for (_, result) in needs.iter().filter_map(|need| places.get(*need)) {
            builder.view.need(*start, *result);
        }
    }
    builder.close_providers(&users);
    drop_resources(&mut builder);
    let is_gate = |node: usize| gates.contains(&node);
    builder.view.without(&|node| !is_gate(node))
}

fn same(node: usize) -> (usize, usize) {
    (node, node)
}

fn node(step: &Step, change: &Change) -> Node {
    let Change { address, deposed, action, .. } = change;
    let removed = matches!(step, Step::Remove(_));
    let name = match deposed {
        Some(key) if removed => format!("{address} (destroy deposed {key})"),
        _ if removed => format!("{address} (destroy)"),
        _ => address.to_string(),
    };
    let what = match (removed, action) {
        (true, Action::Forget | Action::ForgetThenCreate) => "forget",
        (true, _) => "destroy",
        (false, Action::Update) => "update",
        (false, Action::Read) => "read",
        (false, _) => "create",
    };
    let module = if address.module.is_root() { String::new() } else { address.module.to_string() };
    let mut node = Node::new(name, &format!("{address} ({what})"), kind_of(address.instance.resource.mode), &module);
    node.dot_label = Some(address.config().to_string());
    node
}

/// Instances are drawn by themselves: their resource only keeps them together.
fn drop_resources(builder: &mut Builder<'_, '_>) {
    for (node, declared) in builder.declared.nodes.iter().enumerate() {
        if matches!(declared.kind, Declared::Resource(_)) {
            builder.view.nodes[builder.results[node]].kind = NodeKind::Helper;
        }
    }
}
