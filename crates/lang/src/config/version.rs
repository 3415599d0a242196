//! Versions and version constraints of modules, providers and the core.

use std::cmp::Ordering;
use std::fmt;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::body::Attribute;

use super::read::Decoder;

/// The OpenTofu version whose language this is.
pub const COMPATIBLE_VERSION: &str = "1.12.6";

/// A version constraint with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionConstraint {
    /// As written, e.g. `>= 1.2, < 2.0`.
    pub text: Str,
    /// What it says.
    pub parts: Vec<Comparison>,
    /// Where it is written.
    pub span: Span,
}

/// One part of a version constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// How versions are compared.
    pub operator: Operator,
    /// What they are compared with.
    pub version: Version,
}

/// How versions are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `=` or nothing.
    Equal,
    /// `!=`
    NotEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `~>`: only the last part that is given may grow.
    Pessimistic,
}

/// A version: numbers, and perhaps a prerelease and build metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The numbers as written.
    pub numbers: Vec<u64>,
    /// Behind the hyphen; empty if there is none.
    pub prerelease: String,
    /// Behind the plus sign; empty if there is none.
    pub metadata: String,
}

impl Version {
    /// Reads a version such as `1.2.3-beta1+build`.
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

    fn number(&self, at: usize) -> u64 {
        self.numbers.get(at).copied().unwrap_or(0)
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
        let by_numbers = self.compare_numbers(other);
        by_numbers.then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
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
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
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

impl Comparison {
    fn parse(text: &str) -> Option<Comparison> {
        let text = text.trim();
        let operators = [
            ("!=", Operator::NotEqual),
            (">=", Operator::GreaterOrEqual),
            ("<=", Operator::LessOrEqual),
            ("~>", Operator::Pessimistic),
            ("=", Operator::Equal),
            (">", Operator::Greater),
            ("<", Operator::Less),
        ];
        let found = operators.into_iter().find_map(|(sign, operator)| Some((operator, text.strip_prefix(sign)?)));
        let (operator, version) = found.unwrap_or((Operator::Equal, text));
        Some(Comparison { operator, version: Version::parse(version.trim())? })
    }

    /// Whether a version satisfies it. A prerelease satisfies only what names a prerelease of the same version.
    pub fn admits(&self, version: &Version) -> bool {
        let wanted = &self.version;
        let same_numbers = version.compare_numbers(wanted).is_eq();
        let comparable = match (version.prerelease.is_empty(), wanted.prerelease.is_empty()) {
            (true, true) => true,
            (true, false) => self.operator != Operator::Pessimistic || version.numbers.len() >= wanted.numbers.len(),
            (false, false) => same_numbers,
            (false, true) => false,
        };
        match self.operator {
            Operator::Equal => {
                version == wanted || (version.cmp(wanted).is_eq() && version.metadata == wanted.metadata)
            }
            Operator::NotEqual => version.cmp(wanted).is_ne(),
            Operator::Greater => comparable && version > wanted,
            Operator::GreaterOrEqual => comparable && version >= wanted,
            Operator::Less => comparable && version < wanted,
            Operator::LessOrEqual => comparable && version <= wanted,
            Operator::Pessimistic => comparable && version >= wanted && self.same_prefix(version),
        }
    }

    fn same_prefix(&self, version: &Version) -> bool {
        let fixed = self.version.numbers.len().saturating_sub(1);
        (0..fixed).all(|at| version.number(at) == self.version.number(at))
    }
}

impl VersionConstraint {
    /// Reads comparisons that are separated by commas.
    pub fn parse(text: &str, span: Span) -> Option<VersionConstraint> {
        let parts: Option<Vec<Comparison>> = text.split(',').map(Comparison::parse).collect();
        Some(VersionConstraint { text: text.into(), parts: parts?, span })
    }

    /// Whether a version satisfies all of it.
    pub fn admits(&self, version: &Version) -> bool {
        self.parts.iter().all(|part| part.admits(version))
    }

    /// Reads an argument that is a constant constraint. None if it is null, or wrong and reported.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, attribute: &Attribute) -> Option<VersionConstraint> {
        let errors_before = decoder.diagnostics.len();
        let value = decoder.constant(&attribute.expr);
        if decoder.diagnostics.len() > errors_before {
            return None;
        }
        let name = &attribute.name.name;
        let problem = match groma_model::convert::convert(&value, &groma_model::ty::Type::String) {
            Ok(value) if value.is_null() || !value.is_known() => return None,
            Ok(value) => match value.as_str().and_then(|text| Self::parse(text, attribute.span)) {
                Some(constraint) => return Some(constraint),
                None => "This string does not use correct version constraint syntax.".to_owned(),
            },
            Err(_) => format!("A string value is required for {name}."),
        };
        decoder.error("Invalid version constraint", problem, attribute.expr.span);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(constraint: &str, version: &str) -> bool {
        let parts: Option<Vec<Comparison>> = constraint.split(',').map(Comparison::parse).collect();
        let version = Version::parse(version).unwrap();
        parts.unwrap().iter().all(|part| part.admits(&version))
    }

    #[test]
    fn comparisons_hold_as_documented() {
        assert!(admits(">= 1.2, < 2.0", "1.5.0"));
        assert!(!admits(">= 1.2, < 2.0", "2.0.0"));
        assert!(admits("~> 1.2", "1.9.0"));
        assert!(!admits("~> 1.2.3", "1.3.0"));
        assert!(admits("~> 1.2.3", "1.2.9"));
        assert!(admits("1.2", "1.2.0"));
        assert!(admits("!= 1.2.0", "1.2.1"));
        assert!(!admits(">= 1.2", "1.3.0-beta1"));
        assert!(admits(">= 1.3.0-alpha", "1.3.0-beta1"));
    }

    #[test]
    fn nonsense_is_no_constraint() {
        for text in ["", "abc", ">= ", "1..2", ">> 1", "1.2,", "1.x"] {
            let parts: Option<Vec<Comparison>> = text.split(',').map(Comparison::parse).collect();
            assert!(parts.is_none(), "{text}");
        }
        assert!(Version::parse("v1.2.3-beta.1+b").is_some());
    }
}
