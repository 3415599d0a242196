//! Branches of trees: drawn with lines, or with plain letters where lines cannot be shown.

use std::fmt::Write as _;

/// One more that follows, and the last one; with what is below each.
const LINES: [(&str, &str); 2] = [("├─ ", "│  "), ("└─ ", "   ")];
const LETTERS: [(&str, &str); 2] = [("|- ", "|  "), ("`- ", "   ")];

/// What goes on below a line, if it hangs on a branch.
pub(super) fn below(line: &str) -> &'static str {
    let branches = LINES.into_iter().chain(LETTERS);
    branches.into_iter().find(|(branch, _)| line.starts_with(branch)).map_or("", |(_, below)| below)
}

/// A text whose branches are drawn with lines, as it can be shown.
pub(super) fn redrawn(text: &str, ascii: bool) -> String {
    if !ascii {
        return text.to_owned();
    }
    let redraw = |line: &str| {
        let branch = LINES.iter().zip(LETTERS).find(|((branch, _), _)| line.starts_with(branch));
        branch.map_or_else(|| line.to_owned(), |((old, _), (new, _))| line.replacen(old, new, 1))
    };
    text.split('\n').map(redraw).collect::<Vec<_>>().join("\n")
}

/// Something with something below it.
#[derive(Debug, Default)]
pub(crate) struct Branch {
    pub(crate) text: String,
    pub(crate) children: Vec<Branch>,
}

impl Branch {
    pub(crate) fn leaf(text: impl Into<String>) -> Self {
        Self { text: text.into(), children: Vec::new() }
    }
}

/// Draws everything that hangs on a line, each in a line of its own behind `indent`.
pub(crate) fn draw(branches: &[Branch], indent: &str, ascii: bool) -> String {
    let [middle, last] = if ascii { LETTERS } else { LINES };
    let mut text = String::new();
    for (at, branch) in branches.iter().enumerate() {
        let (sign, below) = if at + 1 == branches.len() { last } else { middle };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{indent}{sign}{}", branch.text);
        text.push_str(&draw(&branch.children, &format!("{indent}{below}"), ascii));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_drawn_with_lines_or_letters() {
        let tree = [Branch { text: "a".to_owned(), children: vec![Branch::leaf("b")] }, Branch::leaf("c")];
        assert_eq!(draw(&tree, "  ", false), "  ├─ a\n  │  └─ b\n  └─ c\n");
        assert_eq!(draw(&tree, "", true), "|- a\n|  `- b\n`- c\n");
    }

    #[test]
    fn only_what_begins_a_line_is_redrawn() {
        assert_eq!(redrawn("x\n├─ a ├─ b\n└─ c\n\ny", true), "x\n|- a ├─ b\n`- c\n\ny");
        assert_eq!(redrawn("├─ a", false), "├─ a");
    }
}
