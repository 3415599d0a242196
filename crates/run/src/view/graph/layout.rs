//! Where the nodes of a drawing are: columns by longest path, then an order in each column that crosses few lines.
//!
//! Columns go from left (what needs) to right (what is needed). A line over several columns gets a bend in each of them, so that
//! it finds its way around the nodes there.

use super::reduce;

/// Bends are made up to so many; drawings with more of them would not be readable anyway.
const MAX_BENDS: usize = 60_000;
/// How often the order is improved, there and back.
const ROUNDS: usize = 6;

/// The height of a row.
const ROW: f64 = 34.0;
/// The least room that a bend takes.
const BEND: f64 = 10.0;

/// A place in a column: a node, or a bend of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// A node of the graph.
    Node(usize),
    /// The line of that number bends here.
    Bend(usize),
}

/// A line from a node to one that it needs, by way of its bends.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The slots that it visits, both ends included.
    pub(super) stops: Vec<usize>,
    /// Whether it runs against the direction of the drawing, since it is part of a circle.
    pub(super) backward: bool,
}

/// A drawing without sizes of text.
pub(super) struct Layout {
    pub(super) slots: Vec<Slot>,
    /// The middle of each slot, from the top.
    pub(super) y: Vec<f64>,
    /// The slots of each column, from the top.
    pub(super) columns: Vec<Vec<usize>>,
    pub(super) lines: Vec<Line>,
}

/// Finds places for all nodes.
pub(super) fn layout(needs: &[Vec<usize>]) -> Layout {
    let (forward, backward) = without_circles(needs);
    let column = columns(&forward);
    let mut layout = Layout {
        slots: (0..needs.len()).map(Slot::Node).collect(),
        y: Vec::new(),
        columns: vec![Vec::new(); column.iter().max().map_or(0, |last| last + 1)],
        lines: Vec::new(),
    };
    for (node, at) in column.iter().enumerate() {
        layout.columns[*at].push(node);
    }
    layout.add_lines(&forward, &backward, &column);
    let (left, right) = layout.neighbours();
    layout.order(&left, &right);
    layout.place(&left, &right);
    layout
}

/// Turns what closes a circle around, so that the rest has none.
fn without_circles(needs: &[Vec<usize>]) -> (Vec<Vec<usize>>, Vec<(usize, usize)>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; needs.len()];
    let mut forward = vec![Vec::new(); needs.len()];
    let mut backward = Vec::new();
    for start in 0..needs.len() {
        if marks[start] != Mark::New {
            continue;
        }
        let mut stack = vec![(start, 0)];
        marks[start] = Mark::Open;
        while let Some((node, seen)) = stack.last_mut() {
            let node = *node;
            let Some(&need) = needs[node].get(*seen) else {
                marks[node] = Mark::Done;
                stack.pop();
                continue;
            };
            *seen += 1;
            if marks[need] == Mark::Open {
                backward.push((node, need));
                continue;
            }
            forward[node].push(need);
            if marks[need] == Mark::New {
                marks[need] = Mark::Open;
                stack.push((need, 0));
            }
        }
    }
    (forward, backward)
}

/// The column of each node: the longest way to it from something that nobody needs. What many need ends up at the right, and what
/// nobody needs right before the first thing that it needs itself.
fn columns(needs: &[Vec<usize>]) -> Vec<usize> {
    let order = reduce::order(needs).unwrap_or_default();
    let mut column = vec![0; needs.len()];
    for &node in order.iter().rev() {
        for &need in &needs[node] {
            column[need] = column[need].max(column[node] + 1);
        }
    }
    let is_needed = reduce::reversed(needs).iter().map(|users| !users.is_empty()).collect::<Vec<_>>();
    for node in (0..needs.len()).filter(|node| !is_needed[*node]) {
        column[node] = needs[node].iter().map(|need| column[*need] - 1).min().unwrap_or(0);
    }
    column
}

impl Layout {
    fn add_lines(&mut self, forward: &[Vec<usize>], backward: &[(usize, usize)], column: &[usize]) {
        let pairs = || forward.iter().enumerate().flat_map(|(node, needs)| needs.iter().map(move |need| (node, *need)));
        let bends: usize = pairs().map(|(from, to)| column[to] - column[from] - 1).sum();
        for (from, to) in pairs() {
            let mut stops = vec![from];
            if bends <= MAX_BENDS {
                for at in column[from] + 1..column[to] {
                    self.slots.push(Slot::Bend(self.lines.len()));
                    self.columns[at].push(self.slots.len() - 1);
                    stops.push(self.slots.len() - 1);
                }
            }
            stops.push(to);
            self.lines.push(Line { from, to, stops, backward: false });
        }
        for &(from, to) in backward {
            self.lines.push(Line { from, to, stops: vec![from, to], backward: true });
        }
    }

    /// By slot: what it is connected with in the columns before and behind it.
    fn neighbours(&self) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let mut left = vec![Vec::new(); self.slots.len()];
        let mut right = vec![Vec::new(); self.slots.len()];
        for line in self.lines.iter().filter(|line| !line.backward) {
            for pair in line.stops.windows(2) {
                right[pair[0]].push(pair[1]);
                left[pair[1]].push(pair[0]);
            }
        }
        (left, right)
    }

    /// Puts every slot near the middle of those that it is connected with.
    fn order(&mut self, left: &[Vec<usize>], right: &[Vec<usize>]) {
        let mut rank = vec![0.0; self.slots.len()];
        for column in &self.columns {
            number(column, &mut rank);
        }
        for _ in 0..ROUNDS {
            for column in &mut self.columns {
                sort(column, left, &mut rank);
            }
            for column in self.columns.iter_mut().rev() {
                sort(column, right, &mut rank);
            }
        }
    }

    /// Heights: as near to the neighbours as the order and the room allow.
    fn place(&mut self, left: &[Vec<usize>], right: &[Vec<usize>]) {
        self.y = vec![0.0; self.slots.len()];
        let room = |slot: usize, slots: &[Slot]| match slots[slot] {
            Slot::Node(_) => ROW,
            Slot::Bend(_) => BEND,
        };
        for column in &self.columns {
            let mut next = 0.0;
            for &slot in column {
                let half = room(slot, &self.slots) / 2.0;
                self.y[slot] = next + half;
                next += 2.0 * half;
            }
        }
        for round in 0..ROUNDS {
            let towards = if round % 2 == 0 { left } else { right };
            for column in &self.columns {
                let wanted: Vec<f64> =
                    column.iter().map(|slot| middle(&towards[*slot], &self.y).unwrap_or(self.y[*slot])).collect();
                let rooms: Vec<f64> = column.iter().map(|slot| room(*slot, &self.slots)).collect();
                let placed = spread(&wanted, &rooms);
                column.iter().zip(placed).for_each(|(slot, y)| self.y[*slot] = y);
            }
        }
        let top = self.y.iter().copied().fold(f64::INFINITY, f64::min);
        if top.is_finite() {
            self.y.iter_mut().for_each(|y| *y -= top - ROW / 2.0);
        }
    }
}

fn number(column: &[usize], rank: &mut [f64]) {
    column.iter().enumerate().for_each(|(at, slot)| rank[*slot] = at as f64);
}

fn sort(column: &mut [usize], towards: &[Vec<usize>], rank: &mut [f64]) {
    let mut keyed: Vec<(f64, usize)> =
        column.iter().map(|slot| (middle(&towards[*slot], rank).unwrap_or(rank[*slot]), *slot)).collect();
    // Equal ones stay as they are.
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    column.iter_mut().zip(keyed).for_each(|(slot, (_, sorted))| *slot = sorted);
    number(column, rank);
}

fn middle(of: &[usize], values: &[f64]) -> Option<f64> {
    if of.is_empty() { None } else { Some(of.iter().map(|slot| values[*slot]).sum::<f64>() / of.len() as f64) }
}

/// Places in order, near to where they are wanted, without touching each other: neighbours that would are put side by side
/// around the middle of what both want.
fn spread(wanted: &[f64], rooms: &[f64]) -> Vec<f64> {
    // Blocks of places that touch: how many, their room, and the sum of where each wants the block to begin.
    let mut blocks: Vec<(usize, f64, f64)> = Vec::new();
    for (wanted, room) in wanted.iter().zip(rooms) {
        blocks.push((1, *room, wanted - room / 2.0));
        while let [.., before, last] = blocks.as_slice() {
            let (begin, end) = (before.2 / before.0 as f64, last.2 / last.0 as f64);
            if begin + before.1 <= end {
                break;
            }
            let joined = (before.0 + last.0, before.1 + last.1, before.2 + last.2 - last.0 as f64 * before.1);
            blocks.truncate(blocks.len() - 2);
            blocks.push(joined);
        }
    }
    let mut placed = Vec::with_capacity(wanted.len());
    for (count, _, sum) in blocks {
        let mut begin = sum / count as f64;
        for _ in 0..count {
            let room = rooms[placed.len()];
            placed.push(begin + room / 2.0);
            begin += room;
        }
    }
    placed
}
