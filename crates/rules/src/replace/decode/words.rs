//! Words of rules that people will read. Nothing in them may move the cursor or colour a terminal.

use groma_model::text::Str;

use crate::replace::step;

/// A text in one line, without control characters and the sequences that begin with one.
pub(super) fn clean(text: &str) -> Str {
    Str::new(step::clean(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(clean("plain é"), "plain é");
        assert_eq!(clean("a \u{1b}[31mred\u{1b}[0m\nline"), "a red line");
        assert_eq!(clean("\u{1b}[1;2"), "");
        assert_eq!(clean("\u{1b}]0;title\u{7}x\u{9b}y"), "x");
        assert_eq!(clean("a\u{202e}b\r\n"), "ab");
    }
}
