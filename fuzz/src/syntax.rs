//! Reading text: native syntax, JSON syntax, single expressions.

use groma_model::diag::Diagnostics;
use groma_model::span::{FileId, SourceMap};
use groma_syntax::fmt::{format, format_file};
use groma_syntax::{parse_expr, parse_json, parse_native, parse_template, parse_traversal};

use crate::{codec, evaluate};

/// A configuration file: any text gives a tree, and every diagnostic points into the text. What parses is formatted,
/// and then still parses, and its layout stays as it is. (Old spellings are replaced one layer at a time, as stock tools
/// do, so that part may need another turn.)
pub(crate) fn hcl(data: &[u8]) {
    let (map, file) = source(data);
    let parsed = parse_native(&map, file);
    check_places(&map, file, &parsed.diagnostics);
    let _ = format(map.file(file).text());
    if let Ok(once) = format_file(&map, file) {
        let (map, file) = source(once.as_bytes());
        format_file(&map, file).expect("formatted text parses");
        let twice = format(&once);
        assert!(twice == once, "the layout is not stable:\n{once}\n---\n{twice}");
    }
}

/// JSON, as a configuration file and as values and types.
pub(crate) fn json(data: &[u8]) {
    let (map, file) = source(data);
    if !has_long_number(data) {
        codec::json_values(map.file(file).text());
    }
    let parsed = parse_json(&map, file);
    check_places(&map, file, &parsed.diagnostics);
}

/// The same text as an expression (evaluated), as a template and as a reference.
pub(crate) fn expression(data: &[u8]) {
    let (map, file) = source(data);
    let parsed = parse_expr(&map, file);
    check_places(&map, file, &parsed.diagnostics);
    if !parsed.diagnostics.has_errors() && !has_long_number(data) {
        evaluate::expression(&parsed.value, map.file(file).text());
    }
    check_places(&map, file, &parse_template(&map, file).diagnostics);
    check_places(&map, file, &parse_traversal(&map, file).diagnostics);
}

/// Whether there is an exponent of more than four digits. Such a number is fine, but printing it takes as long as its
/// digits are many, which is no news.
fn has_long_number(data: &[u8]) -> bool {
    let mut digits = 0;
    let mut in_exponent = false;
    data.iter().any(|byte| {
        match byte {
            b'e' | b'E' => (in_exponent, digits) = (true, 0),
            b'0'..=b'9' => digits += 1,
            b'+' | b'-' => {}
            _ => in_exponent = false,
        }
        in_exponent && digits > 4
    })
}

/// Files that are not UTF-8 are refused before they are parsed, so the parser never sees one.
fn source(data: &[u8]) -> (SourceMap, FileId) {
    let mut map = SourceMap::new();
    let file = map.add("fuzz.tf", String::from_utf8_lossy(data).into_owned());
    (map, file)
}

/// Every place is inside the text and on the borders of characters, so that rendering it cannot fail.
pub(crate) fn check_places(map: &SourceMap, file: FileId, diagnostics: &Diagnostics) {
    let length = map.file(file).text().len();
    for diagnostic in diagnostics {
        assert!(!diagnostic.summary.is_empty(), "a diagnostic without a summary");
        for span in [diagnostic.subject, diagnostic.context].into_iter().flatten() {
            assert!(span.end as usize <= length, "{span:?} ends behind the text of {length} bytes");
            let _ = map.text(span);
            let _ = (map.start(span), map.end(span));
        }
    }
}
