//! One order for each object, from what rules, users and other objects want of it. Pure: objects and what they need are numbers here.
//!
//! Only one pair is impossible: an object is created first, and something that it needs is deleted first. So who wants to be created first
//! wants that of all that it needs, and who wants to be deleted first wants that of all that need it. The stronger wish wins; a weaker one
//! that meets it is overridden as a whole.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::rule::Order;

/// An object, or anything that lies between objects, by its number.
pub type Node = usize;

/// How much a wish counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// A rule of the catalogue.
    Catalogue,
    /// `create_before_destroy`, in the configuration or, for what has left it, in the state.
    Lifecycle,
    /// A rule of a module that the root calls.
    ModuleRule,
    /// A rule of the root module.
    RootRule,
    /// `-replace-order`.
    CommandLine,
}

/// All of them, the greatest first.
const STRENGTHS: [Strength; 5] =
    [Strength::CommandLine, Strength::RootRule, Strength::ModuleRule, Strength::Lifecycle, Strength::Catalogue];

/// That an object is replaced in some order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// For which object. If it is not replaced itself, the wish is about what it needs.
    pub node: Node,
    /// Which.
    pub order: Order,
    /// How much it counts.
    pub strength: Strength,
}

/// What depends on what, and what is replaced.
pub struct Web<'w> {
    /// What each node needs.
    pub needs: &'w [Vec<Node>],
    /// Whether a node is an object that is replaced or deleted.
    pub has_order: &'w dyn Fn(Node) -> bool,
}

/// What came of all wishes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// The order of each object about which there was a wish, and the number of the wish that decided it.
    pub decided: BTreeMap<Node, (Order, usize)>,
    /// Wishes that a stronger one did not let through, with the one.
    pub overridden: Vec<(usize, usize)>,
    /// Wishes that nobody is in a position to decide between: one for creating first, one for deleting first, and the nodes from the
    /// one's object to the other's.
    pub clashes: Vec<Clash>,
}

/// Two wishes of the same strength that cannot both come true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    /// The wish to be created first.
    pub create_first: usize,
    /// The wish to be deleted first.
    pub delete_first: usize,
    /// From the object of the former to that of the latter, along what needs what.
    pub chain: Vec<Node>,
}

/// Decides. `wishes` are in the order of their importance among equals.
pub fn resolve(web: &Web<'_>, wishes: &[Wish]) -> Resolved {
    // Only who wants to be deleted first asks who needs it.
    let asks = wishes.iter().any(|wish| wish.order == Order::DeleteFirst);
    let needed_by = if asks { NeededBy::new(web.needs) } else { NeededBy::default() };
    let mut deciding = Deciding { web, needed_by, wishes, resolved: Resolved::default() };
    for strength in STRENGTHS {
        deciding.level(strength);
    }
    deciding.resolved
}

/// Which nodes need each node, one after the other in one piece: there are many nodes, and most are needed by few.
#[derive(Default)]
struct NeededBy {
    /// Where those of a node begin. Those of the next one begin where they end.
    starts: Vec<usize>,
    nodes: Vec<Node>,
}

impl NeededBy {
    fn new(needs: &[Vec<Node>]) -> Self {
        let mut starts = vec![0; needs.len() + 1];
        for &need in needs.iter().flatten() {
            starts[need + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut nodes = vec![0; starts.last().copied().unwrap_or_default()];
        for (node, needs) in needs.iter().enumerate() {
            for &need in needs {
                nodes[next[need]] = node;
                next[need] += 1;
            }
        }
        Self { starts, nodes }
    }

    fn of(&self, node: Node) -> &[Node] {
        &self.nodes[self.starts[node]..self.starts[node + 1]]
    }
}

struct Deciding<'w> {
    web: &'w Web<'w>,
    needed_by: NeededBy,
    wishes: &'w [Wish],
    resolved: Resolved,
}

/// Who wants something of which nodes, directly or through others.
#[derive(Default)]
struct Reached {
    /// By node. Empty if nobody wants anything.
    by: Vec<Option<usize>>,
    /// In the order in which they were found.
    nodes: Vec<Node>,
}

impl Reached {
    fn by(&self, node: Node) -> Option<usize> {
        self.by.get(node).copied().flatten()
    }

    fn insert(&mut self, node: Node, by: usize) {
        if self.by[node].is_none() {
            self.by[node] = Some(by);
            self.nodes.push(node);
        }
    }
}

impl Deciding<'_> {
    /// All wishes of one strength.
    fn level(&mut self, strength: Strength) {
        let mut open: Vec<usize> = Vec::new();
        for (at, wish) in self.wishes.iter().enumerate().filter(|(_, wish)| wish.strength == strength) {
            match self.resolved.decided.get(&wish.node) {
                Some((order, by)) if *order != wish.order => self.resolved.overridden.push((at, *by)),
                _ => open.push(at),
            }
        }
        let (creating, deleting) = (self.reach(&open, Order::CreateFirst), self.reach(&open, Order::DeleteFirst));
        // What is wanted both ways is known at the objects that are wished for: whatever lies between them wants the same.
        let clashing = |at: &usize| {
            let wish = &self.wishes[*at];
            let against = if wish.order == Order::CreateFirst { &deleting } else { &creating };
            against.by(wish.node).filter(|_| (self.web.has_order)(wish.node))
        };
        let clashes: BTreeMap<usize, usize> = open.iter().filter_map(|at| Some((*at, clashing(at)?))).collect();
        if clashes.is_empty() {
            return self.decide(&creating, &deleting);
        }
        open.retain(|at| !clashes.contains_key(at));
        let pairs: BTreeSet<(usize, usize)> =
            clashes.into_iter().map(|(one, other)| self.creating_first(one, other)).collect();
        for (create_first, delete_first) in pairs {
            let chain = self.chain(self.wishes[create_first].node, self.wishes[delete_first].node);
            self.resolved.clashes.push(Clash { create_first, delete_first, chain });
        }
        let (creating, deleting) = (self.reach(&open, Order::CreateFirst), self.reach(&open, Order::DeleteFirst));
        self.decide(&creating, &deleting);
    }

    /// Two wishes, the one to be created first in front.
    fn creating_first(&self, one: usize, other: usize) -> (usize, usize) {
        if self.wishes[one].order == Order::CreateFirst { (one, other) } else { (other, one) }
    }

    /// Everything that wishes for an order are about, with the first of the wishes.
    fn reach(&self, open: &[usize], order: Order) -> Reached {
        let mut reached = Reached::default();
        for &at in open.iter().filter(|at| self.wishes[**at].order == order) {
            if reached.by.is_empty() {
                reached.by.resize(self.web.needs.len(), None);
            }
            reached.insert(self.wishes[at].node, at);
        }
        let mut next = 0;
        while let Some(&node) = reached.nodes.get(next) {
            next += 1;
            let Some(by) = reached.by(node) else { continue };
            let edges = match order {
                Order::CreateFirst => self.web.needs[node].as_slice(),
                Order::DeleteFirst => self.needed_by.of(node),
            };
            for &further in edges {
                reached.insert(further, by);
            }
        }
        reached
    }

    fn decide(&mut self, creating: &Reached, deleting: &Reached) {
        for (order, reached) in [(Order::CreateFirst, creating), (Order::DeleteFirst, deleting)] {
            for &node in reached.nodes.iter().filter(|node| (self.web.has_order)(**node)) {
                if let Some(by) = reached.by(node) {
                    self.resolved.decided.entry(node).or_insert((order, by));
                }
            }
        }
    }

    /// The shortest way from a node to one that it needs.
    fn chain(&self, from: Node, to: Node) -> Vec<Node> {
        let mut came_from: BTreeMap<Node, Node> = BTreeMap::from([(from, from)]);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if node == to {
                break;
            }
            for &next in &self.web.needs[node] {
                came_from.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    node
                });
            }
        }
        let mut chain = vec![to];
        let mut node = to;
        while node != from
            && let Some(&before) = came_from.get(&node)
        {
            chain.push(before);
            node = before;
        }
        chain.reverse();
        chain
    }
}

#[cfg(test)]
mod tests;
