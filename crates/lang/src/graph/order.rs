//! Putting nodes in order, without recursion: a chain of a hundred thousand locals is nothing special.

use groma_model::diag::Diagnostic;
use groma_model::span::Span;

use super::{Graph, NodeIndex};

/// Nodes that wait for each other, by name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Cycle: {}", names.join(", "))]
pub struct Cycle {
    /// Their names, sorted.
    pub names: Vec<String>,
    /// Where one of them is declared.
    pub place: Option<Span>,
}

impl Cycle {
    /// As people are told.
    pub fn diagnostic(&self) -> Diagnostic {
        let detail =
            "Each of these needs another one of them, so none can come first. Take one of the references away.";
        let diagnostic = Diagnostic::error(self.to_string(), detail);
        self.place.into_iter().fold(diagnostic, Diagnostic::at)
    }
}

/// Depth first, in the order of declaration, so that the result does not depend on anything else.
pub(super) fn order(graph: &Graph<'_>) -> Result<Vec<NodeIndex>, Cycle> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; graph.nodes.len()];
    let mut result = Vec::with_capacity(graph.nodes.len());
    // A node and how many of its needs were looked at.
    let mut stack: Vec<(NodeIndex, usize)> = Vec::new();
    for start in 0..graph.nodes.len() {
        if marks[start] == Mark::New {
            marks[start] = Mark::Open;
            stack.push((start, 0));
        }
        while let Some((node, seen)) = stack.last_mut() {
            let node = *node;
            if let Some(&need) = graph.needs[node].get(*seen) {
                *seen += 1;
                match marks[need] {
                    Mark::New => {
                        marks[need] = Mark::Open;
                        stack.push((need, 0));
                    }
                    Mark::Open => return Err(cycle_from(graph, &stack, need)),
                    Mark::Done => {}
                }
            } else {
                marks[node] = Mark::Done;
                result.push(node);
                stack.pop();
            }
        }
    }
    Ok(result)
}

/// The part of the stack that leads from `start` back to it.
fn cycle_from(graph: &Graph<'_>, stack: &[(NodeIndex, usize)], start: NodeIndex) -> Cycle {
    let from = stack.iter().position(|(node, _)| *node == start).unwrap_or(0);
    let mut names: Vec<String> = stack[from..].iter().map(|(node, _)| graph.name(*node)).collect();
    names.sort();
    let place = stack[from..].iter().filter_map(|(node, _)| graph.place(*node)).min();
    Cycle { names, place }
}
