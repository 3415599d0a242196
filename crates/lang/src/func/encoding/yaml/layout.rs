//! Rules about the layout of a document in which the parser is more generous than other tools.

use super::super::super::FunctionError;

/// Refuses a document that begins with the end of one.
pub(super) fn check_start(source: &str) -> Result<(), FunctionError> {
    let mut lines = source.lines();
    let first = lines.find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    match first.and_then(|line| line.strip_prefix("...")) {
        Some(rest) if rest.is_empty() || rest.starts_with([' ', '\t']) => {
            Err(FunctionError::new("did not find expected node content"))
        }
        _ => Ok(()),
    }
}

/// Refuses tabs at the beginning of a line and after a dash or question mark, in the part of a document that lies between
/// two values.
pub(super) fn check_tabs(source: &str, start: usize, end: usize) -> Result<(), FunctionError> {
    let (Some(before), Some(gap)) = (source.get(..start), source.get(start..end)) else { return Ok(()) };
    // Whether a key may begin here, and so whether a tab would be taken for indentation.
    let mut may_indent = before.is_empty() || before.ends_with('\n');
    let mut line_start = may_indent;
    let mut rest = gap;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match c {
            '\t' if may_indent => {
                return Err(misplaced(source, end - rest.len(), "found character that cannot start any token"));
            }
            ' ' | '\t' => {}
            '\n' | '\r' => may_indent = true,
            '#' | '%' if c == '#' || line_start => {
                taken = rest.find('\n').unwrap_or(rest.len());
                may_indent = false;
            }
            '-' if line_start && rest.starts_with("---") => {
                taken = 3;
                may_indent = false;
            }
            '-' | '?' => may_indent = true,
            _ => may_indent = false,
        }
        line_start = matches!(c, '\n' | '\r');
        rest = &rest[taken..];
    }
    Ok(())
}

/// Refuses a block whose first line begins with a tab, unless its header says how far it is indented.
pub(super) fn check_block(source: &str, start: usize, end: usize, text: &str) -> Result<(), FunctionError> {
    let header = source.get(start..end).unwrap_or_default();
    if text.trim_start_matches('\n').starts_with('\t') && !header.contains(|c: char| c.is_ascii_digit()) {
        return Err(misplaced(source, end, "found a tab character where an indentation space is expected"));
    }
    Ok(())
}

fn misplaced(source: &str, at: usize, problem: &str) -> FunctionError {
    let line = source[..at].matches('\n').count() + 1;
    let place = if line > 1 { format!("on line {line}, column 1: ") } else { String::new() };
    FunctionError::new(format!("{place}{problem}"))
}
