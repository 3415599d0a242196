//! Breaking lines at spaces.

use super::branches;
use unicode_width::UnicodeWidthStr as _;

/// Breaks the lines of a text so that each fits, where that can be done at a space. Indented lines are left as they are: they
/// are code, or a list. What hangs on a branch goes on below it.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    text.lines().flat_map(|line| wrap_line(line, width)).collect()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    if line.starts_with(' ') || line.width() <= width {
        return vec![line.to_owned()];
    }
    let below = branches::below(line);
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut is_empty = true;
    for word in line.split(' ') {
        if !is_empty && current.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut current, below.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            current.push(' ');
        }
        current.push_str(word);
        is_empty = false;
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("aa bb cc\n\n    code stays as it is", 5), ["aa bb", "cc", "", "    code stays as it is"]);
        assert_eq!(wrap("unbreakable x", 4), ["unbreakable", "x"]);
        assert_eq!(wrap("a\n├─ bb cc dd\n└─ ee ff", 8), ["a", "├─ bb cc", "│  dd", "└─ ee ff"]);
        assert_eq!(wrap("└─ ee ff gg", 8), ["└─ ee ff", "   gg"]);
        assert_eq!(wrap("|- bb cc dd\n`- ee ff gg", 8), ["|- bb cc", "|  dd", "`- ee ff", "   gg"]);
    }
}
