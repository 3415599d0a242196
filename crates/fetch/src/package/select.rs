//! The directory of a package that an address selects. It can be a pattern, for those who do not know what the one
//! directory in an archive is called.

use std::path::{Path, PathBuf};

use super::error::PackageError;

/// The directory that `subdir` selects inside `root`. A pattern (`*`, `?`, `[a-z]`) must match exactly one thing. Links
/// may lead to other directories of the package, not outside.
pub fn select_subdir(root: &Path, subdir: &str) -> Result<PathBuf, PackageError> {
    let refuse = |reason: &'static str| PackageError::Subdir { subdir: subdir.to_owned(), reason };
    let parts: Vec<&str> = subdir.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err(refuse("leads outside of the module package"));
    }
    let mut found = vec![root.to_owned()];
    for part in parts {
        let mut next = Vec::new();
        for directory in &found {
            step(directory, part, &mut next);
        }
        found = next;
    }
    let one = match found.as_slice() {
        [] => return Err(refuse("not found")),
        [one] => one.clone(),
        _ => return Err(refuse("matches multiple paths")),
    };
    let inside = match (root.canonicalize(), one.canonicalize()) {
        (Ok(root), Ok(one)) => one.starts_with(root),
        _ => false,
    };
    match one.metadata() {
        _ if !inside => Err(refuse("leads outside of the module package")),
        Ok(metadata) if metadata.is_dir() => Ok(one),
        _ => Err(refuse("is not a directory")),
    }
}

/// One part of the path, below one directory.
fn step(directory: &Path, part: &str, next: &mut Vec<PathBuf>) {
    if !part.contains(['*', '?', '[', '\\']) {
        let path = directory.join(part);
        if path.symlink_metadata().is_ok() {
            next.push(path);
        }
        return;
    }
    let pattern: Vec<char> = part.chars().collect();
    let names = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    let matching = names.into_iter().filter(|name| matches(&pattern, &name.chars().collect::<Vec<_>>()));
    next.extend(matching.map(|name| directory.join(name)));
}

/// Whether a name matches a pattern in the manner of shells. Takes time in proportion to both lengths at worst.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where to go on when a star has to take one more character.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p + 1, n));
            p += 1;
        } else if let Some(length) = one(&pattern[p.min(pattern.len())..], name[n]) {
            p += length;
            n += 1;
        } else if let Some((after, taken)) = star {
            (p, n) = (after, taken + 1);
            star = Some((after, taken + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// How much of the pattern stands for this one character, if it does.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern {
        [] => None,
        ['?', ..] => Some(1),
        ['\\', literal, ..] => (*literal == c).then_some(2),
        ['[', class @ ..] => {
            let end = class.iter().skip(1).position(|c| *c == ']')? + 1;
            let (negated, members) = match &class[..end] {
                ['^', rest @ ..] => (true, rest),
                members => (false, members),
            };
            (in_class(members, c) != negated).then_some(end + 2)
        }
        [literal, ..] => (*literal == c).then_some(1),
    }
}

fn in_class(members: &[char], c: char) -> bool {
    let mut rest = members;
    loop {
        match rest {
            [] => return false,
            [low, '-', high, tail @ ..] => {
                if (*low..=*high).contains(&c) {
                    return true;
                }
                rest = tail;
            }
            [member, tail @ ..] => {
                if *member == c {
                    return true;
                }
                rest = tail;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(pattern: &str, name: &str) -> bool {
        matches(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>())
    }

    #[test]
    fn patterns_match_as_in_shells() {
        for (pattern, name) in
            [("*", ""), ("*", "abc"), ("a*c", "abbc"), ("a?c", "abc"), ("[a-c]x", "bx"), ("[^a]x", "bx"), ("\\*", "*")]
        {
            assert!(is(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("a*c", "abd"), ("?", ""), ("[a-c]", "d"), ("[^a]", "a"), ("[", "["), ("a", "ab"), ("\\", "a")]
        {
            assert!(!is(pattern, name), "{pattern} {name}");
        }
        // This would take for ever if every star tried everything.
        assert!(!is(&format!("{}c", "a*".repeat(50)), &format!("{}b", "a".repeat(200))));
    }

    #[test]
    fn exactly_one_directory_is_selected() {
        let root = tempfile::tempdir().unwrap();
        for path in ["repo-1.0/modules/a", "repo-1.0/modules/b"] {
            std::fs::create_dir_all(root.path().join(path)).unwrap();
        }
        std::fs::write(root.path().join("repo-1.0/file"), "").unwrap();
        let selected = |subdir: &str| {
            let path = select_subdir(root.path(), subdir).map_err(|error| error.to_string())?;
            Ok::<_, String>(path.strip_prefix(root.path()).unwrap().display().to_string())
        };
        assert_eq!(selected("*").unwrap(), "repo-1.0");
        assert_eq!(selected("repo-*/modules/a").unwrap(), "repo-1.0/modules/a");
        assert_eq!(selected(".").unwrap(), "");
        assert_eq!(selected("*/modules/*").unwrap_err(), "subdir \"*/modules/*\" matches multiple paths");
        assert_eq!(selected("nope").unwrap_err(), "subdir \"nope\" not found");
        assert!(selected("repo-1.0/file").unwrap_err().contains("is not a directory"));
        assert!(selected("../x").unwrap_err().contains("outside"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_package_selects_nothing() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("out")).unwrap();
        assert!(select_subdir(root.path(), "out").unwrap_err().to_string().contains("outside"));
        assert!(select_subdir(root.path(), "*").is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_pattern_is_judged_without_panicking(pattern in "[a*?\\[\\]^\\\\-]{0,12}", name in "[a-c\\[-]{0,12}") {
            let _ = is(&pattern, &name);
        }
    }
}
