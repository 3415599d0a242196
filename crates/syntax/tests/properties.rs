//! What holds for all texts: nothing panics, `fmt` changes nothing twice, and `fmt` keeps the meaning.

use std::fmt::Write as _;

use groma_model::span::{FileId, SourceMap, Span};
use groma_syntax::body::Body;
use proptest::prelude::*;

fn source(text: &str) -> (SourceMap, FileId) {
    let mut map = SourceMap::new();
    let file = map.add("main.tf", text);
    (map, file)
}

/// Reads a text in every way there is.
fn read_all(text: &str) {
    let (map, file) = source(text);
    let native = groma_syntax::parse_native(&map, file);
    native.value.just_attributes();
    let json = groma_syntax::parse_json(&map, file);
    json.value.just_attributes();
    let expr = groma_syntax::parse_expr(&map, file);
    expr.value.references();
    groma_syntax::parse_template(&map, file);
    groma_syntax::parse_traversal(&map, file);
    let _ = groma_syntax::fmt::format_file(&map, file);
    groma_syntax::fmt::format(text);
    for diagnostic in &native.diagnostics {
        let inside = |span: Span| span.end as usize <= text.len() && text.is_char_boundary(span.start as usize);
        assert!(diagnostic.subject.is_some_and(inside), "{diagnostic:?}");
    }
}

/// A tree as text without places, so that trees from different texts can be compared.
fn shape(body: &Body) -> String {
    let (attributes, blocks) = body.native_items().unwrap_or_default();
    let mut text = String::new();
    for attribute in attributes {
        let _ = write!(text, "{} = {:?};", attribute.name.name, attribute.expr);
    }
    for block in blocks {
        let labels: Vec<_> = block.labels.iter().map(|label| &label.text).collect();
        let _ = write!(text, "{} {labels:?} {{ {} }}", block.kind.name, shape(&block.body));
    }
    let mut stripped = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("Span {") {
        stripped.push_str(&rest[..at]);
        rest = &rest[at..][rest[at..].find('}').map_or(rest.len() - at, |end| end + 1)..];
    }
    stripped + rest
}

/// Pieces of the language in no order that makes sense.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "{", "}", "[", "]", "(", ")", "\"", "'", "`", ";", ",", ".", "...", "=", "==", "=>", "*", "/", "%", "+", "-",
        "!", "?", ":", "::", "${", "%{", "~}", "~", "&", "&&", "||", "\n", "\r\n", "\r", " ", "\t", "<<E\n", "<<-E\n",
        "E\n", "#", "//", "/*", "*/", "for ", "if ", "in ", "else", "endif", "endfor", "0", "1.5", "a", "b", "null",
        "true", "\\", "$", "%", "é", "\u{301}", "\u{feff}", "\0", "%{if a}", "%{endif}", "[*]", ".*", ".0", "\\u00e9",
        "a = ", "a {\n",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

/// An expression that fits on one line.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[a-z]{1,8}",
        "[0-9]{1,3}",
        Just("null".to_owned()),
        "\"[a-z ]{0,6}\"",
        Just("\"x ${ y }  ${z}\"".to_owned()),
        Just("a.b[0].c[*]".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}+{b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} &&  ! {b}")),
            inner.clone().prop_map(|a| format!("- ( {a})")),
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(",  "))),
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("f ({})", items.join(" ,"))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{a={a},  \"b\" = {b} }}")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("{a}?{b}:{c}")),
            inner.prop_map(|a| format!("[for x in [{a}]:x  if x]")),
        ]
    })
}

/// A configuration with spaces all over the place.
fn configuration() -> impl Strategy<Value = String> {
    let item = ("[a-z]{1,9}", prop_oneof![Just(" "), Just("  "), Just("\t")], expression())
        .prop_map(|(name, gap, value)| format!("{gap}{name}{gap}={gap}{value}\n"));
    let comment = Just("   # a comment\n".to_owned());
    let line = prop_oneof![6 => item, 1 => comment, 1 => Just("\n".to_owned())];
    let block = (("[a-z]{1,6}", "[a-z]{1,6}"), prop::collection::vec(line.clone(), 0..6))
        .prop_map(|((kind, label), lines)| format!("{kind}  {label}  \"{label}\"{{\n{}}}\n", lines.concat()));
    let object = prop::collection::vec(("[a-z]{1,9}", expression()), 0..4).prop_map(|items| {
        let items: Vec<_> = items.iter().map(|(name, value)| format!("{name}= {value} # x\n")).collect();
        format!("object={{\n{}  }}\n", items.concat())
    });
    prop::collection::vec(prop_oneof![line, block, object], 0..8).prop_map(|items| items.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_text_can_be_read(text in any::<String>()) {
        read_all(&text);
    }

    #[test]
    fn any_soup_can_be_read(text in soup()) {
        read_all(&text);
    }

    #[test]
    fn configurations_with_a_mistake_can_be_read(text in configuration(), at in any::<prop::sample::Index>(), soup in soup()) {
        let at = at.index(text.len() + 1);
        read_all(&format!("{}{soup}{}", &text[..at], &text[at..]));
    }

    #[test]
    fn fmt_settles_at_once_and_keeps_the_meaning(text in configuration()) {
        let (map, file) = source(&text);
        // Names may clash; that is a mistake, but not one that matters here.
        let Ok(once) = groma_syntax::fmt::format_file(&map, file) else { return Ok(()) };
        let (formatted, formatted_file) = source(&once);
        let twice = groma_syntax::fmt::format_file(&formatted, formatted_file).unwrap_or_default();
        prop_assert_eq!(&once, &twice);
        let before = shape(&groma_syntax::parse_native(&map, file).value);
        let after = shape(&groma_syntax::parse_native(&formatted, formatted_file).value);
        prop_assert_eq!(before, after);
    }
}

/// The property above would hold for nothing, if the configurations it makes did not parse.
#[test]
fn most_configurations_of_these_tests_parse() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let parses = |runner: &mut TestRunner| {
        let text = configuration().new_tree(runner).map(|tree| tree.current()).unwrap_or_default();
        let (map, file) = source(&text);
        !groma_syntax::parse_native(&map, file).diagnostics.has_errors()
    };
    let good = (0..100).filter(|_| parses(&mut runner)).count();
    assert!(good > 50, "{good}");
}
