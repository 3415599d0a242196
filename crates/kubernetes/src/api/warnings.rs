//! `Warning:` headers: `299 - "policy/v1beta1 is deprecated"`.

use http::HeaderMap;
use http::header::WARNING;

/// The texts of all warnings, each once.
pub(super) fn texts(headers: &HeaderMap) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for header in headers.get_all(WARNING) {
        for text in of_header(&String::from_utf8_lossy(header.as_bytes())) {
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    found
}

/// A header may have several: code, agent, a quoted text, perhaps a quoted date, then a comma.
fn of_header(header: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = header.trim();
    while !rest.is_empty() {
        let Some(begin) = rest.find('"') else { break };
        let code = rest.split_whitespace().next().unwrap_or_default();
        let (text, behind) = quoted(rest.get(begin + 1..).unwrap_or_default());
        if code == "299" {
            found.push(text);
        }
        rest = behind_comma(behind);
    }
    found
}

/// A text up to its closing quote, and what follows.
fn quoted(text: &str) -> (String, &str) {
    let mut unescaped = String::new();
    let mut escaped = false;
    for (at, char) in text.char_indices() {
        match char {
            _ if escaped => {
                unescaped.push(char);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return (unescaped, text.get(at + 1..).unwrap_or_default()),
            _ => unescaped.push(char),
        }
    }
    (unescaped, "")
}

/// What follows the next comma that is not quoted.
fn behind_comma(text: &str) -> &str {
    let mut inside = false;
    for (at, char) in text.char_indices() {
        match char {
            '"' => inside = !inside,
            ',' if !inside => return text.get(at + 1..).unwrap_or_default().trim_start(),
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(headers: &[&'static str], expected: &[&str]) {
        let mut map = HeaderMap::new();
        for header in headers {
            map.append(WARNING, http::HeaderValue::from_static(header));
        }
        assert_eq!(texts(&map), expected);
    }

    #[test]
    fn each_text_comes_once() {
        check(&["299 - \"a\"", "299 - \"b\"", "299 - \"a\""], &["a", "b"]);
    }

    #[test]
    fn one_header_may_have_several() {
        check(&["299 - \"a, b\", 299 - \"say \\\"c\\\"\" \"Mon, 1 Jan\", 299 - \"d\""], &["a, b", "say \"c\"", "d"]);
    }

    #[test]
    fn other_codes_and_broken_headers_are_passed_over() {
        check(&["110 - \"stale\"", "299 -", "", "299 - \"open"], &["open"]);
    }
}
