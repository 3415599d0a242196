//! Mermaid flow charts: what is needed stands to the right of what needs it, modules are boxes around their parts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::reduce::cycles;
use super::{GraphView, Node, NodeKind};

/// The text.
pub(super) fn write(graph: &GraphView) -> String {
    let mut modules: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        modules.entry(node.module.as_str()).or_default().push(at);
    }
    let mut text = String::from("flowchart LR\n");
    for (number, (module, nodes)) in modules.iter().enumerate() {
        let indent = if module.is_empty() { "  " } else { "    " };
        // Writing to a string does not fail.
        if !module.is_empty() {
            let _ = writeln!(text, "  subgraph m{number} [\"{}\"]", escaped(module));
        }
        let mut nodes: Vec<usize> = nodes.clone();
        nodes.sort_by(|a, b| graph.nodes[*a].label.cmp(&graph.nodes[*b].label));
        for at in nodes {
            let _ = writeln!(text, "{indent}{}", node(at, &graph.nodes[at]));
        }
        if !module.is_empty() {
            text.push_str("  end\n");
        }
    }
    let mut number = 0;
    let mut red = Vec::new();
    let groups = cycles(&graph.needs);
    for (node, needs) in graph.needs.iter().enumerate() {
        for need in needs {
            let _ = writeln!(text, "  n{node} --> n{need}");
            if groups.iter().any(|group| group.binary_search(&node).is_ok() && group.binary_search(need).is_ok()) {
                red.push(number.to_string());
            }
            number += 1;
        }
    }
    if !red.is_empty() {
        let _ = writeln!(text, "  linkStyle {} stroke:red", red.join(","));
    }
    text
}

fn node(at: usize, node: &Node) -> String {
    let (open, close) = match node.kind {
        NodeKind::Resource => ("[", "]"),
        NodeKind::Data | NodeKind::Ephemeral => ("[/", "/]"),
        NodeKind::Provider | NodeKind::ProviderClose => ("{{", "}}"),
        NodeKind::Variable => ("([", "])"),
        NodeKind::Local => ("(", ")"),
        NodeKind::Output => ("[[", "]]"),
        NodeKind::Check | NodeKind::Helper => (">", "]"),
    };
    format!("n{at}{open}\"{}\"{close}", escaped(&short(node)))
}

/// Mermaid knows no backslashes, but numbers of characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '`' => out.push_str("#96;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Inside of its module, a part goes by its own name.
fn short(node: &Node) -> String {
    let inner = node.label.strip_prefix(node.module.as_str()).and_then(|rest| rest.strip_prefix('.'));
    if node.module.is_empty() { node.label.clone() } else { inner.unwrap_or(&node.label).to_owned() }
}
