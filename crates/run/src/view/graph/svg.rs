//! SVG: boxes with labels, and lines with right angles. Needs no other program, and no script or font in the file.

use std::fmt::Write as _;

use super::layout::{Layout, Line, Slot, layout};
use super::{GraphView, Node, NodeKind};

/// The width of a character: text is set in a font in which all are equal.
const CHARACTER: f64 = 7.3;
const PADDING: f64 = 10.0;
const BOX_HEIGHT: f64 = 24.0;
const MARGIN: f64 = 20.0;
/// The least room between two columns, and what each line adds to it.
const GAP: f64 = 50.0;
const TRACK: f64 = 3.0;
const MAX_GAP: f64 = 260.0;

const STYLE: &str = "\
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1b1f24}
.box{stroke:#57606a;stroke-width:1}
.resource{fill:#ddf4ff}.data{fill:#e6ffec}.ephemeral{fill:#fff8c5}.provider{fill:#fbefff}
.variable{fill:#fff1e5}.local{fill:#f6f8fa}.output{fill:#ffebe9}.check{fill:#eef1ff}.helper{fill:#eaeef2}
.line{fill:none;stroke:#8c959f;stroke-width:1}
.circle{stroke:#cf222e;stroke-width:2}
";

/// The text.
pub(super) fn write(graph: &GraphView) -> String {
    let layout = layout(&graph.needs);
    let sheet = Sheet::new(graph, &layout);
    let mut text = String::new();
    let (width, height) = (sheet.width, sheet.height);
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} \
         {height:.0}\">"
    );
    let _ = writeln!(text, "<style>\n{STYLE}</style>");
    text.push_str(
        "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#8c959f\"/></marker></defs>\n",
    );
    let _ = writeln!(text, "<rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#ffffff\"/>");
    for (at, line) in layout.lines.iter().enumerate() {
        sheet.line(&mut text, at, line);
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        sheet.node(&mut text, at, node);
    }
    text.push_str("</svg>\n");
    text
}

/// Where everything is on the sheet.
struct Sheet<'l> {
    graph: &'l GraphView,
    layout: &'l Layout,
    /// By slot: its column.
    column: Vec<usize>,
    /// By column: its left and its right edge.
    edges: Vec<(f64, f64)>,
    /// By line: where it turns, in the gap behind each of its stops.
    turns: Vec<Vec<f64>>,
    in_circle: Vec<bool>,
    width: f64,
    height: f64,
}

impl<'l> Sheet<'l> {
    fn new(graph: &'l GraphView, layout: &'l Layout) -> Self {
        let mut column = vec![0; layout.slots.len()];
        for (at, slots) in layout.columns.iter().enumerate() {
            for slot in slots {
                column[*slot] = at;
            }
        }
        let crossing = crossings(layout, &column);
        let mut edges = Vec::new();
        let mut x = MARGIN;
        for (at, slots) in layout.columns.iter().enumerate() {
            let width = slots.iter().map(|slot| slot_width(graph, layout.slots[*slot])).fold(0.0, f64::max);
            edges.push((x, x + width));
            let lines = crossing.get(at).map_or(0, Vec::len);
            x += width + (GAP + TRACK * lines as f64).min(MAX_GAP);
        }
        let right = edges.last().map_or(0.0, |(_, right)| *right);
        let bottom = layout.y.iter().copied().fold(0.0, f64::max);
        let mut in_circle = vec![false; graph.nodes.len()];
        super::reduce::cycles(&graph.needs).into_iter().flatten().for_each(|node| in_circle[node] = true);
        let mut sheet = Self {
            graph,
            layout,
            column,
            edges,
            turns: layout.lines.iter().map(|line| vec![0.0; line.stops.len()]).collect(),
            in_circle,
            width: right + MARGIN,
            height: bottom + BOX_HEIGHT + 2.0 * MARGIN,
        };
        sheet.spread_turns(&crossing);
        sheet
    }

    /// Gives each line in a gap its own place to turn, in the order of where they come from.
    fn spread_turns(&mut self, crossing: &[Vec<(usize, usize)>]) {
        for (gap, lines) in crossing.iter().enumerate() {
            let from = self.edges[gap].1;
            let to = self.edges.get(gap + 1).map_or(from + GAP, |(left, _)| *left);
            let mut lines = lines.clone();
            let y = |(line, stop): &(usize, usize)| self.layout.y[self.layout.lines[*line].stops[*stop]];
            lines.sort_by(|a, b| y(a).total_cmp(&y(b)).then(a.cmp(b)));
            let step = (to - from - 24.0) / (lines.len() + 1) as f64;
            for (at, (line, stop)) in lines.iter().enumerate() {
                self.turns[*line][*stop] = from + 8.0 + step * (at + 1) as f64;
            }
        }
    }

    fn left(&self, slot: usize) -> f64 {
        self.edges[self.column[slot]].0
    }

    /// The right edge of a node, which is as wide as its label.
    fn right(&self, slot: usize) -> f64 {
        self.left(slot) + slot_width(self.graph, self.layout.slots[slot])
    }

    fn y(&self, slot: usize) -> f64 {
        self.layout.y[slot] + MARGIN
    }

    fn line(&self, text: &mut String, at: usize, line: &Line) {
        let class = if self.in_circle[line.from] && self.in_circle[line.to] { "line circle" } else { "line" };
        let mut path = String::new();
        if line.backward {
            let (x1, y1, x2, y2) = (self.left(line.from), self.y(line.from), self.right(line.to), self.y(line.to));
            let _ = write!(path, "M{x1:.0} {y1:.0}C{:.0} {y1:.0} {:.0} {y2:.0} {x2:.0} {y2:.0}", x1 - 40.0, x2 + 40.0);
        } else {
            let _ = write!(path, "M{:.0} {:.0}", self.right(line.from), self.y(line.from));
            for (stop, pair) in line.stops.windows(2).enumerate() {
                let (from, to) = (self.y(pair[0]), self.y(pair[1]));
                turn(&mut path, self.turns[at][stop], from, to);
                let _ = write!(path, "H{:.0}", self.left(pair[1]));
            }
        }
        let _ = writeln!(text, "<path class=\"{class}\" d=\"{path}\" marker-end=\"url(#arrow)\"/>");
    }

    fn node(&self, text: &mut String, at: usize, node: &Node) {
        let (x, y) = (self.left(at), self.y(at) - BOX_HEIGHT / 2.0);
        let width = slot_width(self.graph, Slot::Node(at));
        let (class, round) = match node.kind {
            NodeKind::Resource => ("resource", 3),
            NodeKind::Data => ("data", 3),
            NodeKind::Ephemeral => ("ephemeral", 3),
            NodeKind::Provider | NodeKind::ProviderClose => ("provider", 0),
            NodeKind::Variable => ("variable", 12),
            NodeKind::Local => ("local", 12),
            NodeKind::Output => ("output", 12),
            NodeKind::Check => ("check", 12),
            NodeKind::Helper => ("helper", 12),
        };
        let label = escaped(&node.label);
        let _ = writeln!(
            text,
            "<g><title>{label}</title><rect class=\"box {class}\" x=\"{x:.0}\" y=\"{y:.0}\" width=\"{width:.0}\" \
             height=\"{BOX_HEIGHT:.0}\" rx=\"{round}\"/><text x=\"{:.0}\" y=\"{:.0}\">{label}</text></g>",
            x + PADDING,
            y + 16.0
        );
    }
}

/// By gap behind a column: the lines that cross it, and from which of their stops.
fn crossings(layout: &Layout, column: &[usize]) -> Vec<Vec<(usize, usize)>> {
    let mut crossing = vec![Vec::new(); layout.columns.len()];
    for (at, line) in layout.lines.iter().enumerate().filter(|(_, line)| !line.backward) {
        for stop in 0..line.stops.len() - 1 {
            crossing[column[line.stops[stop]]].push((at, stop));
        }
    }
    crossing
}

/// To the place of the turn, there up or down with round corners, and on.
fn turn(path: &mut String, x: f64, from: f64, to: f64) {
    let radius = ((to - from).abs() / 2.0).min(5.0);
    if radius < 0.5 {
        return;
    }
    let down = (to - from).signum();
    let _ = write!(
        path,
        "H{:.1}Q{x:.1} {from:.1} {x:.1} {:.1}V{:.1}Q{x:.1} {to:.1} {:.1} {to:.1}",
        x - radius,
        from + down * radius,
        to - down * radius,
        x + radius
    );
}

fn slot_width(graph: &GraphView, slot: Slot) -> f64 {
    match slot {
        Slot::Node(node) => graph.nodes[node].label.chars().count() as f64 * CHARACTER + 2.0 * PADDING,
        Slot::Bend(_) => 0.0,
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // What XML does not allow at all.
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
