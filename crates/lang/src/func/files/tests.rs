//! Files in memory, found and read.

use std::path::PathBuf;

use groma_model::ty::Type;
use groma_model::value::Value;

use super::super::support::testing::{FakeEnvironment, call_in, string_of};
use super::functions;

fn environment() -> FakeEnvironment {
    let files = ["a.txt", ".hidden", "sub/b.txt", "sub/deep/c.tf", "[x].txt"];
    FakeEnvironment {
        files: files
            .iter()
            .map(|path| (PathBuf::from("/cwd/fx").join(path), b"hello\n".to_vec()))
            .chain([(PathBuf::from("/cwd/fx/bin"), vec![0xff]), (PathBuf::from("/home/user/h"), b"home".to_vec())])
            .collect(),
    }
}

fn run(name: &str, args: &[&str]) -> Result<Value, crate::func::FunctionError> {
    let args: Vec<Value> = args.iter().map(|text| Value::string(*text)).collect();
    call_in(&environment(), functions, name, &args)
}

#[test]
fn paths_are_taken_apart() {
    let cases = [
        ("basename", "foo/bar.txt", "bar.txt"),
        ("basename", "", "."),
        ("basename", "a/", "a"),
        ("basename", "//", "/"),
        ("dirname", "foo/bar.txt", "foo"),
        ("dirname", "a", "."),
        ("dirname", "/a", "/"),
        ("dirname", "a//b/", "a/b"),
        ("abspath", "a/../b", "/cwd/b"),
        ("abspath", "/x/./y//z/..", "/x/y"),
        ("pathexpand", "~/x/../y", "/home/user/y"),
        ("pathexpand", "a/~", "a/~"),
        ("pathexpand", "~foo", "error: cannot expand user-specific home dir"),
    ];
    for (name, path, expected) in cases {
        assert_eq!(string_of(run(name, &[path])), expected, "{name} {path}");
    }
}

#[test]
fn files_are_read() {
    assert_eq!(string_of(run("file", &["fx/../fx/a.txt"])), "hello\n");
    assert_eq!(string_of(run("file", &["~/h"])), "home");
    assert_eq!(string_of(run("filebase64", &["fx/bin"])), "/w==");
    assert_eq!(string_of(run("filemd5", &["fx/a.txt"])), "b1946ac92492d2347c6235b4d2611184");
    assert!(string_of(run("file", &["no"])).starts_with("error: no file exists at \"no\"; "));
    assert!(string_of(run("file", &["fx/bin"])).starts_with("error: contents of \"fx/bin\" are not valid UTF-8; "));
    assert_eq!(string_of(run("filesha1", &["no"])), "error: open no: no such file or directory");
    assert_eq!(run("fileexists", &["fx/a.txt"]), Ok(true.into()));
    assert_eq!(run("fileexists", &["no"]), Ok(false.into()));
    assert_eq!(string_of(run("fileexists", &["fx"])), "error: \"fx\" is a directory, not a file");
}

#[test]
fn files_are_found() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("fx", "*", &[".hidden", "[x].txt", "a.txt", "bin"]),
        ("fx", "**", &[".hidden", "[x].txt", "a.txt", "bin", "sub/b.txt", "sub/deep/c.tf"]),
        ("fx", "**/*.{txt,tf}", &["[x].txt", "a.txt", "sub/b.txt", "sub/deep/c.tf"]),
        ("fx", "{sub/b,a}.txt", &["sub/b.txt", "a.txt"]),
        ("fx", "[a-c].txt", &["a.txt"]),
        ("fx", "\\[x\\].txt", &["[x].txt"]),
        ("fx", "s*/**/c.??", &["sub/deep/c.tf"]),
        ("fx/sub", "../*.txt", &["../[x].txt", "../a.txt"]),
        ("/cwd/fx", "a.txt", &["a.txt"]),
        ("fx", "sub", &[]),
        ("no", "*", &[]),
    ];
    for (directory, pattern, expected) in cases {
        let expected = Value::set(Type::String, expected.iter().map(|path| Value::string(*path)).collect());
        assert_eq!(run("fileset", &[directory, pattern]), Ok(expected), "{directory} {pattern}");
    }
    assert_eq!(
        string_of(run("fileset", &["fx", "["])),
        "error: failed to glob pattern \"fx/[\": syntax error in pattern"
    );
    assert!(string_of(run("fileset", &["fx", &"{a,b}".repeat(40)])).starts_with("error: "));
}
