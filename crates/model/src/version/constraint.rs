//! Constraints on versions: comparisons that must all hold.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::{Version, VersionError};

/// Comparisons that must all hold. None at all hold for every version.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Constraints {
    /// The comparisons, as written.
    pub parts: Vec<Comparison>,
}

/// One part of a version constraint.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Comparison {
    /// How versions are compared.
    pub operator: Operator,
    /// What they are compared with.
    pub version: Version,
}

/// How versions are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

impl Constraints {
    /// Reads comparisons that are separated by commas.
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Option<Vec<Comparison>> = text.split(',').map(Comparison::parse).collect();
        Some(Self { parts: parts? })
    }

    /// Reads comparisons in the provider dialect. Nothing at all is no constraint.
    pub fn parse_provider(text: &str) -> Result<Self, VersionError> {
        let mut rest = text.trim();
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let (one, behind) = rest.split_once(',').unwrap_or((rest, ""));
            let one = one.trim_end();
            let invalid = |error: VersionError| VersionError(format!("invalid specification {one:?}: {error}"));
            parts.push(Comparison::parse_provider(one).map_err(invalid)?);
            rest = behind.trim();
        }
        Ok(Self { parts })
    }

    /// Whether exactly this version is asked for.
    pub fn exactly(version: Version) -> Self {
        Self { parts: vec![Comparison { operator: Operator::Equal, version }] }
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Asks for all that another asks for, too.
    pub fn and(&mut self, other: &Constraints) {
        self.parts.extend(other.parts.iter().cloned());
    }

    /// Whether a version satisfies all of it, by the rules for modules and the core.
    pub fn admits(&self, version: &Version) -> bool {
        self.parts.iter().all(|part| part.admits(version))
    }

    /// Whether a version satisfies all of it, by the rules for providers: a prerelease must be asked for exactly.
    pub fn admits_release(&self, version: &Version) -> bool {
        let is_asked_for = |part: &Comparison| part.operator == Operator::Equal && part.equals(version);
        (version.prerelease.is_empty() || self.parts.iter().any(is_asked_for))
            && self.parts.iter().all(|part| part.admits_release(version))
    }

    /// The one form in which lock files have it: sorted, without repetitions, with all numbers.
    pub fn canonical(&self) -> String {
        let mut parts: Vec<Comparison> = self.parts.iter().map(Comparison::normalized).collect();
        parts.sort_by(|a, b| compare_boundaries(a, b).then_with(|| a.priority().cmp(&b.priority())));
        parts.dedup();
        let mut text = String::new();
        for part in parts {
            if !text.is_empty() {
                text.push_str(", ");
            }
            part.write_canonical(&mut text);
        }
        text
    }
}

impl Comparison {
    fn parse(text: &str) -> Option<Comparison> {
        let (operator, version) = split_operator(text.trim());
        Some(Comparison { operator, version: Version::parse(version.trim())? })
    }

    fn parse_provider(text: &str) -> Result<Comparison, VersionError> {
        for (sign, meant) in [("=<", "<="), ("=>", ">=")] {
            if text.starts_with(sign) {
                return Err(VersionError(format!("invalid constraint operator {sign:?}; did you mean {meant:?}?")));
            }
        }
        let (operator, version) = split_operator(text);
        let has_sign = version.len() < text.len();
        let version = if has_sign { version.strip_prefix(' ').unwrap_or(version) } else { version };
        if has_sign && version.starts_with(char::is_whitespace) {
            let sign = text[..text.len() - version.len()].trim_end();
            return Err(VersionError(format!("only one space is expected after the operator {sign:?}")));
        }
        if version.starts_with(|c: char| !c.is_ascii_alphanumeric() && c != '*') {
            let sign: String = text.chars().take_while(|c| !c.is_ascii_alphanumeric() && *c != ' ').collect();
            return Err(VersionError(format!("invalid constraint operator {sign:?}")));
        }
        Ok(Comparison { operator, version: Version::parse_strictly(version)? })
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
        let order = version.precedence(wanted);
        match self.operator {
            Operator::Equal => self.equals(version),
            Operator::NotEqual => order.is_ne(),
            Operator::Greater => comparable && order.is_gt(),
            Operator::GreaterOrEqual => comparable && order.is_ge(),
            Operator::Less => comparable && order.is_lt(),
            Operator::LessOrEqual => comparable && order.is_le(),
            Operator::Pessimistic => {
                comparable && order.is_ge() && self.same_prefix(version, self.version.numbers.len().saturating_sub(1))
            }
        }
    }

    /// Whether a version satisfies it, by the rules for providers, prereleases like any other version.
    fn admits_release(&self, version: &Version) -> bool {
        let order = version.precedence(&self.version);
        match self.operator {
            Operator::Equal => self.equals(version),
            Operator::NotEqual => !self.equals(version),
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
            Operator::Pessimistic => order.is_ge() && self.below_next(version),
        }
    }

    /// Whether a version comes before the next major one (`~> 1.2`), or the next minor one (`~> 1.2.3`).
    fn below_next(&self, version: &Version) -> bool {
        if self.same_prefix(version, self.kept_numbers()) {
            return true;
        }
        // A prerelease of the next one comes before that one.
        let mut next = Version::new(self.version.number(0), 0, 0);
        match self.kept_numbers() {
            1 => next.numbers[0] = next.numbers[0].saturating_add(1),
            _ => next.numbers[1] = self.version.number(1).saturating_add(1),
        }
        version.precedence(&next).is_lt()
    }

    /// How many numbers `~>` keeps, for providers: they have no `~> 1` that is more than `~> 1.0`.
    fn kept_numbers(&self) -> usize {
        if self.version.numbers.len() >= 3 { 2 } else { 1 }
    }

    fn equals(&self, version: &Version) -> bool {
        version.precedence(&self.version).is_eq() && version.metadata == self.version.metadata
    }

    fn same_prefix(&self, version: &Version, length: usize) -> bool {
        (0..length).all(|at| version.number(at) == self.version.number(at))
    }

    fn normalized(&self) -> Comparison {
        let mut version = self.version.clone();
        let width = if self.operator == Operator::Pessimistic { self.kept_numbers() + 1 } else { 3 };
        version.numbers.resize(width, 0);
        Comparison { operator: self.operator, version }
    }

    /// Which of two comparisons with one version comes first.
    fn priority(&self) -> u8 {
        match self.operator {
            Operator::Greater => 1,
            Operator::GreaterOrEqual => 2,
            Operator::Equal => 3,
            Operator::Pessimistic if self.version.numbers.len() >= 3 => 4,
            Operator::Pessimistic => 5,
            Operator::LessOrEqual => 6,
            Operator::Less => 7,
            Operator::NotEqual => 8,
        }
    }

    fn write_canonical(&self, text: &mut String) {
        text.push_str(match self.operator {
            Operator::Equal => "",
            Operator::NotEqual => "!= ",
            Operator::Greater => "> ",
            Operator::GreaterOrEqual => ">= ",
            Operator::Less => "< ",
            Operator::LessOrEqual => "<= ",
            Operator::Pessimistic => "~> ",
        });
        let numbers: Vec<String> = self.version.numbers.iter().map(u64::to_string).collect();
        text.push_str(&numbers.join("."));
        // Writing to a string does not fail.
        let mut extras = String::new();
        let _ = self.version.write_extras(&mut extras);
        let _ = text.write_str(&extras);
    }
}

fn compare_boundaries(a: &Comparison, b: &Comparison) -> Ordering {
    a.version.precedence(&b.version).then_with(|| a.version.metadata.cmp(&b.version.metadata))
}

/// The operator that a comparison begins with, and what is behind it.
fn split_operator(text: &str) -> (Operator, &str) {
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
    found.unwrap_or((Operator::Equal, text))
}
