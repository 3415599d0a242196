//! Patterns of file names, with files of our own.

use super::*;

fn fits(pattern: &str, name: &str) -> bool {
    matches(&pattern.chars().collect::<Vec<_>>(), name)
}

#[test]
fn names_fit_patterns() {
    for (pattern, name) in [
        ("*", ".hidden"),
        ("*.yaml", "a.yaml"),
        ("a*b*c", "aXbYbZc"),
        ("?x", "üx"),
        ("[a-c]1", "b1"),
        ("[!a]", "b"),
        ("[]a]", "]"),
        (r"\*", "*"),
        ("a**b", "axxb"),
        ("[a-]", "-"),
        ("", ""),
        (r"[\]]", "]"),
    ] {
        assert!(fits(pattern, name), "{pattern} {name}");
    }
    for (pattern, name) in
        [("*.yaml", "a.yml"), ("?", ""), ("[a-c]", "d"), ("[^a]", "a"), (r"\*", "x"), ("a*b", "abc"), ("a", "")]
    {
        assert!(!fits(pattern, name), "{pattern} {name}");
    }
}

#[test]
fn many_stars_are_quick() {
    assert!(!fits(&"*a".repeat(200), &"a".repeat(199)));
}

#[test]
fn braces_stand_for_each_of_their_parts() {
    let all = |pattern: &str| {
        let found = alternatives(&pattern.chars().collect::<Vec<_>>()).unwrap();
        let mut found: Vec<String> = found.into_iter().map(String::from_iter).collect();
        found.sort();
        found
    };
    assert_eq!(all("a{b,c{d,e}}f"), ["abf", "acdf", "acef"]);
    assert_eq!(all("{a,}x"), ["ax", "x"]);
    assert_eq!(all(r"\{a,b}"), [r"\{a,b}"]);
    assert!(alternatives(&"{a,b}".repeat(20).chars().collect::<Vec<_>>()).is_err());
}

fn found(pattern: &str) -> Result<Vec<String>, String> {
    let directory = tempfile::tempdir().unwrap();
    for file in ["a.yaml", "b.yml", "sub/c.yaml", "sub/deep/d.yaml", "sub/deep/.e.yaml", "other/f.yaml"] {
        let path = directory.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    let files = files(directory.path(), pattern, None).map_err(|error| error.to_string())?;
    Ok(files.iter().map(|file| file.display().to_string()).collect())
}

#[test]
fn files_are_found_in_order() {
    let check = |pattern: &str, expected: &[&str]| assert_eq!(found(pattern).unwrap(), expected, "{pattern}");
    check("*.yaml", &["a.yaml"]);
    check("*.{yaml,yml}", &["a.yaml", "b.yml"]);
    check("**/*.yaml", &["a.yaml", "other/f.yaml", "sub/c.yaml", "sub/deep/.e.yaml", "sub/deep/d.yaml"]);
    check("sub/**", &["sub/c.yaml", "sub/deep/.e.yaml", "sub/deep/d.yaml"]);
    check("sub/**/d.yaml", &["sub/deep/d.yaml"]);
    check("**/deep/*", &["sub/deep/.e.yaml", "sub/deep/d.yaml"]);
    check("./a.yaml", &["./a.yaml"]);
    check("{sub,other}/*", &["other/f.yaml", "sub/c.yaml"]);
    check("sub", &[]);
    check("none/*", &[]);
}

#[test]
fn patterns_that_are_not_finished_are_refused() {
    for pattern in ["", "[a", "{a", "a\\", "*/[", "[]"] {
        assert!(found(pattern).is_err(), "{pattern}");
    }
}

#[cfg(unix)]
#[test]
fn links_in_circles_do_no_harm() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.yaml"), "").unwrap();
    std::os::unix::fs::symlink(directory.path(), directory.path().join("loop")).unwrap();
    assert_eq!(files(directory.path(), "**/*.yaml", None).unwrap(), [PathBuf::from("a.yaml")]);
}
