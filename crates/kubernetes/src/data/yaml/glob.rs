//! Patterns of file names: `*` and `?` inside of a name, `[a-z]` for one character, `**` for any number of directories, `{a,b}` for either,
//! and `\` before a character that is meant as it is.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use groma_kit::confines::Confines;

/// How many files and directories are looked at.
const MAX_ENTRIES: usize = 100_000;
/// How many patterns one with braces may stand for.
const MAX_PATTERNS: usize = 1_000;
/// How deep directories may lie in each other.
const MAX_DEPTH: usize = 64;
/// How long a pattern may be.
const MAX_LENGTH: usize = 4_096;

/// Why files cannot be told.
#[derive(Debug, thiserror::Error)]
pub(super) enum GlobError {
    #[error("{0}")]
    Pattern(&'static str),
    #[error("{0} cannot be read: {1}")]
    Directory(String, std::io::Error),
    #[error("there are more than {MAX_ENTRIES} files and directories to look at")]
    TooMany,
    #[error("directories lie in each other more than {MAX_DEPTH} deep, from {0}")]
    TooDeep(String),
}

/// The files that a pattern stands for, sorted; relative to the base if the pattern is. What is in directories that may not be read is
/// told to nobody.
pub(super) fn files(base: &Path, pattern: &str, confines: Option<&Confines>) -> Result<Vec<PathBuf>, GlobError> {
    if pattern.is_empty() || pattern.len() > MAX_LENGTH {
        return Err(GlobError::Pattern("a pattern has at least one character, and not thousands"));
    }
    let mut walk = Walk { base, confines: confines.map(Confines::undivided), found: BTreeSet::new(), entries: 0 };
    let chars: Vec<char> = pattern.chars().collect();
    for alternative in alternatives(&chars)? {
        let is_absolute = alternative.first() == Some(&'/');
        let names: Vec<&[char]> = split(&alternative).into_iter().filter(|name| !name.is_empty()).collect();
        for name in &names {
            check(name)?;
        }
        walk.below(Path::new(if is_absolute { "/" } else { "" }), &names, 0)?;
    }
    Ok(walk.found.into_iter().collect())
}

/// The parts between slashes. A slash in brackets is a slash nevertheless.
fn split(pattern: &[char]) -> Vec<&[char]> {
    pattern.split(|c| *c == '/').collect()
}

/// What braces stand for, one by one.
fn alternatives(pattern: &[char]) -> Result<Vec<Vec<char>>, GlobError> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_vec()];
    while let Some(next) = open.pop() {
        if done.len() + open.len() > MAX_PATTERNS {
            return Err(GlobError::Pattern("its braces stand for too many patterns"));
        }
        match first_braces(&next)? {
            None => done.push(next),
            Some(braces) => open.extend(braces),
        }
    }
    Ok(done)
}

/// What the first braces stand for. None if there are none.
fn first_braces(pattern: &[char]) -> Result<Option<Vec<Vec<char>>>, GlobError> {
    let mut choices: Vec<Vec<char>> = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    let mut escaped = false;
    for (at, c) in pattern.iter().enumerate() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => {
                depth += 1;
                if depth == 1 {
                    start = at;
                    choices.push(Vec::new());
                    continue;
                }
            }
            '}' if depth == 1 => {
                let (before, after) =
                    (pattern.get(..start).unwrap_or_default(), pattern.get(at + 1..).unwrap_or_default());
                let whole = |choice: Vec<char>| [before, &choice, after].concat();
                return Ok(Some(choices.into_iter().map(whole).collect()));
            }
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 1 => {
                choices.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(choice) = choices.last_mut() {
            choice.push(*c);
        }
    }
    if depth > 0 { Err(GlobError::Pattern("a { is not closed")) } else { Ok(None) }
}

struct Walk<'b> {
    base: &'b Path,
    confines: Option<Confines>,
    found: BTreeSet<PathBuf>,
    entries: usize,
}

impl Walk<'_> {
    /// Looks for the names below a directory.
    fn below(&mut self, directory: &Path, names: &[&[char]], depth: usize) -> Result<(), GlobError> {
        if depth > MAX_DEPTH {
            return Err(GlobError::TooDeep(directory.display().to_string()));
        }
        let Some((name, rest)) = names.split_first() else { return Ok(()) };
        if *name == ['*', '*'] {
            return self.any_depth(directory, rest, depth);
        }
        if let Some(plain) = plain(name) {
            return self.entry(&directory.join(plain), rest, depth);
        }
        for entry in self.list(directory)? {
            if entry.file_name().and_then(|own| own.to_str()).is_some_and(|own| matches(name, own)) {
                self.entry(&entry, rest, depth)?;
            }
        }
        Ok(())
    }

    /// Takes a file if it is the last name, and goes on in a directory otherwise.
    fn entry(&mut self, path: &Path, rest: &[&[char]], depth: usize) -> Result<(), GlobError> {
        if rest.is_empty() {
            if self.base.join(path).is_file() {
                self.found.insert(path.to_owned());
            }
            return Ok(());
        }
        if self.base.join(path).is_dir() || matches!(path.to_str(), Some("." | "..")) {
            self.below(path, rest, depth + 1)?;
        }
        Ok(())
    }

    /// Looks for the names here and in all directories below.
    fn any_depth(&mut self, directory: &Path, rest: &[&[char]], depth: usize) -> Result<(), GlobError> {
        if depth > MAX_DEPTH {
            return Err(GlobError::TooDeep(directory.display().to_string()));
        }
        // `**` at the end stands for all files.
        if !rest.is_empty() {
            self.below(directory, rest, depth)?;
        }
        for entry in self.list(directory)? {
            let place = self.base.join(&entry);
            // Links to directories may lead back here.
            if place.is_dir() && !place.is_symlink() {
                self.any_depth(&entry, rest, depth + 1)?;
            } else if rest.is_empty() && place.is_file() {
                self.found.insert(entry);
            }
        }
        Ok(())
    }

    fn list(&mut self, directory: &Path) -> Result<Vec<PathBuf>, GlobError> {
        let unreadable = |error| GlobError::Directory(directory.display().to_string(), error);
        let mut names = Vec::new();
        let place = self.base.join(directory);
        let is_hidden = self.confines.as_ref().is_some_and(|confines| confines.read(&place).is_err());
        if is_hidden || !place.is_dir() {
            return Ok(names);
        }
        for entry in std::fs::read_dir(place).map_err(unreadable)? {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(GlobError::TooMany);
            }
            names.push(directory.join(entry.map_err(unreadable)?.file_name()));
        }
        names.sort();
        Ok(names)
    }
}

/// The name that a pattern without anything special is.
fn plain(pattern: &[char]) -> Option<String> {
    let mut name = String::new();
    let mut chars = pattern.iter();
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' | '[' => return None,
            '\\' => name.extend(chars.next()),
            c => name.push(*c),
        }
    }
    Some(name)
}

/// Refuses a name whose brackets or backslashes are not finished.
fn check(pattern: &[char]) -> Result<(), GlobError> {
    let mut rest = pattern;
    while let Some((c, after)) = rest.split_first() {
        rest = match c {
            '\\' if after.is_empty() => return Err(GlobError::Pattern("it ends with a \\")),
            '\\' => after.get(1..).unwrap_or_default(),
            '[' => class(after).map(|(_, after)| after).ok_or(GlobError::Pattern("a [ is not closed"))?,
            _ => after,
        };
    }
    Ok(())
}

/// Whether a name is one that a pattern stands for.
fn matches(pattern: &[char], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut rest, mut left) = (pattern, name.as_slice());
    // Where to go on if it does not fit from here: the last star takes one more character.
    let mut retry: Option<(&[char], &[char])> = None;
    loop {
        if let Some(after) = rest.strip_prefix(&['*']) {
            retry = Some((after, left));
            rest = after;
            continue;
        }
        if rest.is_empty() && left.is_empty() {
            return true;
        }
        if let Some((first, others)) = left.split_first()
            && let Some(after) = one(rest, *first)
        {
            (rest, left) = (after, others);
            continue;
        }
        match retry {
            Some((after_star, from)) if !from.is_empty() => {
                let from = from.get(1..).unwrap_or_default();
                retry = Some((after_star, from));
                (rest, left) = (after_star, from);
            }
            _ => return false,
        }
    }
}

/// What is left of a pattern whose first part stands for a character. None if it does not.
fn one(pattern: &[char], c: char) -> Option<&[char]> {
    let (first, after) = pattern.split_first()?;
    match first {
        '?' => Some(after),
        '\\' => after.split_first().filter(|(own, _)| **own == c).map(|(_, after)| after),
        '[' => {
            let (class, after) = class(after)?;
            class.contains(c).then_some(after)
        }
        own => (*own == c).then_some(after),
    }
}

/// Characters in brackets.
struct Class {
    ranges: Vec<(char, char)>,
    negated: bool,
}

impl Class {
    fn contains(&self, c: char) -> bool {
        self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != self.negated
    }
}

/// What is in brackets, and what comes after them.
fn class(pattern: &[char]) -> Option<(Class, &[char])> {
    let (negated, mut rest) = match pattern.split_first()? {
        ('!' | '^', after) => (true, after),
        _ => (false, pattern),
    };
    let mut ranges = Vec::new();
    loop {
        let (first, mut after) = rest.split_first()?;
        if *first == ']' && !ranges.is_empty() {
            return Some((Class { ranges, negated }, after));
        }
        let from = member(*first, &mut after)?;
        let mut to = from;
        if let Some((end, beyond)) = after.strip_prefix(&['-']).and_then(|beyond| beyond.split_first())
            && *end != ']'
        {
            after = beyond;
            to = member(*end, &mut after)?;
        }
        ranges.push((from, to));
        rest = after;
    }
}

/// A character, or the one behind a backslash.
fn member(c: char, after: &mut &[char]) -> Option<char> {
    if c != '\\' {
        return Some(c);
    }
    let (escaped, rest) = after.split_first()?;
    *after = rest;
    Some(*escaped)
}
