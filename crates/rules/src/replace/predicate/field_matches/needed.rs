//! Bytes of which every match of a pattern has at least one. A long text without any of them need not be searched, which is many times as
//! quick to see.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Shorter texts are searched at once.
const LONG: usize = 4096;
/// More ranges of bytes take as long to look for as the pattern itself.
const MOST_RANGES: usize = 4;
/// No more is looked for one by one.
const MOST_PARTS: usize = 4;
/// So many bytes are looked at before it is asked whether one was found.
const AT_ONCE: usize = 1024;

/// Ranges of bytes, both ends included.
type Ranges = Vec<(u8, u8)>;

/// What every match has something of, one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Needed(Vec<Ranges>);

impl Needed {
    /// Of a pattern that is well-formed. Nothing is needed of others.
    pub(super) fn of(pattern: &str, case_insensitive: bool) -> Self {
        let parsed = ParserBuilder::new().case_insensitive(case_insensitive).build().parse(pattern);
        let mut all = parsed.map(|parsed| needed(&parsed)).unwrap_or_default();
        // What is rarest says most.
        all.sort_by_key(|ranges| bytes(ranges));
        all.dedup();
        all.truncate(MOST_PARTS);
        Self(all)
    }

    /// Whether a text cannot match.
    pub(super) fn is_missing(&self, text: &str) -> bool {
        let has = |ranges: &Ranges| text.as_bytes().chunks(AT_ONCE).any(|bytes| is_in(ranges, bytes));
        text.len() >= LONG && !self.0.iter().all(has)
    }
}

/// Without branches, so that many bytes are looked at together.
fn is_in(ranges: &Ranges, bytes: &[u8]) -> bool {
    let has = |&(low, high): &(u8, u8)| {
        bytes.iter().fold(false, |found, byte| found | (byte.wrapping_sub(low) <= high - low))
    };
    ranges.iter().any(has)
}

fn needed(pattern: &Hir) -> Vec<Ranges> {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => Vec::new(),
        HirKind::Literal(literal) => literal.0.iter().map(|byte| vec![(*byte, *byte)]).collect(),
        HirKind::Class(class) => few(of_class(class)).into_iter().collect(),
        HirKind::Repetition(repeated) if repeated.min > 0 => needed(&repeated.sub),
        HirKind::Repetition(_) => Vec::new(),
        HirKind::Capture(capture) => needed(&capture.sub),
        HirKind::Concat(parts) => parts.iter().flat_map(needed).collect(),
        HirKind::Alternation(parts) => {
            let rarest = |part: &Hir| needed(part).into_iter().min_by_key(|ranges| bytes(ranges));
            let all: Option<Vec<Ranges>> = parts.iter().map(rarest).collect();
            all.and_then(|all| few(all.concat())).into_iter().collect()
        }
    }
}

fn few(ranges: Ranges) -> Option<Ranges> {
    (!ranges.is_empty() && ranges.len() <= MOST_RANGES).then_some(ranges)
}

/// All that is not ASCII counts as one range: whatever is in it is written with such bytes.
fn of_class(class: &Class) -> Ranges {
    match class {
        Class::Bytes(class) => class.ranges().iter().map(|range| (range.start(), range.end())).collect(),
        Class::Unicode(class) => {
            let byte = |c: char| u8::try_from(u32::from(c)).ok().filter(u8::is_ascii);
            let ascii = class.ranges().iter().filter_map(|range| {
                let low = byte(range.start())?;
                Some((low, byte(range.end()).unwrap_or(0x7f)))
            });
            let others = class.ranges().iter().any(|range| !range.end().is_ascii()).then_some((0x80, 0xff));
            ascii.chain(others).collect()
        }
    }
}

/// How many bytes are in ranges.
fn bytes(ranges: &[(u8, u8)]) -> usize {
    ranges.iter().map(|(low, high)| usize::from(high - low) + 1).sum()
}

#[cfg(test)]
mod tests {
    use regex::RegexBuilder;

    use super::*;

    fn check(pattern: &str, expected: &[&[(u8, u8)]]) {
        assert_eq!(Needed::of(pattern, false).0, expected, "{pattern}");
    }

    #[test]
    fn what_every_match_has_is_needed() {
        check("(a[ab])+[0-9]", &[&[(b'a', b'a')], &[(b'a', b'b')], &[(b'0', b'9')]]);
        check("[0-9]x?", &[&[(b'0', b'9')]]);
        check("abc|[0-9]+", &[&[(b'a', b'a'), (b'0', b'9')]]);
        check("a*", &[]);
        check("^$", &[]);
        check("(x|y?)", &[]);
        check("[ä-ü]", &[&[(0x80, 0xff)]]);
    }

    #[test]
    fn a_text_without_it_does_not_match() {
        let long = |text: &str| "-".repeat(LONG) + text;
        for pattern in ["ab+c", "[a-f]+[0-9]", "(?i)Z", "x|yy|[ß-ü]", r"\d{3}", "(a|b)(c|d)", "é", "K"] {
            for text in ["", "abc", "f7", "z", "Z", "y", "yy", "ü", "12", "123", "bd", "é", "k", "\u{212a}"] {
                for any_case in [false, true] {
                    let regex = RegexBuilder::new(pattern).case_insensitive(any_case).build();
                    let matches = regex.is_ok_and(|regex| regex.is_match(&long(text)));
                    let missing = Needed::of(pattern, any_case).is_missing(&long(text));
                    assert!(!(matches && missing), "{pattern} in {text}");
                }
            }
        }
    }
}
