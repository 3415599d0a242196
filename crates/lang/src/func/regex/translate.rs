//! From RE2 syntax, as users write it, to the syntax of the `regex` crate, which differs in classes, flags, escapes and limits.
//!
//! All flags are resolved here, so that what comes out has none: every folded literal is `(?i:x)`, every `^` is `\A` or `(?m:^)`.
//! Errors carry RE2's wording.

use std::fmt::Write as _;

use super::class::{parse_class, parse_class_escape, parse_escape, write_char};

/// Copies of one atom that nested counted repetitions may ask for.
const MAX_REPEAT: u32 = 1000;
/// How deep groups may nest.
const MAX_DEPTH: usize = 1000;

/// A pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PatternError {
    /// What is wrong.
    pub(super) problem: &'static str,
    /// The part of the pattern that is.
    pub(super) part: String,
}

impl PatternError {
    pub(super) fn new(problem: &'static str, part: &str) -> Self {
        Self { problem, part: part.to_owned() }
    }
}

/// A translated pattern and its groups.
#[derive(Debug)]
pub(super) struct Translated {
    /// In the syntax of the `regex` crate.
    pub(super) pattern: String,
    /// In the order of their opening parentheses.
    pub(super) groups: Vec<CaptureGroup>,
}

/// A group that the user wrote.
#[derive(Debug)]
pub(super) struct CaptureGroup {
    /// Its number in the translated pattern, which may have more groups than the user wrote.
    pub(super) number: usize,
    /// Its name, if it has one.
    pub(super) name: Option<String>,
}

/// The flags that are in force at some point.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    /// `i`
    pub(super) fold: bool,
    multi_line: bool,
    dot_all: bool,
    lazy: bool,
}

/// Where the last complete part of a sequence begins, and how often it repeats what is in it.
#[derive(Clone, Copy)]
struct Atom {
    start: usize,
    copies: u32,
    repeated: bool,
}

/// One side of a `|`, or all there is.
#[derive(Clone, Copy, Default)]
struct Branch {
    start: usize,
    /// How many groups were opened before it.
    groups_before: usize,
    /// Whether there is another side.
    has_siblings: bool,
    /// Whether anything in it may match texts of several lengths by repeating.
    variable: bool,
}

struct Group {
    start: usize,
    flags_before: Flags,
    copies_before: u32,
    branch_before: Branch,
}

/// A group of the translated pattern. Hidden ones are not the user's.
enum Opened {
    Hidden,
    Plain,
    Named(String),
}

struct Translator<'a> {
    whole: &'a str,
    rest: &'a str,
    out: String,
    flags: Flags,
    groups: Vec<Group>,
    last: Option<Atom>,
    /// The largest repetition in the innermost open group.
    copies: u32,
    branch: Branch,
    opened: Vec<Opened>,
}

/// Translates a pattern.
pub(super) fn translate(pattern: &str) -> Result<Translated, PatternError> {
    let mut translator = Translator {
        whole: pattern,
        rest: pattern,
        out: String::with_capacity(pattern.len() * 2),
        flags: Flags::default(),
        groups: Vec::new(),
        last: None,
        copies: 1,
        branch: Branch::default(),
        opened: Vec::new(),
    };
    let mut last_repeat: Option<&str> = None;
    while let Some(c) = translator.rest.chars().next() {
        last_repeat = translator.step(c, last_repeat)?;
    }
    if !translator.groups.is_empty() {
        return Err(PatternError::new("missing closing )", pattern));
    }
    translator.end_branch();
    let numbered = translator.opened.into_iter().enumerate();
    let groups = numbered.filter_map(|(at, opened)| match opened {
        Opened::Hidden => None,
        Opened::Plain => Some(CaptureGroup { number: at + 1, name: None }),
        Opened::Named(name) => Some(CaptureGroup { number: at + 1, name: Some(name) }),
    });
    Ok(Translated { pattern: translator.out, groups: groups.collect() })
}

impl<'a> Translator<'a> {
    /// Takes one piece of syntax. Gives where a repetition began, if it was one.
    fn step(&mut self, c: char, last_repeat: Option<&'a str>) -> Result<Option<&'a str>, PatternError> {
        let before = self.rest;
        match c {
            '(' => self.open_group()?,
            ')' => self.close_group()?,
            '|' => {
                self.skip(1);
                self.branch.has_siblings = true;
                self.end_branch();
                self.out.push('|');
                self.last = None;
                self.start_branch(true);
            }
            '^' => self.anchor(1, if self.flags.multi_line { "(?m:^)" } else { r"\A" }),
            '$' => self.anchor(1, if self.flags.multi_line { "(?m:$)" } else { r"\z" }),
            '.' => self.anchor(1, if self.flags.dot_all { "(?s:.)" } else { r"[^\n]" }),
            '[' => {
                let (class, rest) = parse_class(before, self.flags)?;
                self.rest = rest;
                self.atom(&class);
            }
            '*' => return self.repeat(0, None, &before[1..], last_repeat).map(Some),
            '+' => return self.repeat(1, None, &before[1..], last_repeat).map(Some),
            '?' => return self.repeat(0, Some(1), &before[1..], last_repeat).map(Some),
            '{' => match parse_counts(before) {
                None => self.literal(c),
                Some((counts, after)) => {
                    let written = &before[..before.len() - after.len()];
                    let (min, max) = counts.ok_or_else(|| PatternError::new("invalid repeat count", written))?;
                    return self.repeat(min, max, after, last_repeat).map(Some);
                }
            },
            '\\' => self.escape()?,
            _ => self.literal(c),
        }
        Ok(None)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn atom(&mut self, text: &str) {
        self.last = Some(Atom { start: self.out.len(), copies: 1, repeated: false });
        self.out.push_str(text);
    }

    fn anchor(&mut self, bytes: usize, text: &str) {
        self.skip(bytes);
        self.atom(text);
    }

    fn literal(&mut self, c: char) {
        self.skip(c.len_utf8());
        self.code_point(c as u32);
    }

    fn code_point(&mut self, code: u32) {
        let mut text = String::new();
        if self.flags.fold {
            text.push_str("(?i:");
        }
        write_char(&mut text, code);
        if self.flags.fold {
            text.push(')');
        }
        self.atom(&text);
    }

    fn escape(&mut self) -> Result<(), PatternError> {
        match self.rest.as_bytes().get(1) {
            Some(b'A') => self.anchor(2, r"\A"),
            Some(b'z') => self.anchor(2, r"\z"),
            Some(b'b') => self.anchor(2, r"(?-u:\b)"),
            Some(b'B') => self.anchor(2, r"(?-u:\B)"),
            Some(b'C') => return Err(PatternError::new("invalid escape sequence", r"\C")),
            Some(b'Q') => {
                let quoted = &self.rest[2..];
                let (literal, rest) = quoted.split_once("\\E").unwrap_or((quoted, ""));
                for c in literal.chars() {
                    self.code_point(c as u32);
                }
                self.rest = rest;
            }
            _ => {
                if let Some((class, rest)) = parse_class_escape(self.rest)? {
                    self.rest = rest;
                    let fold = if self.flags.fold { "(?i:" } else { "(?:" };
                    self.atom(&format!("{fold}{class})"));
                } else {
                    let (code, rest) = parse_escape(self.rest)?;
                    self.rest = rest;
                    self.code_point(code);
                }
            }
        }
        Ok(())
    }

    /// Repeats the last atom. `after` is what follows the operator itself.
    fn repeat(
        &mut self,
        min: u32,
        max: Option<u32>,
        after: &'a str,
        last_repeat: Option<&'a str>,
    ) -> Result<&'a str, PatternError> {
        let before = self.rest;
        let mut lazy = self.flags.lazy;
        let mut after = after;
        if let Some(rest) = after.strip_prefix('?') {
            after = rest;
            lazy = !lazy;
        }
        let written = &before[..before.len() - after.len()];
        if let Some(first) = last_repeat {
            return Err(PatternError::new("invalid nested repetition operator", &first[..first.len() - after.len()]));
        }
        let Some(atom) = self.last else {
            return Err(PatternError::new("missing argument to repetition operator", written));
        };
        let counted = before.starts_with('{');
        let times = if counted { max.unwrap_or(min).max(1) } else { 1 };
        let copies = atom.copies.saturating_mul(times);
        if counted && (min >= 2 || max.is_some_and(|max| max >= 2)) && copies > MAX_REPEAT {
            return Err(PatternError::new("invalid repeat count", written));
        }
        if atom.repeated {
            // `a*` followed by `?` would turn lazy instead of being repeated.
            self.out.insert_str(atom.start, "(?:");
            self.out.push(')');
        }
        match (counted, min, max) {
            (false, 0, None) => self.out.push('*'),
            (false, 1, None) => self.out.push('+'),
            (false, ..) => self.out.push('?'),
            (true, min, max) => {
                let max = max.map_or(String::new(), |max| max.to_string());
                // Writing to a String cannot fail.
                let _ = write!(self.out, "{{{min},{max}}}");
            }
        }
        if lazy {
            self.out.push('?');
        }
        self.last = Some(Atom { copies, repeated: true, ..atom });
        self.copies = self.copies.max(copies);
        self.branch.variable |= max != Some(min);
        self.rest = after;
        Ok(before)
    }

    fn open_group(&mut self) -> Result<(), PatternError> {
        if self.groups.len() >= MAX_DEPTH {
            return Err(PatternError::new("expression nests too deeply", self.whole));
        }
        let before = self.rest;
        if before.starts_with("(?P<") && before.len() > 4 {
            return self.named_group(4);
        }
        if before.starts_with("(?<") && before.len() > 3 {
            return self.named_group(3);
        }
        if before.starts_with("(?") {
            return self.flags_or_group();
        }
        self.skip(1);
        self.opened.push(Opened::Plain);
        self.enter("(", self.flags);
        Ok(())
    }

    fn enter(&mut self, text: &str, inside: Flags) {
        self.groups.push(Group {
            start: self.out.len(),
            flags_before: self.flags,
            copies_before: self.copies,
            branch_before: self.branch,
        });
        self.out.push_str(text);
        self.flags = inside;
        self.last = None;
        self.copies = 1;
        self.start_branch(false);
    }

    fn start_branch(&mut self, has_siblings: bool) {
        let groups_before = self.opened.len();
        self.branch = Branch { start: self.out.len(), groups_before, has_siblings, variable: false };
    }

    /// Hides a branch in a group of its own where the crate would otherwise merge what branches have in common, which
    /// changes the order of preference: `a.*?c|a.*?b` is not `a.*?(c|b)`.
    fn end_branch(&mut self) {
        let branch = self.branch;
        if branch.has_siblings && branch.variable {
            self.out.insert(branch.start, '(');
            self.out.push(')');
            self.opened.insert(branch.groups_before, Opened::Hidden);
        }
    }

    fn close_group(&mut self) -> Result<(), PatternError> {
        let Some(group) = self.groups.pop() else {
            return Err(PatternError::new("unexpected )", self.whole));
        };
        self.skip(1);
        self.end_branch();
        self.out.push(')');
        self.branch = Branch { variable: self.branch.variable || group.branch_before.variable, ..group.branch_before };
        self.flags = group.flags_before;
        self.last = Some(Atom { start: group.start, copies: self.copies, repeated: false });
        self.copies = self.copies.max(group.copies_before);
        Ok(())
    }

    fn named_group(&mut self, name_start: usize) -> Result<(), PatternError> {
        let Some(end) = self.rest.find('>') else {
            return Err(PatternError::new("invalid named capture", self.rest));
        };
        let name = &self.rest[name_start..end];
        if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
            return Err(PatternError::new("invalid named capture", &self.rest[..=end]));
        }
        self.opened.push(Opened::Named(name.to_owned()));
        self.skip(end + 1);
        self.enter("(", self.flags);
        Ok(())
    }

    /// `(?flags)` or `(?flags:`
    fn flags_or_group(&mut self) -> Result<(), PatternError> {
        let before = self.rest;
        let mut flags = self.flags;
        let (mut value, mut seen) = (true, false);
        let mut end = 2;
        for c in before[2..].chars() {
            end += c.len_utf8();
            match c {
                'i' => (flags.fold, seen) = (value, true),
                'm' => (flags.multi_line, seen) = (value, true),
                's' => (flags.dot_all, seen) = (value, true),
                'U' => (flags.lazy, seen) = (value, true),
                '-' if value => (value, seen) = (false, false),
                ':' | ')' if value || seen => {
                    self.skip(end);
                    if c == ':' {
                        self.enter("(?:", flags);
                    } else {
                        self.flags = flags;
                    }
                    return Ok(());
                }
                _ => break,
            }
        }
        Err(PatternError::new("invalid or unsupported Perl syntax", &before[..end]))
    }
}

type Counts = (u32, Option<u32>);

/// `{n}`, `{n,}` or `{n,m}`, and what follows. None if it is no repetition; no counts if they are out of range.
fn parse_counts(text: &str) -> Option<(Option<Counts>, &str)> {
    let (min, rest) = parse_count(text.strip_prefix('{')?)?;
    if let Some(after) = rest.strip_prefix('}') {
        return Some((min.map(|min| (min, Some(min))), after));
    }
    let rest = rest.strip_prefix(',')?;
    if let Some(after) = rest.strip_prefix('}') {
        return Some((min.map(|min| (min, None)), after));
    }
    let (max, rest) = parse_count(rest)?;
    let after = rest.strip_prefix('}')?;
    let counts = match (min, max) {
        (Some(min), Some(max)) if min <= max => Some((min, Some(max))),
        _ => None,
    };
    Some((counts, after))
}

/// Decimal digits without leading zeros. No number if it is too large.
fn parse_count(text: &str) -> Option<(Option<u32>, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some((digits.parse().ok().filter(|count| *count <= MAX_REPEAT), rest))
}
