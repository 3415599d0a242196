//! Finding files by a pattern: `*` and `?` within a part of a path, `**` for any number of parts, `[a-z]`, `{a,b}`, `\` to escape.

use std::path::Path;

use crate::environment::{Environment, FileKind};

/// How many files and directories are looked at before giving up.
const MAX_VISITED: usize = 1_000_000;
/// How many patterns one with braces may stand for.
const MAX_ALTERNATIVES: usize = 10_000;
/// How deep `**` goes. Links may lead in circles.
const MAX_DEPTH: usize = 256;

const SYNTAX: &str = "syntax error in pattern";

/// The regular files that match. The pattern is a path without detours.
pub(super) fn find_files(environment: &dyn Environment, pattern: &str) -> Result<Vec<String>, String> {
    let mut search = Search { environment, visited: 0, found: Vec::new() };
    let mut alternatives = Vec::new();
    expand_braces(pattern, &mut alternatives)?;
    for alternative in &alternatives {
        let (start, rest) = match alternative.strip_prefix('/') {
            Some(rest) => ("/", rest),
            None => ("", alternative.as_str()),
        };
        let parts = rest.split('/').filter(|part| !part.is_empty()).map(Part::parse).collect::<Result<Vec<_>, _>>()?;
        search.directory(start, &parts, 0)?;
    }
    Ok(search.found)
}

/// A part of a path.
enum Part {
    Exactly(String),
    AnyDepth,
    Like(Vec<Token>),
}

/// What one or more characters may be.
enum Token {
    Char(char),
    One,
    Many,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl Part {
    fn parse(text: &str) -> Result<Part, String> {
        if text == "**" {
            return Ok(Part::AnyDepth);
        }
        // Where nothing stands for anything else, a backslash is a backslash.
        if !text.contains(['*', '?', '[', '{']) {
            return Ok(Part::Exactly(text.to_owned()));
        }
        let mut tokens = Vec::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            tokens.push(match c {
                '*' => Token::Many,
                '?' => Token::One,
                '\\' => Token::Char(chars.next().ok_or(SYNTAX)?),
                '[' => parse_class(&mut chars)?,
                _ => Token::Char(c),
            });
        }
        let literal: Option<String> =
            tokens.iter().map(|token| if let Token::Char(c) = token { Some(*c) } else { None }).collect();
        Ok(literal.map_or(Part::Like(tokens), Part::Exactly))
    }
}

fn parse_class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Token, String> {
    let negated = chars.next_if(|c| matches!(c, '^' | '!')).is_some();
    let mut ranges = Vec::new();
    loop {
        let low = match chars.next().ok_or(SYNTAX)? {
            ']' if !ranges.is_empty() => return Ok(Token::Class { negated, ranges }),
            '\\' => chars.next().ok_or(SYNTAX)?,
            ']' => return Err(SYNTAX.into()),
            c => c,
        };
        let mut high = low;
        if chars.next_if_eq(&'-').is_some() {
            high = match chars.next().ok_or(SYNTAX)? {
                '\\' => chars.next().ok_or(SYNTAX)?,
                ']' | '-' => return Err(SYNTAX.into()),
                c => c,
            };
        }
        ranges.push((low, high));
    }
}

/// Whether a name fits. Goes back to the last `*` only, which is enough.
fn fits(tokens: &[Token], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut token, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let advanced = match tokens.get(token) {
            Some(Token::Many) => {
                retry = Some((token, at));
                token += 1;
                continue;
            }
            None if at == name.len() => return true,
            None => false,
            Some(expected) => name.get(at).is_some_and(|c| expected.matches(*c)),
        };
        if advanced {
            token += 1;
            at += 1;
            continue;
        }
        match retry {
            Some((star, from)) if from < name.len() => {
                retry = Some((star, from + 1));
                token = star + 1;
                at = from + 1;
            }
            _ => return false,
        }
    }
}

impl Token {
    fn matches(&self, c: char) -> bool {
        match self {
            Token::Char(expected) => *expected == c,
            Token::One | Token::Many => true,
            Token::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        }
    }
}

struct Search<'a> {
    environment: &'a dyn Environment,
    visited: usize,
    found: Vec<String>,
}

impl Search<'_> {
    /// Looks in a directory for what the parts describe. Directories that cannot be read have nothing in them.
    fn directory(&mut self, directory: &str, parts: &[Part], depth: usize) -> Result<(), String> {
        let Some((first, rest)) = parts.split_first() else { return Ok(()) };
        match first {
            Part::Exactly(name) => {
                let path = child(directory, name);
                if let Ok(Some(kind)) = self.environment.file_kind(Path::new(&path)) {
                    self.entry(path, kind, rest, depth)?;
                }
            }
            Part::Like(tokens) => {
                for (name, kind) in self.list(directory)? {
                    if fits(tokens, &name) {
                        self.entry(child(directory, &name), kind, rest, depth)?;
                    }
                }
            }
            Part::AnyDepth if depth >= MAX_DEPTH => {}
            Part::AnyDepth => {
                self.directory(directory, rest, depth)?;
                for (name, kind) in self.list(directory)? {
                    let path = child(directory, &name);
                    match kind {
                        FileKind::Directory => self.directory(&path, parts, depth + 1)?,
                        FileKind::File if rest.is_empty() => self.found.push(path),
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: String, kind: FileKind, rest: &[Part], depth: usize) -> Result<(), String> {
        match kind {
            FileKind::File if rest.is_empty() => self.found.push(path),
            FileKind::Directory if !rest.is_empty() => self.directory(&path, rest, depth + 1)?,
            _ => {}
        }
        Ok(())
    }

    fn list(&mut self, directory: &str) -> Result<Vec<(String, FileKind)>, String> {
        let place = if directory.is_empty() { "." } else { directory };
        let Ok(mut entries) = self.environment.read_dir(Path::new(place)) else { return Ok(Vec::new()) };
        self.visited += entries.len() + 1;
        if self.visited > MAX_VISITED {
            return Err(format!("more than {MAX_VISITED} files and directories to look at"));
        }
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(entries)
    }
}

fn child(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_owned(),
        "/" => format!("/{name}"),
        _ => format!("{directory}/{name}"),
    }
}

/// All patterns that one with braces stands for.
fn expand_braces(pattern: &str, out: &mut Vec<String>) -> Result<(), String> {
    let mut waiting = vec![pattern.to_owned()];
    while let Some(pattern) = waiting.pop() {
        let Some((open, close, commas)) = first_braces(&pattern)? else {
            out.push(pattern);
            continue;
        };
        let mut start = open + 1;
        for end in commas.into_iter().chain([close]) {
            waiting.push(format!("{}{}{}", &pattern[..open], &pattern[start..end], &pattern[close + 1..]));
            start = end + 1;
        }
        if waiting.len() + out.len() > MAX_ALTERNATIVES {
            return Err(format!("pattern stands for more than {MAX_ALTERNATIVES} others"));
        }
    }
    Ok(())
}

/// Where the first pair of braces is, and the commas directly inside.
fn first_braces(pattern: &str) -> Result<Option<(usize, usize, Vec<usize>)>, String> {
    let mut open = None;
    let mut commas = Vec::new();
    let (mut depth, mut in_class) = (0, false);
    let mut chars = pattern.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            _ if in_class => {}
            '{' => {
                depth += 1;
                open = open.or(Some(at));
            }
            ',' if depth == 1 => commas.push(at),
            '}' if depth > 0 => {
                depth -= 1;
                if let (0, Some(open)) = (depth, open) {
                    return Ok(Some((open, at, commas)));
                }
            }
            '}' => return Err(SYNTAX.into()),
            _ => {}
        }
    }
    if depth > 0 { Err(SYNTAX.into()) } else { Ok(None) }
}
