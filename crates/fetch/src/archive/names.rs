//! Which names of things inside archives are acceptable. The rules are those of all systems at once, so that an archive
//! is good or bad everywhere.

use super::error::ArchiveError;

const MAX_PATH: usize = 1024;
const MAX_PART: usize = 255;

/// The name in normal form: no `.`, no double or trailing slash. Nothing for the root itself.
pub(super) fn checked(raw: &[u8], depth: usize) -> Result<Option<String>, ArchiveError> {
    let shown = || String::from_utf8_lossy(raw).chars().take(MAX_PATH).collect::<String>();
    let refuse = |reason: &'static str| ArchiveError::Name { name: shown(), reason };
    let name = std::str::from_utf8(raw).map_err(|_| refuse("it is not UTF-8"))?;
    if name.is_empty() {
        return Err(refuse("it is empty"));
    }
    if name.len() > MAX_PATH {
        return Err(refuse("it is too long"));
    }
    if name.starts_with('/') {
        return Err(refuse("it is an absolute path"));
    }
    if name.contains('\\') {
        return Err(refuse("it has a backslash, which separates directories on some systems"));
    }
    if name.chars().any(|c| c.is_control() || is_deceptive(c)) {
        return Err(refuse("it has control characters"));
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.len() > depth {
        return Err(refuse("it is too deep"));
    }
    for (at, part) in parts.iter().enumerate() {
        if let Some(reason) = part_problem(part, at == 0) {
            return Err(refuse(reason));
        }
    }
    Ok(if parts.is_empty() { None } else { Some(parts.join("/")) })
}

fn part_problem(part: &str, first: bool) -> Option<&'static str> {
    let bytes = part.as_bytes();
    if part == ".." {
        return Some("it leads outside");
    }
    if part.len() > MAX_PART {
        return Some("a part of it is too long");
    }
    if first && bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' {
        return Some("it begins with a drive letter");
    }
    if is_git_directory(part) {
        return Some("git would take it for its own directory");
    }
    // Windows drops these, so that `..` could hide behind them.
    if part.chars().all(|c| c == '.' || c == ' ') {
        return Some("it has only dots and spaces");
    }
    None
}

/// `.git` in all the spellings that some file system takes for it.
pub(crate) fn is_git_directory(part: &str) -> bool {
    let visible: String = part.chars().filter(|c| !is_ignored(*c)).collect();
    let lower = visible.to_lowercase();
    let stem = lower.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    stem == ".git" || stem == "git~1"
}

/// Characters that HFS+ does not see.
fn is_ignored(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Characters that turn the direction of what follows, so that a name reads as another.
fn is_deceptive(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The form in which names collide: case and the composition of characters do not tell files apart everywhere.
pub(super) fn folded(name: &str) -> String {
    use unicode_normalization::UnicodeNormalization;
    name.nfkc().collect::<String>().to_lowercase().nfc().collect()
}

/// Why a link at `name` may not lead to `target`, if so. Going up is allowed only at the beginning of a target: `..`
/// behind a name would depend on where that name leads.
pub(super) fn link_problem(name: &str, target: &str) -> Option<&'static str> {
    if target.is_empty() || target.len() > MAX_PATH {
        return Some("its target is empty or too long");
    }
    if target.starts_with('/') || target.contains('\\') || target.chars().any(char::is_control) {
        return Some("its target is no relative path");
    }
    let parts: Vec<&str> = target.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let ups = parts.iter().take_while(|part| **part == "..").count();
    let depth = name.split('/').count() - 1;
    if ups > depth || parts[ups..].contains(&"..") {
        return Some("its target may be outside");
    }
    parts[ups..].iter().find_map(|part| part_problem(part, false))
}
