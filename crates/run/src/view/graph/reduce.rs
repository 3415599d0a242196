//! Graphs as lists of needs: what goes in circles, what says nothing new, what can be left out.

/// Larger graphs are drawn with all their edges: finding out what is superfluous takes the square of their size.
const REDUCED_UP_TO: usize = 12_000;

/// A node that connects more pairs than this stays, rather than being replaced by an edge for each.
const BRIDGED_UP_TO: usize = 4_096;

/// Groups of nodes that wait for each other, each in order. Without recursion: chains may be long.
pub(super) fn cycles(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search {
        number: vec![0; needs.len()],
        low: vec![0; needs.len()],
        on_path: vec![false; needs.len()],
        path: Vec::new(),
        next: 1,
        groups: Vec::new(),
    };
    for start in 0..needs.len() {
        if search.number[start] == 0 {
            search.from(start, needs);
        }
    }
    let mut groups = search.groups;
    for group in &mut groups {
        group.sort_unstable();
    }
    groups.sort();
    groups
}

/// Tarjan's search for strongly connected nodes.
struct Search {
    /// In which order nodes were found, from 1.
    number: Vec<usize>,
    /// The first node that can be reached.
    low: Vec<usize>,
    on_path: Vec<bool>,
    path: Vec<usize>,
    next: usize,
    groups: Vec<Vec<usize>>,
}

impl Search {
    fn open(&mut self, node: usize) {
        self.number[node] = self.next;
        self.low[node] = self.next;
        self.next += 1;
        self.path.push(node);
        self.on_path[node] = true;
    }

    fn from(&mut self, start: usize, needs: &[Vec<usize>]) {
        // A node and how many of its needs were looked at.
        let mut stack = vec![(start, 0)];
        self.open(start);
        while let Some((node, seen)) = stack.last_mut() {
            let node = *node;
            if let Some(&need) = needs[node].get(*seen) {
                *seen += 1;
                if self.number[need] == 0 {
                    self.open(need);
                    stack.push((need, 0));
                } else if self.on_path[need] {
                    self.low[node] = self.low[node].min(self.number[need]);
                }
                continue;
            }
            stack.pop();
            if let Some((parent, _)) = stack.last() {
                self.low[*parent] = self.low[*parent].min(self.low[node]);
            }
            if self.low[node] == self.number[node] {
                self.close(node, needs);
            }
        }
    }

    fn close(&mut self, node: usize, needs: &[Vec<usize>]) {
        let at = self.path.iter().rposition(|other| *other == node).unwrap_or(0);
        let group = self.path.split_off(at);
        for member in &group {
            self.on_path[*member] = false;
        }
        if group.len() > 1 || needs[node].contains(&node) {
            self.groups.push(group);
        }
    }
}

/// Drops repeated needs, and those that follow from others. What goes in circles, or is very large, keeps the latter.
pub(super) fn reduce(needs: &mut [Vec<usize>]) {
    for list in needs.iter_mut() {
        list.sort_unstable();
        list.dedup();
    }
    let Some(order) = order(needs) else { return };
    if needs.len() > REDUCED_UP_TO {
        return;
    }
    let words = needs.len().div_ceil(64);
    // By node: all nodes that it needs, directly or not.
    let mut reached: Vec<Vec<u64>> = vec![Vec::new(); needs.len()];
    let mut place = vec![0; needs.len()];
    order.iter().enumerate().for_each(|(at, node)| place[*node] = at);
    for &node in &order {
        let mut all = vec![0_u64; words];
        // Those that come last in the order need the most.
        let mut list = std::mem::take(&mut needs[node]);
        list.sort_unstable_by_key(|need| std::cmp::Reverse(place[*need]));
        list.retain(|need| {
            let known = all[need / 64] & (1 << (need % 64)) != 0;
            if !known {
                all[need / 64] |= 1 << (need % 64);
                all.iter_mut().zip(&reached[*need]).for_each(|(word, more)| *word |= more);
            }
            !known
        });
        list.sort_unstable();
        needs[node] = list;
        reached[node] = all;
    }
}

/// All nodes, each behind what it needs. None if some wait for each other.
pub(super) fn order(needs: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut unmet: Vec<usize> = needs.iter().map(Vec::len).collect();
    let needed_by = reversed(needs);
    let mut order: Vec<usize> = (0..needs.len()).filter(|node| unmet[*node] == 0).collect();
    let mut done = 0;
    while let Some(&node) = order.get(done) {
        done += 1;
        for &next in &needed_by[node] {
            unmet[next] -= 1;
            if unmet[next] == 0 {
                order.push(next);
            }
        }
    }
    (order.len() == needs.len()).then_some(order)
}

/// By node: what needs it.
pub(super) fn reversed(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut needed_by = vec![Vec::new(); needs.len()];
    for (node, list) in needs.iter().enumerate() {
        for need in list {
            needed_by[*need].push(node);
        }
    }
    needed_by
}

/// Connects what is on both sides of the nodes that are not kept, and says which could be removed: those that connect too much
/// stay as they are.
pub(super) fn bridge(needs: &mut [Vec<usize>], is_kept: &dyn Fn(usize) -> bool) -> Vec<bool> {
    let mut needed_by = reversed(needs);
    let mut removed = vec![false; needs.len()];
    for node in (0..needs.len()).filter(|node| !is_kept(*node)) {
        if needed_by[node].len() * needs[node].len() > BRIDGED_UP_TO {
            continue;
        }
        removed[node] = true;
        let above = std::mem::take(&mut needed_by[node]);
        let below = std::mem::take(&mut needs[node]);
        for user in &above {
            replace(&mut needs[*user], node, &below, *user);
        }
        for need in &below {
            replace(&mut needed_by[*need], node, &above, *need);
        }
    }
    removed
}

/// Others in the place of a node, but for the owner of the list.
fn replace(list: &mut Vec<usize>, node: usize, others: &[usize], owner: usize) {
    list.retain(|other| *other != node);
    list.extend(others.iter().filter(|other| **other != owner && **other != node));
    list.sort_unstable();
    list.dedup();
}
