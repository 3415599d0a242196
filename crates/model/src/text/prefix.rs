//! How much of a text is certain when something is yet to be put behind it.

use unicode_normalization::char::{canonical_combining_class, compose};
use unicode_segmentation::UnicodeSegmentation;

/// Characters that nothing combines with, and with which texts for machines often go on.
const SEPARATORS: &str = "-_:;/\\,.(){}[]|?!~ \t@#$%^&*+\"'";

/// The beginning of a text (in normal form C) that stays as it is whatever is put behind it: without a last character
/// that something could still combine with. It says less than it could for texts of several lines, as peers do: there it
/// ends with the first line, unless the last character would go anyway.
pub fn safe_prefix(text: &str) -> &str {
    let Some(last) = text.chars().next_back() else { return text };
    if canonical_combining_class(last) != 0 || combines_forward(last) {
        let starter = text.char_indices().rev().find(|(_, c)| canonical_combining_class(*c) == 0);
        return starter.map_or("", |(at, _)| &text[..at]);
    }
    if let Some((at, _)) = text.grapheme_indices(true).find(|(_, cluster)| matches!(*cluster, "\n" | "\r")) {
        return &text[..at];
    }
    let Some((at, last)) = text.grapheme_indices(true).next_back() else { return text };
    let mut chars = last.chars();
    let is_separator = chars.next().is_some_and(|c| SEPARATORS.contains(c)) && chars.next().is_none();
    if is_separator { text } else { &text[..at] }
}

/// Whether some character behind this one would make them one.
fn combines_forward(c: char) -> bool {
    if c.is_ascii() {
        return (c.is_ascii_alphabetic() && !matches!(c, 'q' | 'Q')) || matches!(c, '<' | '=' | '>');
    }
    let signs = [
        '\u{653}', '\u{654}', '\u{655}', '\u{93c}', '\u{9be}', '\u{9d7}', '\u{b3e}', '\u{b56}', '\u{b57}', '\u{bbe}',
        '\u{bd7}', '\u{c56}', '\u{cc2}', '\u{cd5}', '\u{cd6}', '\u{d3e}', '\u{d57}', '\u{dca}', '\u{dcf}', '\u{ddf}',
        '\u{102e}', '\u{1b35}', '\u{3099}', '\u{309a}',
    ];
    let marks = '\u{300}'..='\u{345}';
    let jamo = ('\u{1161}'..='\u{1175}').chain('\u{11a8}'..='\u{11c2}');
    marks.chain(signs).chain(jamo).any(|mark| compose(c, mark).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_where_nothing_can_combine() {
        let cases = [
            ("hello-", "hello-"),
            ("hello", "hell"),
            ("he\u{301}", "h"),
            ("", ""),
            ("abcq", "abc"),
            ("a12", "a1"),
            ("a=", "a"),
            ("http://", "http://"),
            ("a-\u{9c7}", "a-"),
            ("\u{1f44d}\u{1f3fd}", ""),
            // The rest of the text does not matter if the last character goes.
            ("abc\ndef: ghi=", "abc\ndef: ghi"),
            ("abc\ndef: ghi-", "abc"),
            ("x\r\ny-", "x\r\ny-"),
            ("a\rb-", "a"),
        ];
        for (text, safe) in cases {
            assert_eq!(safe_prefix(text), safe, "{text:?}");
        }
    }
}
