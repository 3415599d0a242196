//! DOT, with the names, attributes and order that OpenTofu writes.

use std::fmt::Write as _;

use groma_model::value::go_quote;

use super::reduce::cycles;
use super::{DotOptions, GraphView, Node, NodeKind};

/// The text.
pub(super) fn write(graph: &GraphView, options: DotOptions) -> String {
    let mut text = String::from("digraph {\n\tcompound = \"true\"\n\tnewrank = \"true\"\n\tsubgraph \"root\" {\n");
    let shown = |node: &&Node| node.dot_label.is_some() || (options.verbose && node.kind == NodeKind::ProviderClose);
    let mut nodes: Vec<&Node> = graph.nodes.iter().filter(shown).collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    for node in nodes {
        let label = node.dot_label.as_deref().unwrap_or(&node.label);
        let shape = match node.kind {
            NodeKind::Provider | NodeKind::ProviderClose => "diamond",
            NodeKind::Variable => "note",
            _ => "box",
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "\t\t{} [label = {}, shape = \"{shape}\"]", quoted(&node.name), go_quote(label));
    }
    let mut edges: Vec<String> = Vec::new();
    if options.draw_cycles {
        for group in cycles(&graph.needs) {
            let within = |node: usize| graph.needs[node].iter().filter(|need| group.binary_search(need).is_ok());
            let red =
                |from: usize, to: usize| format!("{} [color = \"red\", penwidth = \"2.0\"]", edge(graph, from, to));
            edges.extend(group.iter().flat_map(|node| within(*node).map(|need| red(*node, *need))));
        }
    }
    for (node, needs) in graph.needs.iter().enumerate() {
        edges.extend(needs.iter().map(|need| edge(graph, node, *need)));
    }
    edges.sort();
    for edge in edges {
        let _ = writeln!(text, "\t\t{edge}");
    }
    text.push_str("\t}\n}\n");
    text
}

fn edge(graph: &GraphView, from: usize, to: usize) -> String {
    format!("{} -> {}", quoted(&graph.nodes[from].name), quoted(&graph.nodes[to].name))
}

fn quoted(name: &str) -> String {
    go_quote(&format!("[root] {name}"))
}
