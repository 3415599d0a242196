//! Paths as text, by Unix rules: what parts they have, joining them, taking detours out. Nothing here looks at files.

/// The shortest path that leads to the same place: no `.`, no doubled slashes, `..` only at the beginning.
pub(super) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            _ => parts.push(part),
        }
    }
    match (rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".into(),
        (false, false) => parts.join("/"),
    }
}

/// One path after the other. Empty ones do not count.
pub(super) fn join(first: &str, second: &str) -> String {
    match (first, second) {
        ("", "") => String::new(),
        ("", path) | (path, "") => clean(path),
        _ => clean(&format!("{first}/{second}")),
    }
}

/// A path from some directory, if it is not absolute.
pub(super) fn join_unless_absolute(directory: &str, path: &str) -> String {
    if path.starts_with('/') { clean(path) } else { join(directory, path) }
}

/// The last part.
pub(super) fn base(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/" } else { trimmed.rsplit('/').next().unwrap_or(trimmed) }
}

/// All but the last part.
pub(super) fn dir(path: &str) -> String {
    clean(path.rfind('/').map_or("", |at| &path[..=at]))
}

/// How to get from a directory to a place; both absolute or both relative to the same directory.
pub(super) fn relative(from: &str, to: &str) -> String {
    let parts = |path: &str| -> Vec<String> {
        clean(path).split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect()
    };
    let (from, to) = (parts(from), parts(to));
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", from.len() - common);
    let steps: Vec<&str> = up.chain(to[common..].iter().map(String::as_str)).collect();
    if steps.is_empty() { ".".into() } else { steps.join("/") }
}
