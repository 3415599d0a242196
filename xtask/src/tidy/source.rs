//! Rules for single lines: headers, forbidden words, paths of somebody's machine, and the
//! purity of the crates that do no input or output.

use super::size::product_lines;
use super::{Problem, SourceFile};

/// Words that must not be committed, and why. Written in two halves, so that this file passes.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("to", "do!("), "unfinished code must not be committed"),
    (concat!("unimple", "mented!("), "unfinished code must not be committed"),
    (concat!("db", "g!("), "debugging output must not be committed"),
    (concat!("#[ign", "ore"), "a test that does not run tells nothing: fix it or remove it"),
    (concat!("#[should_", "panic"), "assert on an error value instead of a panic"),
    (concat!("// TO", "DO"), "finish it, or write it down where work is planned"),
    (concat!("// FIX", "ME"), "finish it, or write it down where work is planned"),
];

/// Starts of paths that exist on one machine only, in two halves for the same reason.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ro", "ot/"), concat!("/wo", "rk/main"), concat!("/wo", "rk/shared"), HOMES, concat!("/tmp/tar", "get")];

/// Where homes are, and the one that examples may name: nobody's. Tests may name any.
const HOMES: &str = concat!("/ho", "me/");
const EXAMPLE_HOME: &str = concat!("/ho", "me/user");

/// Crates that do no input or output: what they need is passed in.
const PURE: &[&str] = &["crates/model/src", "crates/syntax/src", "crates/lang/src", "crates/rules/src"];

/// What a pure crate must not name outside its tests.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "ToSocketAddrs",
    "std::process",
    "std::thread",
    "std::io::stdin",
    "std::io::stdout",
    "std::io::stderr",
    "SystemTime::now",
    "Instant::now",
    "println!",
    "eprintln!",
];

/// Checks every text file for machine paths, and every Rust file for the rest.
pub(super) fn check(files: &[SourceFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files {
        check_machine_paths(file, &mut problems);
        if !file.is_rust() {
            continue;
        }
        if !file.text.starts_with("//!") && !file.is_generated() {
            let message = "the first line must be `//! …` and say what lives here";
            problems.push(Problem::at(&file.path, 1, message));
        }
        check_words(file, &mut problems);
        if PURE.iter().any(|pure| file.path.starts_with(pure)) && !file.is_test() {
            check_purity(file, &mut problems);
        }
    }
    problems
}

fn check_words(file: &SourceFile, problems: &mut Vec<Problem>) {
    for (number, line) in file.text.lines().enumerate() {
        for (word, why) in FORBIDDEN {
            if line.contains(word) {
                problems.push(Problem::at(&file.path, number + 1, format!("`{word}`: {why}")));
            }
        }
    }
}

fn check_purity(file: &SourceFile, problems: &mut Vec<Problem>) {
    for (number, line) in product_lines(&file.text) {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for word in IMPURE {
            if contains_word(line, word) {
                let message = format!("`{word}` in a crate without input and output: pass it in");
                problems.push(Problem::at(&file.path, number, message));
            }
        }
    }
}

fn check_machine_paths(file: &SourceFile, problems: &mut Vec<Problem>) {
    for (number, line) in file.text.lines().enumerate() {
        for path in MACHINE_PATHS {
            let example = *path == HOMES && (file.is_test() || line.contains(EXAMPLE_HOME));
            if !example && contains_word(line, path) {
                let message = format!("`{path}` is a path of one machine");
                problems.push(Problem::at(&file.path, number + 1, message));
            }
        }
    }
}

/// Whether `line` has `word` where a word or a path starts, not inside a longer one.
fn contains_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | '~' | '}' | '*'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(&[SourceFile::new(path, text)]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_opens_with_its_purpose() {
        assert!(messages("crates/a/src/a.rs", "//! Says what.\n").is_empty());
        assert_eq!(messages("crates/a/src/a.rs", "use std::fmt;\n").len(), 1);
    }

    #[test]
    fn unfinished_code_is_found_with_its_line() {
        let text = format!("//! x\nfn a() {{ {}) }}\n", FORBIDDEN[0].0);
        assert!(messages("crates/a/src/a.rs", &text)[0].starts_with("crates/a/src/a.rs:2: "));
    }

    #[test]
    fn every_forbidden_word_is_found() {
        for (word, _) in FORBIDDEN {
            let text = format!("//! x\n{word}\n");
            assert_eq!(messages("crates/a/src/a.rs", &text).len(), 1, "{word}");
        }
    }

    #[test]
    fn machine_paths_are_found_in_any_text_but_not_inside_longer_paths() {
        let path = MACHINE_PATHS[0];
        assert_eq!(messages("README.md", &format!("see {path}.cargo")).len(), 1);
        assert!(messages("README.md", &format!("see modules{path}x")).is_empty());
        assert_eq!(messages("README.md", &format!("{HOMES}somebody/x")).len(), 1);
        assert!(messages("README.md", &format!("{EXAMPLE_HOME}/x")).is_empty());
        assert!(messages("crates/a/tests/a.rs", &format!("//! {HOMES}somebody/x")).is_empty());
    }

    #[test]
    fn pure_crates_do_not_read_files_but_their_tests_may() {
        let read = "//! x\nfn a() { std::fs::read(\"x\"); }\n";
        assert_eq!(messages("crates/lang/src/a.rs", read).len(), 1);
        assert!(messages("crates/run/src/a.rs", read).is_empty());
        let tested = "//! x\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert!(messages("crates/lang/src/a.rs", tested).is_empty());
        let comment = "//! x\n// std::env is not read here.\n";
        assert!(messages("crates/lang/src/a.rs", comment).is_empty());
    }
}
