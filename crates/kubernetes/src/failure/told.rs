//! What a server says, fit to be repeated: whole objects that it quotes are left out, and so is every value of a Secret.

/// Values that are longer than that are left out.
const LONGEST_VALUE: usize = 120;
/// At most so many changed lines of a comparison are told.
const MOST_LINES: usize = 6;
/// What stands before values.
const MARKERS: [&str; 5] =
    ["Invalid value: ", "Unsupported value: ", "Duplicate value: ", ", got ", "with the existing value "];

/// The message without values that are too long, or without any.
pub(super) fn told(text: &str, secret: bool) -> String {
    let (text, comparison) = match text.split_once("\n@@") {
        Some((text, comparison)) => (text, changed_lines(comparison)),
        None => (text, String::new()),
    };
    let mut kept = String::new();
    let mut rest = text;
    while let Some((at, marker)) = MARKERS.iter().filter_map(|marker| Some((rest.find(marker)?, *marker))).min() {
        let (before, behind) = rest.split_at(at + marker.len());
        let (value, behind) = behind.split_at(value_length(behind));
        kept.push_str(before);
        if secret {
            kept.push_str("(hidden)");
        } else if value.len() > LONGEST_VALUE {
            kept.push_str("(…)");
        } else {
            kept.push_str(value);
        }
        rest = behind;
    }
    kept.push_str(rest);
    if !secret {
        kept.push_str(&comparison);
    }
    kept
}

/// How long a value is: a quoted text, or anything up to a colon, comma or line outside of brackets.
fn value_length(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '[' | '(' => depth += 1,
            // The list that the value is in ends.
            '}' | ']' | ')' if depth == 0 => return at,
            '}' | ']' | ')' => depth -= 1,
            ':' | ',' | '\n' if depth == 0 && ends(text.get(at + 1..)) => return at,
            _ => {}
        }
    }
    text.len()
}

fn ends(behind: Option<&str>) -> bool {
    behind.is_none_or(|behind| behind.is_empty() || behind.starts_with([' ', '\n']))
}

/// What differs, of a comparison that some refusals bring along.
fn changed_lines(comparison: &str) -> String {
    let changed = comparison.lines().filter(|line| line.starts_with(['+', '-']));
    let mut lines = String::new();
    for line in changed.take(MOST_LINES) {
        let (sign, line) = line.split_at(1);
        let line = super::shortened(line.trim(), LONGEST_VALUE);
        for part in ["\n    ", sign, " ", &line] {
            lines.push_str(part);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_values_are_told_and_long_ones_are_not() {
        let short = "spec.x: Invalid value: \"a: b\": too short, spec.y: Invalid value: {\"a\":{\"b\":\"}\"}}: no";
        assert_eq!(told(short, false), short);
        let long = format!("template: Invalid value: {{\"env\":\"{}: }}\"}}: field is immutable", "s3cret".repeat(30));
        assert_eq!(told(&long, false), "template: Invalid value: (…): field is immutable");
        let structure = format!("t: Invalid value: core.Spec{{Name:\"{}\"}}: field is immutable", "x".repeat(200));
        assert_eq!(told(&structure, false), "t: Invalid value: (…): field is immutable");
    }

    #[test]
    fn secrets_are_told_without_values() {
        assert_eq!(told("a: Invalid value: \"s3\\\"cret\": no, b", true), "a: Invalid value: (hidden): no, b");
        assert_eq!(told("expected string, got &value{Value:12}", true), "expected string, got (hidden)");
        assert_eq!(told("no\n@@ -1 +1 @@\n-\"a\": \"s3cret\"", true), "no");
    }

    #[test]
    fn comparisons_are_told_by_what_differs() {
        let text = "spec is immutable\n@@ -6,7 +6,7 @@\n  \"Requests\": {\n-   \"storage\": \"1Gi\"\n+   \"storage\": \"2Gi\"\n   }\n";
        assert_eq!(told(text, false), "spec is immutable\n    - \"storage\": \"1Gi\"\n    + \"storage\": \"2Gi\"");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_told(text in ".*(Invalid value: |, got )?.*", secret: bool) {
            let _ = told(&text, secret);
        }

        #[test]
        fn a_quoted_value_of_a_secret_is_never_told(value in "[a-z]{8,20}", before in "[A-Z ]{0,10}", behind in "[A-Z :]{0,10}") {
            let text = format!("{before}Invalid value: \"{value}\": {behind}");
            proptest::prop_assert!(!told(&text, true).contains(&value));
        }
    }
}
