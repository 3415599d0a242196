//! Texts encoded and decoded. Expected results are those of OpenTofu.

use groma_model::mark::Mark;
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value};

use super::super::support::testing::{call, string_of};
use super::functions;

fn run(name: &str, args: &[&str]) -> String {
    let args: Vec<Value> = args.iter().map(|text| Value::string(*text)).collect();
    match call(functions, name, &args) {
        Ok(value) if value.as_str().is_none() => format!("{value:?}"),
        other => string_of(other),
    }
}

#[test]
fn base64_comes_and_goes() {
    assert_eq!(run("base64encode", &["héllo"]), "aMOpbGxv");
    assert_eq!(run("base64decode", &["aMOp\r\nbGxv\n"]), "héllo");
    assert_eq!(run("base64decode", &["YQ"]), "error: failed to decode base64 data \"YQ\"");
    assert_eq!(run("base64decode", &["/w=="]), "error: the result of decoding the provided string is not valid UTF-8");
    let secret = Value::string("!").mark(Mark::Sensitive);
    let error = call(functions, "base64decode", &[secret]).unwrap_err();
    assert_eq!(error.message, "failed to decode base64 data (sensitive value)");
}

#[test]
fn gzip_comes_and_goes() {
    assert_eq!(
        run("base64gzip", &["hello world hello world"]),
        "H4sIAAAAAAAA/8pIzcnJVyjPL8pJUUBiAwAAAP//AQAA//87zuLqFwAAAA=="
    );
    assert_eq!(run("base64gunzip", &["H4sIAAAAAAAA/8pIzcnJBwAAAP//AQAA//+GphA2BQAAAA=="]), "hello");
    assert_eq!(run("base64gunzip", &[""]), "error: failed to gunzip bytestream: EOF");
    let text = "bm90IGd6aXAgYXQgYWxs";
    assert_eq!(run("base64gunzip", &[text]), "error: failed to gunzip bytestream: gzip: invalid header");
}

#[test]
fn urls_come_and_go() {
    assert_eq!(run("urlencode", &["a b&c=d/é+~-_."]), "a+b%26c%3Dd%2F%C3%A9%2B~-_.");
    assert_eq!(run("urldecode", &["a+b%26c%3Dd%2F%C3%A9%2B~"]), "a b&c=d/é+~");
    assert_eq!(run("urldecode", &["100%"]), "error: failed to decode URL '': invalid URL escape \"%\"");
}

#[test]
fn csv_is_read() {
    assert_eq!(
        run("csvdecode", &["b,a\r\n1,\"x\"\"y\n\"\n\n,3"]),
        "list[{\"a\": \"x\\\"y\\n\", \"b\": \"1\"}, {\"a\": \"3\", \"b\": \"\"}]"
    );
    let none = call(functions, "csvdecode", &["a,b".into()]).unwrap();
    assert_eq!(none.ty(), Type::list(Type::object([("a", Type::String), ("b", Type::String)])));
    let mistakes = [
        ("", "missing header line"),
        ("a,a", "duplicate column name \"a\""),
        ("a,b\n1", "CSV parse error on line 2: wrong number of fields"),
        ("a\nx\"y", "CSV parse error on line 2: bare \" in non-quoted-field"),
        ("a\n\"x\"y", "CSV parse error on line 2: extraneous or missing \" in quoted-field"),
        ("a\n\"x\n\n", "CSV parse error on line 3: extraneous or missing \" in quoted-field"),
    ];
    for (text, problem) in mistakes {
        assert_eq!(run("csvdecode", &[text]), format!("error: {problem}"), "{text}");
    }
}

#[test]
fn json_of_unknown_values_has_a_beginning() {
    let encode = |value: Value| call(functions, "jsonencode", &[value]).unwrap();
    let beginning = |text: &str| Value::unknown_refined(Type::String, Refinement::prefix(text));
    assert_eq!(encode(Value::tuple(vec![Value::unknown(Type::String)])), beginning("["));
    assert_eq!(encode(Value::unknown_refined(Type::String, Refinement::not_null())), beginning("\""));
    assert_eq!(encode(Value::unknown(Type::String)), beginning(""));
    assert_eq!(encode(Value::object([("a", "<&>".into())])), "{\"a\":\"\\u003c\\u0026\\u003e\"}".into());
}

#[test]
fn json_mistakes_are_named() {
    let mistakes = [
        ("", "EOF"),
        ("[1,2", "EOF"),
        ("nul", "unexpected EOF"),
        ("\"a", "unexpected EOF"),
        ("1 2", "extraneous data after JSON object"),
        ("{a:1}", "invalid character 'a'"),
        ("nulx", "invalid character 'x' in literal null (expecting 'l')"),
    ];
    for (text, problem) in mistakes {
        assert_eq!(run("jsondecode", &[text]), format!("error: {problem}"), "{text}");
    }
    assert_eq!(run("jsondecode", &["1]"]), "1");
    let unknown = Value::unknown_refined(Type::String, Refinement::prefix("https://"));
    let error = call(functions, "jsondecode", &[unknown]).unwrap_err();
    assert_eq!(error.message, "a JSON document cannot begin with the character 'h'");
}

#[test]
fn character_sets_are_known_by_many_names() {
    let cases = [
        ("Hello", "UTF-16LE", "SABlAGwAbABvAA=="),
        ("Hello", "utf-16", "/v8ASABlAGwAbABv"),
        ("é", "latin1", "6Q=="),
        ("Ğş", "ISO-8859-9", "0P4="),
        ("é€", "CP00858", "gtU="),
        ("Hello", "ebcdic-cp-us", "yIWTk5Y="),
        ("日本", "Shift_JIS", "k/qWew=="),
        ("привет", "KOI8-R", "0NLJ18XU"),
        ("a中~文b", "HZ-GB-2312", "YX57VlB+fk5Efn1i"),
    ];
    for (text, charset, expected) in cases {
        assert_eq!(run("textencodebase64", &[text, charset]), expected, "{charset}");
        assert_eq!(run("textdecodebase64", &[expected, charset]), text, "{charset}");
    }
    let mistakes = [
        (
            "textencodebase64",
            "€",
            "latin1",
            "the given string contains characters that cannot be represented in ISO_8859-1:1987",
        ),
        (
            "textdecodebase64",
            "gQ==",
            "windows-1252",
            "the given string contains symbols that are not defined for windows-1252",
        ),
        ("textdecodebase64", "YQ=", "UTF-8", "the given value is has an invalid base64 symbol at offset 3"),
        (
            "textencodebase64",
            "x",
            "nope",
            "\"nope\" is not a supported IANA encoding name or alias in this OpenTofu version",
        ),
    ];
    for (name, text, charset, problem) in mistakes {
        assert_eq!(run(name, &[text, charset]), format!("error: {problem}"));
    }
}

#[test]
fn yaml_is_written_in_blocks() {
    let encode = |value: Value| string_of(call(functions, "yamlencode", &[value]));
    let value = Value::object([
        ("a", Value::tuple(vec![1.into(), Value::object([("b", Value::null(Type::String)), ("c", true.into())])])),
        ("d", "two\nlines".into()),
        ("e", Value::tuple(vec![])),
        ("f", Value::empty_object()),
    ]);
    assert_eq!(
        encode(value),
        "\"a\":\n- 1\n- \"b\": null\n  \"c\": true\n\"d\": |-\n  two\n  lines\n\"e\": []\n\"f\": {}\n"
    );
    assert_eq!(encode(5.into()), "5\n...\n");
    assert_eq!(encode(" a\n\n".into()), "|2+\n   a\n\n");
    assert_eq!(encode("a \nb".into()), "\"a \\nb\"\n");
    assert_eq!(encode("é😀\t".into()), "\"é\\U0001F600\\t\"\n");
    let words = "word ".repeat(20);
    assert_eq!(encode(words.trim().into()), format!("\"{}\n  word word word\"\n", "word ".repeat(17).trim()));
    assert_eq!(encode(Value::object([("a\nb", 1.into())])), "? |-\n  a\n  b\n: 1\n");
}

#[test]
fn yaml_is_read() {
    let cases = [
        ("n: 1\n1.50: x", r#"{"1.5": "x", "false": 1}"#),
        ("[yes, No, ~, 0x1F, 0o17, 017, .5, 1_000]", r#"[true, false, null:any, 31, 15, 17, 0.5, "1_000"]"#),
        ("[2020-1-2, 2001-12-14t21:59:43.10-05:00]", r#"["2020-01-02T00:00:00Z", "2001-12-14T21:59:43-05:00"]"#),
        ("a: &x {k: 1}\nb: {k: 2, <<: *x}", r#"{"a": {"k": 1}, "b": {"k": 1}}"#),
        ("|-\n  yes", "true"),
        ("['1', \"yes\", !!str 2]", r#"["1", "yes", "2"]"#),
        ("---", "null:any"),
        ("a: |\n  x", r#"{"a": "x"}"#),
        ("a: \"x\"# comment\nb: 1", r#"{"a": "x", "b": 1}"#),
    ];
    for (text, expected) in cases {
        assert_eq!(run("yamldecode", &[text]), expected, "{text}");
    }
    let mistakes = [
        ("", "on line 1, column 1: missing start of document"),
        ("a: *x", "reference to undefined anchor \"x\""),
        ("a: &x [*x]", "cannot refer to anchor \"x\" from inside its own definition"),
        ("x: 1\n<<: 5", "on line 1, column 1: cannot merge number into mapping"),
        ("!foo bar", "unsupported tag \"!foo\""),
        ("? [a]\n: b", "only strings are allowed as mapping keys"),
        (".nan", "floating point NaN is not supported"),
        ("a\n---\nb", "on line 1, column 1: unexpected extra content after value"),
        ("\ta: 1", "found character that cannot start any token"),
        ("a: 1\n\t\nb: 2", "on line 2, column 1: found character that cannot start any token"),
        ("...\na", "did not find expected node content"),
        ("%YAML 1.2\n---\na", "found incompatible YAML document"),
    ];
    for (text, problem) in mistakes {
        assert_eq!(run("yamldecode", &[text]), format!("error: {problem}"), "{text}");
    }
}

#[test]
fn yaml_bombs_are_refused() {
    let mut bomb = vec!["a0: &a0 [x,x,x,x,x,x,x,x,x,x]".to_owned()];
    for level in 1..12 {
        let before = level - 1;
        let aliases = vec![format!("*a{before}"); 10].join(",");
        bomb.push(format!("a{level}: &a{level} [{aliases}]"));
    }
    assert!(run("yamldecode", &[&bomb.join("\n")]).contains("aliases stand for too much"));
    assert!(run("yamldecode", &[&"[".repeat(100_000)]).starts_with("error: "));
    assert!(run("yamldecode", &[&"- ".repeat(100_000)]).starts_with("error: "));
    assert!(run("jsondecode", &[&"[".repeat(1_000_000)]).starts_with("error: "));
}
