//! Ranges of versions, as people write them for tags: `>=1.2.0 <2.0.0`, `^1.2`, `~1.2.3`, `1.x`, `1.2 - 1.4`, `^1 || ^3`.

use groma_model::version::Version;

use super::{SourceError, Trouble};

/// A range of versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// One of these must hold.
    choices: Vec<Vec<Bound>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Bound {
    sign: Sign,
    version: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equal,
    NotEqual,
    Greater,
    AtLeast,
    Less,
    AtMost,
}

impl Range {
    /// Reads a range.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let choices: Option<Vec<_>> = text.split("||").map(choice).collect();
        let wrong = || {
            let message = format!("{text:?} is no range of versions: write >=1.2.0 <2.0.0, ^1.2, ~1.2.3, 1.x or *");
            SourceError::new(Trouble::Invalid, message)
        };
        choices.map(|choices| Self { choices }).ok_or_else(wrong)
    }

    /// Whether a version is in it. What is not released yet is only where the range names something like it.
    pub fn admits(&self, version: &Version) -> bool {
        let fits = |bounds: &Vec<Bound>| {
            let asks = bounds.iter().any(|bound| !bound.version.prerelease.is_empty());
            (version.prerelease.is_empty() || asks) && bounds.iter().all(|bound| bound.admits(version))
        };
        self.choices.iter().any(fits)
    }
}

impl Bound {
    fn admits(&self, version: &Version) -> bool {
        let order = version.precedence(&self.version);
        match self.sign {
            Sign::Equal => order.is_eq(),
            Sign::NotEqual => order.is_ne(),
            Sign::Greater => order.is_gt(),
            Sign::AtLeast => order.is_ge(),
            Sign::Less => order.is_lt(),
            Sign::AtMost => order.is_le(),
        }
    }
}

/// Everything between two `||`.
fn choice(text: &str) -> Option<Vec<Bound>> {
    if let Some((from, to)) = text.split_once(" - ") {
        return Some([comparison(">=", from.trim())?, comparison("<=", to.trim())?].concat());
    }
    let spaced = text.replace(',', " ");
    let mut words = spaced.split_whitespace().peekable();
    words.peek()?;
    let mut bounds = Vec::new();
    while let Some(word) = words.next() {
        let sign_ends = word.find(|letter: char| !"<>=!~^".contains(letter)).unwrap_or(word.len());
        let (sign, version) = word.split_at(sign_ends);
        // There may be a space between them.
        let version = if version.is_empty() { words.next()? } else { version };
        bounds.extend(comparison(sign, version)?);
    }
    Some(bounds)
}

fn comparison(sign: &str, text: &str) -> Option<Vec<Bound>> {
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    let is_open = |part: &str| matches!(part, "*" | "x" | "X");
    // `1.x` is `1`, and `1` is everything that begins so.
    let numbers: Vec<&str> = text.split(['-', '+']).next()?.split('.').take_while(|part| !is_open(part)).collect();
    let is_partial = numbers.len() < 3;
    let version = match (is_partial, numbers.is_empty()) {
        (false, _) => Version::parse(text)?,
        (true, true) if is_open(text.split('.').next()?) => Version::new(0, 0, 0),
        (true, true) => return None,
        (true, false) => Version::parse(&numbers.join("."))?,
    };
    let count = numbers.len();
    let full = Version { numbers: (0..3).map(|at| version.number(at)).collect(), ..version };
    // The first version that does not begin so any more.
    let behind = |at: usize| {
        let mut next = Version::new(full.number(0), full.number(1), full.number(2));
        next.numbers.iter_mut().enumerate().skip(at + 1).for_each(|(_, number)| *number = 0);
        if let Some(number) = next.numbers.get_mut(at) {
            *number = number.saturating_add(1);
        }
        next
    };
    let bound = |sign, version| Bound { sign, version };
    let from = bound(Sign::AtLeast, full.clone());
    if count == 0 {
        return matches!(sign, "" | "=" | ">=" | "^" | "~" | "~>").then(|| vec![from]);
    }
    let first_set = (0..count).find(|at| full.number(*at) > 0).unwrap_or(count - 1);
    let bounds = match sign {
        "" | "=" | "==" if is_partial => vec![from, bound(Sign::Less, behind(count - 1))],
        "" | "=" | "==" => vec![bound(Sign::Equal, full)],
        "!=" => vec![bound(Sign::NotEqual, full)],
        ">" if is_partial => vec![bound(Sign::AtLeast, behind(count - 1))],
        ">" => vec![bound(Sign::Greater, full)],
        ">=" | "=>" => vec![from],
        "<" => vec![bound(Sign::Less, full)],
        "<=" | "=<" if is_partial => vec![bound(Sign::Less, behind(count - 1))],
        "<=" | "=<" => vec![bound(Sign::AtMost, full)],
        "^" => vec![from, bound(Sign::Less, behind(first_set))],
        "~" | "~>" => vec![from, bound(Sign::Less, behind(usize::from(count > 1)))],
        _ => return None,
    };
    Some(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(range: &str, inside: &[&str], outside: &[&str]) {
        let read = Range::parse(range).unwrap();
        for (versions, expected) in [(inside, true), (outside, false)] {
            for version in versions {
                assert_eq!(read.admits(&Version::parse(version).unwrap()), expected, "{range} {version}");
            }
        }
    }

    #[test]
    fn ranges_are_what_people_mean() {
        check(">=1.2.0 <2.0.0", &["1.2.0", "1.9.9", "v1.5.0"], &["1.1.9", "2.0.0", "1.5.0-rc.1"]);
        check(">= 1.2.0, < 2", &["1.2.0"], &["2.0.0"]);
        check("^1.2", &["1.2.0", "1.99.0"], &["1.1.0", "2.0.0"]);
        check("^0.2.3", &["0.2.3", "0.2.9"], &["0.3.0", "0.2.2"]);
        check("~1.2.3", &["1.2.3", "1.2.9"], &["1.3.0"]);
        check("~1", &["1.0.0", "1.9.0"], &["2.0.0"]);
        check("1.x", &["1.0.0", "1.4.2"], &["2.0.0", "0.9.0"]);
        check("1.2", &["1.2.7"], &["1.3.0"]);
        check("*", &["0.0.1", "9.9.9"], &["1.0.0-beta"]);
        check("1.2 - 1.4", &["1.2.0", "1.4.9"], &["1.5.0", "1.1.0"]);
        check("^1 || ^3", &["1.5.0", "3.0.0"], &["2.0.0"]);
        check(">=1.0.0-0", &["1.0.0-rc.1", "1.0.0"], &["0.9.0"]);
        check("!=1.0.0", &["1.0.1"], &["1.0.0"]);
        check("1.2.3", &["1.2.3"], &["1.2.4"]);
    }

    #[test]
    fn what_is_no_range_is_told() {
        for wrong in ["", "main", ">=", "^^1", "1.2.3.4.x y", "||", "<>1"] {
            let said = Range::parse(wrong).unwrap_err();
            assert!(said.message.contains("is no range of versions"), "{wrong}: {said}");
        }
    }
}
