//! Splitting a text into words as a shell does: quotes and backslashes, nothing else.

/// Why a text cannot be split.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SplitError {
    /// A quote is never closed.
    #[error("a quote is not closed")]
    OpenQuote,
    /// Nothing follows a backslash.
    #[error("it ends with a backslash")]
    OpenEscape,
}

/// The words of a text.
pub(super) fn split(text: &str) -> Result<Vec<String>, SplitError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => quoted(c, &mut chars, word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(chars.next().ok_or(SplitError::OpenEscape)?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(quote: char, chars: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), SplitError> {
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return Ok(()),
            '\\' if quote == '"' => match chars.next() {
                Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                Some(c) => word.extend(['\\', c]),
                None => return Err(SplitError::OpenEscape),
            },
            c => word.push(c),
        }
    }
    Err(SplitError::OpenQuote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_in_a_shell() {
        assert_eq!(split(r#"-a 'b c' "d\"e" f\ g """#).unwrap(), ["-a", "b c", "d\"e", "f g", ""]);
        assert_eq!(split("  ").unwrap(), Vec::<String>::new());
        assert_eq!(split("'x"), Err(SplitError::OpenQuote));
        assert_eq!(split("x\\"), Err(SplitError::OpenEscape));
    }
}
