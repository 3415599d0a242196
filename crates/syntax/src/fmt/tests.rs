//! Tests of `fmt`. What is expected here is what `tofu fmt` gives.

use groma_model::span::SourceMap;

use super::{format, format_file};

#[track_caller]
fn check(text: &str, expected: &str) {
    let mut map = SourceMap::new();
    let file = map.add("main.tf", text);
    let formatted = format_file(&map, file).map_err(|diagnostics| format!("{diagnostics:?}"));
    assert_eq!(formatted.as_deref(), Ok(expected));
}

#[test]
fn equals_signs_of_neighbouring_lines_are_aligned() {
    check("a=1\nbcd   =  2\n\ne = 3\n", "a   = 1\nbcd = 2\n\ne = 3\n");
    check("a=[\n1\n]\nbc=2\n", "a = [\n  1\n]\nbc = 2\n");
}

#[test]
fn comments_behind_code_are_aligned() {
    check("a = 1 # x\nbcd = 2    // y\n# z\n", "a   = 1 # x\nbcd = 2 // y\n# z\n");
}

#[test]
fn blocks_are_indented_by_two() {
    check("a \"b\" {\nc {\n\td=1\n}\n}\n", "a \"b\" {\n  c {\n    d = 1\n  }\n}\n");
    check("a { }\nb {c=1}\n", "a {}\nb { c = 1 }\n");
}

#[test]
fn several_brackets_of_one_line_indent_once() {
    check("a = f([{\nb = 1\n}])\n", "a = f([{\n  b = 1\n}])\n");
}

#[test]
fn operators_and_signs() {
    check("a = -1+-b - -2*(-c)\n", "a = -1 + -b - -2 * (-c)\n");
    check("a = ! b&&c? d :e\n", "a = !b && c ? d : e\n");
    check("a = f( x,y ... )\n", "a = f(x, y...)\n");
    check("a = core :: f ( x )\n", "a = core::f(x)\n");
    check("a = b . c [ 0 ] . d[ * ]\n", "a = b.c[0].d[*]\n");
    check("a = [for x in [1]:x]\n", "a = [for x in [1] : x]\n");
    check("a = {b=1,c=2}\n", "a = { b = 1, c = 2 }\n");
}

#[test]
fn templates_keep_their_text() {
    check("a = \"  b ${ c }  ${d}\"\n", "a = \"  b ${c}  ${d}\"\n");
    check("a = <<-E\n    b ${ c }\n  E\n", "a = <<-E\n    b ${c}\n  E\n");
    check("a = \"${{}}x\"\n", "a = \"${ {} }x\"\n");
}

#[test]
fn a_lone_interpolation_is_unwrapped() {
    check("a = \"${b}\"\n", "a = b\n");
    check("a = \"${b}${c}\"\n", "a = \"${b}${c}\"\n");
    check("a = \"${f(\"${b}\")}\"\n", "a = f(\"${b}\")\n");
    check("a = \"${\n  b ?\n  c : d\n}\"\n", "a = (b ?\nc : d)\n");
    check("a = [\"${b}\"]\n", "a = [\"${b}\"]\n");
}

#[test]
fn labels_are_quoted_and_undisturbed() {
    check("a b  \"c\"{}\n", "a \"b\" \"c\" {}\n");
    check("a /* x */ b /* y */ c /* z */ {}\n", "a \"b\" \"c\" /* z */ {}\n");
}

#[test]
fn old_types_of_variables() {
    check("variable \"a\" {\n  type = \"string\"\n}\n", "variable \"a\" {\n  type = string\n}\n");
    check("variable \"a\" {\n  type = \"list\"\n}\n", "variable \"a\" {\n  type = list(string)\n}\n");
    check("variable \"a\" {\n  type = map\n}\n", "variable \"a\" {\n  type = map(any)\n}\n");
    check("output \"a\" {\n  type = \"list\"\n}\n", "output \"a\" {\n  type = \"list\"\n}\n");
}

#[test]
fn line_endings_and_the_end_of_the_file_are_kept() {
    check("a=1\r\nb = 2\r\n", "a = 1\r\nb = 2\r\n");
    check("a=1   ", "a = 1   ");
    check("\u{feff}a=1\n", "a = 1\n");
    check("", "");
}

#[test]
fn columns_are_counted_in_grapheme_clusters() {
    check("a = \"e\u{301}\" # x\nb = \"xyz\" # y\n", "a = \"e\u{301}\"   # x\nb = \"xyz\" # y\n");
}

#[test]
fn a_file_that_does_not_parse_is_refused() {
    let mut map = SourceMap::new();
    let file = map.add("main.tf", "a = \n");
    assert!(format_file(&map, file).is_err());
    assert_eq!(format("a=[\n"), "a = [\n");
}
