//! Texts of others, written so that a terminal obeys nothing in them, and nothing looks like something else.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text in which everything is seen that is there: what would move a cursor, colour a terminal or turn a line around stands as its
/// number. Lines and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        // Some end their lines like that.
        if character == '\r' && characters.peek() == Some(&'\n') {
            continue;
        }
        if is_obeyed(character) {
            let _ = write!(shown, "\\u{:04x}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal does something else than to show it.
fn is_obeyed(character: char) -> bool {
    let turns_lines_around = matches!(
        character,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    turns_lines_around || (character.is_control() && !matches!(character, '\n' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_stays() {
        for text in ["", "plain é 😀", "two\nlines\tand a tab", "أهلا", "👩‍🚀"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
        }
        assert_eq!(visible("ends\r\nas elsewhere"), "ends\nas elsewhere");
    }

    #[test]
    fn what_is_obeyed_is_told() {
        assert_eq!(visible("\u{1b}[31mred"), "\\u001b[31mred");
        assert_eq!(visible("\u{1b}]0;title\u{7}"), "\\u001b]0;title\\u0007");
        assert_eq!(visible("back\rto the start"), "back\\u000dto the start");
        assert_eq!(visible("user\u{202e}txt.exe"), "user\\u202etxt.exe");
    }

    /// Every character that is obeyed, in places where terminals look for one.
    #[test]
    fn nothing_is_obeyed() {
        let obeyed: Vec<char> = (0..=0x2069_u32).filter_map(char::from_u32).filter(|c| is_obeyed(*c)).collect();
        assert!(obeyed.len() > 70, "{}", obeyed.len());
        for character in obeyed {
            for text in [format!("{character}"), format!("a{character}[2J{character}\\"), format!("\n{character};1m")] {
                let shown = visible(&text).into_owned();
                assert!(!shown.chars().any(is_obeyed), "{text:?} is shown as {shown:?}");
            }
        }
    }
}
