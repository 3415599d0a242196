//! Tests of the native parser: what is reported where, and what trees look like in places with special rules.
//!
//! The expected diagnostics are those of the Go implementation, except where a test says otherwise.

use groma_model::span::SourceMap;

use crate::ast::{Expr, ExprKind, TemplatePart};
use crate::body::Body;
use crate::{MAX_HEIGHT, MAX_NESTING, Parsed, parse_expr, parse_native, parse_template, parse_traversal};

fn with_file<T>(text: &str, parse: impl Fn(&SourceMap, groma_model::span::FileId) -> T) -> (T, SourceMap) {
    let mut map = SourceMap::new();
    let file = map.add("main.tf", text);
    (parse(&map, file), map)
}

fn body(text: &str) -> Parsed<Body> {
    with_file(text, parse_native).0
}

fn expr(text: &str) -> Parsed<Expr> {
    with_file(text, parse_expr).0
}

/// Line and summary of everything that is reported.
fn reported(text: &str) -> Vec<(u32, String)> {
    let (parsed, map) = with_file(text, parse_native);
    let row = |diagnostic: &groma_model::diag::Diagnostic| {
        let line = diagnostic.subject.map_or(0, |span| map.start(span).line);
        (line, diagnostic.summary.clone())
    };
    parsed.diagnostics.iter().map(row).collect()
}

#[track_caller]
fn check(text: &str, expected: &[(u32, &str)]) {
    let found = reported(text);
    let found: Vec<_> = found.iter().map(|(line, summary)| (*line, summary.as_str())).collect();
    assert_eq!(found, expected, "in {text:?}");
}

/// The text that an expression without interpolations stands for.
#[track_caller]
fn text_of(source: &str) -> String {
    let parsed = expr(source);
    assert!(parsed.diagnostics.is_empty(), "{source:?}: {:?}", parsed.diagnostics);
    parsed.value.as_constant_str().map(|text| text.to_string()).unwrap_or_default()
}

/// The literals of a template, with `…` for everything else.
#[track_caller]
fn literals(source: &str) -> String {
    let parsed = expr(source);
    assert!(parsed.diagnostics.is_empty(), "{source:?}: {:?}", parsed.diagnostics);
    let ExprKind::Template(template) = parsed.value.kind else { return String::new() };
    let part = |part: &TemplatePart| match part {
        TemplatePart::Literal { text, .. } => text.to_string(),
        _ => "…".to_owned(),
    };
    template.parts.iter().map(part).collect()
}

#[test]
fn arguments_and_blocks() {
    check("a = 1\nb {\n  c = 2\n}\nd \"e\" f { g = 3 }\n", &[]);
    check("a = 1 b = 2\n", &[(1, "Missing newline after argument")]);
    check("a = 1,\nb = 2\n", &[(1, "Unexpected comma after argument")]);
    check("a {} b = 1\n", &[(1, "Missing newline after block definition")]);
    check("a = 1\na = 2\n", &[(2, "Attribute redefined")]);
    check("a\n", &[(1, "Argument or block definition required")]);
    check("= 1\n", &[(1, "Argument or block definition required")]);
    check("\"a\" = 1\n", &[(1, "Invalid argument name")]);
    check("a \"b\" = 1\n", &[(1, "Invalid block definition")]);
    check("a \"b\"\n{\n}\n", &[(1, "Invalid block definition")]);
    check("a {\n  b = 1\n", &[(1, "Unclosed configuration block")]);
    check("a { b = 1, c = 2 }\n", &[(1, "Invalid single-argument block definition")]);
    check("a { b = 1\n}\n", &[(1, "Invalid single-argument block definition")]);
    check("a { b {} }\n", &[(1, "Argument definition required")]);
    check("a \"${b}\" {}\n", &[(1, "Invalid string literal")]);
}

#[test]
fn expressions() {
    check("a = \n", &[(1, "Invalid expression")]);
    check("a = (1\n", &[(2, "Unbalanced parentheses")]);
    check("a = [1 2]\n", &[(1, "Missing item separator")]);
    check("a = [1,\n", &[(2, "Missing expression")]);
    check("a = { b 1 }\n", &[(1, "Missing key/value separator")]);
    check("a = { b = 1 c = 2 }\n", &[(1, "Missing attribute separator")]);
    check("a = { b }\n", &[(1, "Missing key/value separator")]);
    check("a = { b, c }\n", &[(1, "Missing attribute value")]);
    check("a = f(1 2)\n", &[(1, "Missing argument separator")]);
    check("a = f(b... c)\n", &[(1, "Missing closing parenthesis")]);
    check("a = f(1\n", &[(1, "Unterminated function call")]);
    check("a = b ? c\n", &[(1, "Missing false expression in conditional")]);
    check("a = b.\n", &[(1, "Invalid attribute name")]);
    check("a = b.0.1\n", &[(1, "Invalid legacy index syntax")]);
    check("a = b.*.c.*\n", &[(1, "Nested splat expression not allowed")]);
    check("a = b[1 2]\n", &[(1, "Missing close bracket on index")]);
    check("a = b::1\n", &[(1, "Missing function name")]);
    check("a = b::c\n", &[(1, "Missing open parenthesis")]);
    check("a = 1..2\n", &[(1, "Invalid number literal")]);
    check("a = [for]\n", &[(1, "Invalid 'for' expression")]);
    check("a = [for x y]\n", &[(1, "Invalid 'for' expression")]);
    check("a = [for x in y: x => x]\n", &[(1, "Invalid 'for' expression")]);
    check("a = {for x in y: x}\n", &[(1, "Invalid 'for' expression")]);
}

#[test]
fn templates() {
    check("a = \"b\n\"\n", &[(1, "Invalid multi-line string"), (1, "Unterminated template string")]);
    check(
        "a = \"${b\"
",
        &[(1, "Invalid multi-line string"), (1, "Unclosed template interpolation sequence")],
    );
    check("a = \"${b c}\"\n", &[(1, "Extra characters after interpolation expression")]);
    check("a = \"%{if b}\"\n", &[(1, "Unexpected end of template")]);
    check("a = \"%{endif}\"\n", &[(1, "Unexpected endif directive")]);
    check(
        "a = \"%{if b}%{else}%{else}%{endif}\"\n",
        &[(1, "Unexpected else directive"), (1, "Unexpected endif directive")],
    );
    check("a = \"%{fro b}\"\n", &[(1, "Invalid template control keyword")]);
    check("a = \"%{for x}\"\n", &[(1, "Invalid 'for' directive")]);
    check("a = \"\\x\"\n", &[(1, "Invalid escape sequence")]);
    check("a = \"\\u12\"\n", &[(1, "Invalid escape sequence")]);
    check("a = <<E\nb\n", &[(3, "Unterminated template string")]);
}

#[test]
fn characters_that_have_no_place() {
    check("a = 'b'\n", &[(1, "Invalid character"), (1, "Invalid expression")]);
    check("a = `b`\n", &[(1, "Invalid character"), (1, "Invalid expression")]);
    check("a = 1;\n", &[(1, "Invalid character"), (1, "Missing newline after argument")]);
    check("a = 1 & 2\n", &[(1, "Unsupported operator"), (1, "Missing newline after argument")]);
    check("a = \u{201c}b\u{201d}\n", &[(1, "Invalid character"), (1, "Invalid character"), (1, "Invalid expression")]);
    check("a = @\n", &[(1, "Invalid character"), (1, "Invalid expression")]);
}

/// The Go implementation falls silent after the first of these; we do not.
#[test]
fn five_mistakes_are_five_reports() {
    check(
        "a = *\nb = ]\nc {\n  d = )\n  e = 1 2\n}\nf\n",
        &[
            (1, "Invalid expression"),
            (2, "Invalid expression"),
            (4, "Invalid expression"),
            (5, "Missing newline after argument"),
            (7, "Argument or block definition required"),
        ],
    );
}

#[test]
fn mistakes_behind_a_stray_token_are_found() {
    check(
        "a = 1\n]\nb = *\nc {\n  d = *\n}\n",
        &[(2, "Argument or block definition required"), (3, "Invalid expression"), (5, "Invalid expression")],
    );
}

#[test]
fn what_was_read_before_and_behind_a_mistake_is_kept() {
    let parsed = body("a = 1\nb = *\nc = 3\n");
    let (attributes, _) = parsed.value.native_items().unwrap();
    let names: Vec<_> = attributes.iter().map(|attribute| attribute.name.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(matches!(attributes[1].expr.kind, ExprKind::Invalid));
}

#[test]
fn escapes() {
    assert_eq!(text_of(r#""a\n\t\"\\\u00e9\U0001f600$${b}%%{c}$d""#), "a\n\t\"\\é😀${b}%{c}$d");
    assert_eq!(text_of("\"e\u{301}\""), "\u{e9}");
    assert_eq!(text_of("\"\""), "");
}

#[test]
fn heredocs_lose_the_indentation_that_all_lines_share() {
    assert_eq!(text_of("<<E\n  a\n   b\nE\n"), "  a\n   b\n");
    assert_eq!(text_of("<<-E\n  a\n   b\n  E\n"), "a\n b\n");
    assert_eq!(text_of("<<-E\n    a\n\n  b\nE\n"), "  a\n\nb\n");
    assert_eq!(literals("<<-E\n  a ${b}\n    c\nE\n"), "a …\n  c\n");
    assert_eq!(literals("<<-E\na:\n  b ${c}\nE\n"), "a:\n  b …\n");
    assert_eq!(literals("<<-E\n  ${a}\n    b\nE\n"), "…\n  b\n");
    assert_eq!(literals("<<-E\n${a}\n    b\nE\n"), "…\n    b\n");
}

#[test]
fn strip_markers_take_spaces_of_one_line_only() {
    assert_eq!(literals("\"a  ${~ b ~}  c\""), "a…c");
    assert_eq!(literals("<<E\nx ${~ a ~}\n  y\nE\n"), "x…  y\n");
}

#[test]
fn newlines_mean_nothing_in_brackets() {
    check("a = (\n1\n+\n2\n)\nb = f(\n1,\n2,\n)\nc = x[\n0\n]\n", &[]);
    check("a = {\n  for k in x :\n  k =>\n  k ? 1 :\n  2\n}\n", &[]);
    check("a = b\n  ? c : d\n", &[(2, "Argument or block definition required")]);
}

#[test]
fn operators_bind_as_they_should() {
    let shape = |text: &str| -> String {
        fn walk(expr: &Expr) -> String {
            match &expr.kind {
                ExprKind::Binary(b) => format!("({} {:?} {})", walk(&b.left), b.op, walk(&b.right)),
                ExprKind::Unary(u) => format!("({:?} {})", u.op, walk(&u.operand)),
                ExprKind::Traversal(t) => format!("{}{}", t.root.name, ".".repeat(t.steps.len())),
                _ => "?".to_owned(),
            }
        }
        walk(&expr(text).value)
    };
    assert_eq!(shape("a + b * c - d"), "((a Add (b Multiply c)) Subtract d)");
    assert_eq!(shape("a || b && c == d < e"), "(a Or (b And (c Equal (d Less e))))");
    assert_eq!(shape("-a.b + !c"), "((Negate a.) Add (Not c))");
}

#[test]
fn a_constant_index_is_a_step() {
    let steps = |text: &str| match expr(text).value.kind {
        ExprKind::Traversal(traversal) => traversal.steps.len(),
        _ => 0,
    };
    assert_eq!(steps("a.b[0][\"c\"].1"), 4);
    assert_eq!(steps("a.b[c]"), 0);
}

#[test]
fn an_interpolation_alone_keeps_its_type() {
    assert!(matches!(expr("\"${a}\"").value.kind, ExprKind::TemplateWrap(_)));
    assert!(matches!(expr("\"${a}b\"").value.kind, ExprKind::Template(_)));
    assert!(matches!(with_file("${a}", parse_template).0.value.kind, ExprKind::TemplateWrap(_)));
}

#[test]
fn references() {
    let parsed = with_file("a.b[0][\"c\"]", parse_traversal).0;
    assert_eq!(parsed.value.map(|traversal| traversal.steps.len()), Some(3));
    for (text, summary) in [
        ("1", "Variable name required"),
        ("a.", "Attribute name required"),
        ("a[*]", "Attribute name required"),
        ("a[b]", "Index value required"),
        ("a[0", "Unclosed index brackets"),
        ("a b", "Invalid character"),
    ] {
        let parsed = with_file(text, parse_traversal).0;
        assert_eq!(parsed.diagnostics.iter().next().map(|d| d.summary.as_str()), Some(summary), "in {text:?}");
    }
}

#[test]
fn the_outline_names_top_level_blocks() {
    let (_, map) = with_file("a = 1\nb \"c\" d {\n  e {}\n}\n", parse_native);
    let file = map.files().next().map(|(_, file)| file.clone()).unwrap();
    assert_eq!(file.enclosing_block(3), None);
    assert_eq!(file.enclosing_block(18), Some("b \"c\" \"d\""));
}

#[test]
fn whatever_is_nested_too_deeply_is_refused() {
    let many = 100_000;
    let repeated = |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(many), close.repeat(many));
    for text in [
        repeated("(", "1", ")"),
        repeated("[", "", "]"),
        repeated("{a=", "1", "}"),
        repeated("f(", "", ")"),
        repeated("a[", "0", "]"),
        repeated("\"${", "1", "}\""),
        repeated("[for x in ", "y", ": x]"),
        repeated("a ? ", "b", " : c"),
        format!("1{}", " + 1".repeat(many)),
        format!("1{}", " ? 1 : 1".repeat(many)),
        format!("{}1", "!".repeat(many)),
        format!("a{}", "[b]".repeat(many)),
        format!("a{}", "[*]".repeat(many)),
        format!("a{}", ".*".repeat(many)),
        format!("\"{}\"", "%{if a}".repeat(many)),
        "<<E\n${".repeat(many),
    ] {
        let parsed = expr(&text);
        let start: String = text.chars().take(12).collect();
        assert!(parsed.diagnostics.has_errors(), "{start}");
        let reported = parsed.diagnostics.iter().any(|d| d.summary == "Too deeply nested");
        assert!(reported || text.starts_with("a.*"), "{start}: {:?}", parsed.diagnostics.iter().next());
    }
    let blocks = body(&format!("{}{}", "a {\n".repeat(many), "}\n".repeat(many)));
    assert!(blocks.diagnostics.iter().any(|d| d.summary == "Too deeply nested"));
}

#[test]
fn what_is_nested_just_deeply_enough_can_be_read_and_walked() {
    let deep = MAX_NESTING - 1;
    let high = MAX_HEIGHT - 2;
    for text in [
        format!("{}1{}", "(".repeat(deep), ")".repeat(deep)),
        format!("{}1{}", "\"${".repeat(deep), "}\"".repeat(deep)),
        format!("{}x{}", "[for x in ".repeat(deep), ": x]".repeat(deep)),
        format!("1{}", " + 1".repeat(high)),
        format!("a{}", "[b]".repeat(high)),
        format!("a{}", " ? 1 : a".repeat(high)),
    ] {
        let parsed = expr(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        let copy = parsed.value.clone();
        assert!(copy.references().len() <= 2 * high);
        drop((copy, parsed));
    }
}

#[test]
fn long_and_flat_files_take_linear_time() {
    let many = 50_000;
    for text in [
        (0..many).flat_map(|at| ["a".to_owned(), at.to_string(), " = 1\n".to_owned()]).collect::<String>(),
        "a {}\n".repeat(many),
        "}\n".repeat(many),
        "a = *\n".repeat(many),
        "a \"b\"\n".repeat(many),
        format!("a = [{}]\n", "1,".repeat(many)),
        format!("a = \"{}\"\n", "${b} c".repeat(many)),
        format!("a = {{\n{}}}\n", "b = 1\n".repeat(many)),
        format!("a = <<E\n{}E\n", "b $ c\n".repeat(many)),
        "# x\n".repeat(many),
        "a = \"b\n".repeat(many),
    ] {
        body(&text);
    }
}
