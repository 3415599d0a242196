//! Where in a configuration a place is: in a text, in a heredoc, in a comment, or among expressions. The text of the template is
//! followed as HCL would read it; values never change where we are.

use std::fmt::Write as _;

use serde_json::Value as Json;

/// Where a place is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// Among expressions and blocks. With how many brackets open, if it is inside of `${…}`.
    Code(Option<usize>),
    /// In a quoted text.
    Text,
    /// In a heredoc that ends with this word.
    Heredoc(String),
    /// Up to the end of the line.
    LineComment,
    /// Up to `*/`.
    BlockComment,
}

/// Follows a text.
pub(super) struct Context {
    places: Vec<Place>,
    /// The line so far, for heredocs.
    line: String,
    /// Whether a value has taken part in that line.
    has_value: bool,
    /// Whether a value is what came last.
    after_value: bool,
}

impl Context {
    pub(super) fn new() -> Self {
        Self { places: vec![Place::Code(None)], line: String::new(), has_value: false, after_value: false }
    }

    fn place(&self) -> Place {
        self.places.last().cloned().unwrap_or(Place::Code(None))
    }

    fn leave(&mut self) {
        if self.places.len() > 1 {
            self.places.pop();
        }
    }

    /// Goes on over text of the template; or says why it would mean something else with the values that stand before it.
    pub(super) fn read(&mut self, text: &str) -> Result<(), String> {
        if self.after_value && matches!(self.place(), Place::Text | Place::Heredoc(_)) {
            let sign = self.line.chars().last().filter(|last| SIGNS.contains(last));
            let rest = sign.map(|sign| text.strip_prefix(sign).unwrap_or(text));
            if rest.is_some_and(|rest| rest.starts_with('{')) {
                return Err("a value that ends with \"$\" or \"%\" cannot stand right before \"{\"".to_owned());
            }
        }
        self.after_value = false;
        let characters: Vec<char> = text.chars().collect();
        let mut at = 0;
        while at < characters.len() {
            if let (Place::Heredoc(word), '\n') = (self.place(), characters[at])
                && self.has_value
                && self.line.trim() == word
            {
                return Err(ended(&word));
            }
            at += self.step(&characters[at..]);
        }
        Ok(())
    }

    /// Goes over what comes first. Gives how many characters that is.
    fn step(&mut self, rest: &[char]) -> usize {
        let begins = |text: &str| text.chars().enumerate().all(|(at, wanted)| rest.get(at) == Some(&wanted));
        let taken = match self.place() {
            Place::Text => self.in_text(rest, begins),
            Place::Heredoc(word) => self.in_heredoc(rest, &word, begins),
            Place::LineComment => {
                if rest[0] == '\n' {
                    self.leave();
                }
                1
            }
            Place::BlockComment => {
                if begins("*/") {
                    self.leave();
                    2
                } else {
                    1
                }
            }
            Place::Code(depth) => self.in_code(rest, depth, begins),
        };
        for character in &rest[..taken.min(rest.len())] {
            if *character == '\n' {
                self.line.clear();
                self.has_value = false;
            } else {
                self.line.push(*character);
            }
        }
        taken
    }

    fn in_text(&mut self, rest: &[char], begins: impl Fn(&str) -> bool) -> usize {
        if begins("$${") || begins("%%{") {
            return 3;
        }
        if begins("${") || begins("%{") {
            self.places.push(Place::Code(Some(0)));
            return 2;
        }
        match rest[0] {
            '\\' => 2,
            '"' => {
                self.leave();
                1
            }
            _ => 1,
        }
    }

    fn in_heredoc(&mut self, rest: &[char], word: &str, begins: impl Fn(&str) -> bool) -> usize {
        if rest[0] == '\n' {
            if self.line.trim() == word {
                self.leave();
            }
            return 1;
        }
        if begins("$${") || begins("%%{") {
            return 3;
        }
        if begins("${") || begins("%{") {
            self.places.push(Place::Code(Some(0)));
            return 2;
        }
        1
    }

    fn in_code(&mut self, rest: &[char], depth: Option<usize>, begins: impl Fn(&str) -> bool) -> usize {
        if begins("//") || rest[0] == '#' {
            self.places.push(Place::LineComment);
            return 1;
        }
        if begins("/*") {
            self.places.push(Place::BlockComment);
            return 2;
        }
        if begins("<<") {
            let start = if begins("<<-") { 3 } else { 2 };
            let word: String =
                rest[start..].iter().take_while(|at| at.is_alphanumeric() || "_-".contains(**at)).collect();
            let end = start + word.chars().count();
            if !word.is_empty() && rest.get(end) == Some(&'\n') {
                self.places.push(Place::Heredoc(word));
                return end + 1;
            }
            return 1;
        }
        match (rest[0], depth) {
            ('"', _) => self.places.push(Place::Text),
            ('{', Some(open)) => self.set_depth(open + 1),
            ('}', Some(0)) => self.leave(),
            ('}', Some(open)) => self.set_depth(open - 1),
            _ => {}
        }
        1
    }

    fn set_depth(&mut self, open: usize) {
        if let Some(last) = self.places.last_mut() {
            *last = Place::Code(Some(open));
        }
    }

    /// How a value is written here; or why it cannot be.
    pub(super) fn write(&mut self, value: &Json) -> Result<String, String> {
        let before = self.line.chars().last();
        let written = match self.place() {
            Place::Code(_) => literal(value),
            Place::Text => escaped(&plain(value), before),
            Place::Heredoc(word) => self.in_lines(&plain(value), &word)?,
            Place::LineComment | Place::BlockComment => in_comment(&plain(value), before),
        };
        // A sign before it must not make something of it.
        if before.is_some_and(|before| SIGNS.contains(&before)) && written.starts_with('{') {
            return Err("a value cannot stand right behind \"$\" or \"%\"".to_owned());
        }
        if let Some((_, last)) = written.rsplit_once('\n') {
            last.clone_into(&mut self.line);
        } else {
            self.line.push_str(&written);
        }
        (self.has_value, self.after_value) = (true, true);
        Ok(written)
    }

    /// A value among the lines of a heredoc, where nothing can be escaped but the beginning of `${…}`.
    fn in_lines(&self, text: &str, word: &str) -> Result<String, String> {
        let whole = format!("{}{text}", self.line);
        let is_end = |line: &str| line.trim() == word;
        let is_one_line = !text.contains('\n');
        let mut complete = whole.split('\n').rev().skip(usize::from(!is_one_line));
        if complete.any(is_end) {
            return Err(ended(word));
        }
        let from = self.line.len().saturating_sub(1);
        if SIGNS.iter().any(|sign| whole[from..].contains(&format!("{sign}{sign}{{"))) {
            return Err(format!("a value with \"$${{\" or \"%%{{\" cannot stand in the text that {word} ends"));
        }
        Ok(text.replace("${", "$${").replace("%{", "%%{"))
    }
}

/// What makes something of a bracket behind it.
const SIGNS: [char; 2] = ['$', '%'];

fn ended(word: &str) -> String {
    format!("a value would end the text that {word} ends")
}

/// A value in a comment ends neither the line nor the comment.
fn in_comment(text: &str, before: Option<char>) -> String {
    let inside = text.replace(['\n', '\r'], " ").replace("*/", "* /");
    let gap = if before == Some('*') && inside.starts_with('/') { " " } else { "" };
    let end = if inside.ends_with('*') { " " } else { "" };
    format!("{gap}{inside}{end}")
}

/// A value inside of a text.
fn plain(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value as an expression.
fn literal(value: &Json) -> String {
    match value {
        Json::String(text) => format!("\"{}\"", escaped(text, None)),
        Json::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Json::Object(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("\"{}\" = {}", escaped(key, None), literal(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// The inside of a quoted text, behind `before`.
fn escaped(text: &str, before: Option<char>) -> String {
    let mut written = String::with_capacity(text.len());
    let mut previous = before;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            // Doubled it means itself; but not behind another one, so that it has to be written otherwise there.
            sign if SIGNS.contains(&sign) && rest.peek() == Some(&'{') => {
                if previous == Some(sign) {
                    let _ = write!(written, "\\u{:04X}", u32::from(sign));
                } else {
                    written.extend([sign, sign]);
                }
            }
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            control if control.is_control() => {
                let _ = write!(written, "\\u{:04X}", u32::from(control));
            }
            other => written.push(other),
        }
        previous = Some(character);
    }
    written
}
