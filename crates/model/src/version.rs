//! Versions and version constraints of modules, providers and the core. Which versions exist is for others.
//!
//! There are two dialects. Modules and the core follow one set of rules ([`Constraints::parse`], [`Constraints::admits`]),
//! providers a stricter one ([`Constraints::parse_provider`], [`Constraints::admits_release`]): three numbers, and
//! prereleases only where a constraint asks for exactly that one.

mod constraint;

use std::cmp::Ordering;
use std::fmt;

pub use constraint::{Comparison, Constraints, Operator};

/// A version: numbers, and perhaps a prerelease and build metadata.
///
/// The order is total and agrees with equality. [`Version::precedence`] is the one that constraints use: there the
/// build metadata does not count, and `1.2` is `1.2.0`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version {
    /// The numbers as written.
    pub numbers: Vec<u64>,
    /// Behind the hyphen; empty if there is none.
    pub prerelease: String,
    /// Behind the plus sign; empty if there is none.
    pub metadata: String,
}

/// Why a text is no version or constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionError(pub String);

impl fmt::Display for VersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for VersionError {}

impl Version {
    /// A version of three numbers.
    pub fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self { numbers: vec![major, minor, patch], prerelease: String::new(), metadata: String::new() }
    }

    /// Reads a version such as `v1.2.3-beta1+build`.
    pub fn parse(text: &str) -> Option<Version> {
        let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let (text, metadata) = match text.split_once('+') {
            Some((text, metadata)) => (text, metadata),
            None => (text, ""),
        };
        if (!metadata.is_empty() || text.ends_with('+')) && !is_dotted(metadata) {
            return None;
        }
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (numbers, rest) = text.split_at(digits);
        let prerelease = rest.strip_prefix('-').unwrap_or(rest);
        if !rest.is_empty() && !is_dotted(prerelease) {
            return None;
        }
        let numbers: Option<Vec<u64>> = numbers.split('.').map(|part| part.parse().ok()).collect();
        Some(Version { numbers: numbers?, prerelease: prerelease.to_owned(), metadata: metadata.to_owned() })
    }

    /// Reads the version of a provider: up to three numbers, those that are missing are zero.
    pub fn parse_release(text: &str) -> Result<Version, VersionError> {
        let mut version = Self::parse_strictly(text)?;
        version.numbers.resize(3, 0);
        Ok(version)
    }

    /// Reads a version in the provider dialect and keeps the numbers as written.
    fn parse_strictly(text: &str) -> Result<Version, VersionError> {
        let wrong = |reason: &str| Err(VersionError(reason.to_owned()));
        if text.trim().is_empty() {
            return wrong("empty specification");
        }
        if text.trim() != text {
            return wrong("extraneous spaces around the specification");
        }
        if text.starts_with(['v', 'V']) {
            return wrong("a \"v\" prefix should not be used");
        }
        let (rest, metadata) = match text.split_once('+') {
            Some((rest, metadata)) => (rest, Some(metadata)),
            None => (text, None),
        };
        let (numbers, prerelease) = match rest.split_once('-') {
            Some((numbers, prerelease)) => (numbers, Some(prerelease)),
            None => (rest, None),
        };
        for extra in [prerelease, metadata].into_iter().flatten() {
            let allowed = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
            if extra.is_empty() || !extra.chars().all(allowed) {
                return Err(VersionError(format!("invalid characters {extra:?}")));
            }
        }
        let parsed: Vec<Option<u64>> = numbers.split('.').map(number).collect();
        if parsed.len() > 3 {
            return wrong("too many numbered portions; only three are allowed (major, minor, patch)");
        }
        if numbers.split('.').any(|part| matches!(part, "*" | "x" | "X")) {
            return wrong("can't use a wildcard; an exact version is required");
        }
        let Some(numbers) = parsed.into_iter().collect::<Option<Vec<u64>>>() else {
            return wrong("invalid specification; required format is three positive integers separated by periods");
        };
        Ok(Version {
            numbers,
            prerelease: prerelease.unwrap_or_default().to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
        })
    }

    /// One of the numbers; those that are not given are zero.
    pub fn number(&self, at: usize) -> u64 {
        self.numbers.get(at).copied().unwrap_or(0)
    }

    /// Which of two is newer. Build metadata says nothing about that.
    pub fn precedence(&self, other: &Version) -> Ordering {
        let by_numbers = self.compare_numbers(other);
        by_numbers.then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
    }

    /// Compares the numbers only.
    fn compare_numbers(&self, other: &Version) -> Ordering {
        let width = self.numbers.len().max(other.numbers.len()).max(3);
        (0..width)
            .map(|at| self.number(at).cmp(&other.number(at)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.precedence(other)
            .then_with(|| self.prerelease.cmp(&other.prerelease))
            .then_with(|| self.metadata.cmp(&other.metadata))
            .then_with(|| self.numbers.len().cmp(&other.numbers.len()))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.number(0), self.number(1), self.number(2))?;
        for number in self.numbers.iter().skip(3) {
            write!(f, ".{number}")?;
        }
        self.write_extras(f)
    }
}

impl Version {
    fn write_extras(&self, f: &mut impl fmt::Write) -> fmt::Result {
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

/// A number without a sign.
fn number(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

fn is_dotted(text: &str) -> bool {
    let word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '~');
    text.split('.').all(word)
}

/// A release comes behind its prereleases; numeric parts compare as numbers and come before words.
fn compare_prereleases(left: &str, right: &str) -> Ordering {
    match (left.is_empty(), right.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let (mut lefts, mut rights) = (left.split('.'), right.split('.'));
    loop {
        let order = match (lefts.next(), rights.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order.is_ne() {
            return order;
        }
    }
}

#[cfg(test)]
mod tests;
