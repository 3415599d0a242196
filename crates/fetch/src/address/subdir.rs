//! The `//dir` part of addresses, and the arithmetic of slash-separated paths.

/// Splits an address at the `//` that is neither the scheme's nor inside the parameters. Parameters stay with the
/// package.
pub fn split_subdir(address: &str) -> (String, Option<&str>) {
    let stop = address.find('?').unwrap_or(address.len());
    let (path, query) = address.split_at(stop);
    let offset = path.find("://").map_or(0, |at| at + 3);
    match path[offset..].find("//") {
        None => (address.to_owned(), None),
        Some(at) => {
            let (package, subdir) = (&path[..offset + at], &path[offset + at + 2..]);
            (format!("{package}{query}"), Some(subdir).filter(|subdir| !subdir.is_empty()))
        }
    }
}

/// The shortest path with the same meaning, by text alone: no `.`, no empty parts, `..` only in front.
pub fn clean_path(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// One path below another, cleaned.
pub fn join_paths(outer: &str, inner: &str) -> String {
    if outer.is_empty() { clean_path(inner) } else { clean_path(&format!("{outer}/{inner}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_behind_the_second_pair_of_slashes() {
        let split = |text: &'static str| split_subdir(text);
        assert_eq!(split("dom.com/path/?q=p"), ("dom.com/path/?q=p".into(), None));
        assert_eq!(split("proto://dom.com/path//*?q=p"), ("proto://dom.com/path?q=p".into(), Some("*")));
        assert_eq!(split("proto://dom.com/path//path2?q=p//x"), ("proto://dom.com/path?q=p//x".into(), Some("path2")));
        assert_eq!(split("proto://dom.com/path?u=http://x//y"), ("proto://dom.com/path?u=http://x//y".into(), None));
        assert_eq!(split("proto://dom.com//"), ("proto://dom.com".into(), None));
        assert_eq!(split("a//b//c"), ("a".into(), Some("b//c")));
    }

    #[test]
    fn paths_are_cleaned() {
        for (given, expected) in [
            ("", "."),
            (".", "."),
            ("a/", "a"),
            ("a//b", "a/b"),
            ("./a/./b", "a/b"),
            ("a/../b", "b"),
            ("a/..", "."),
            ("../a", "../a"),
            ("a/../../b", "../b"),
            ("/../a", "/a"),
            ("/", "/"),
            ("../..", "../.."),
        ] {
            assert_eq!(clean_path(given), expected, "{given}");
        }
    }
}
