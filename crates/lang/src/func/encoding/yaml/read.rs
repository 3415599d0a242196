//! From the events of the parser to values. Nesting takes no stack: a document may be as deep as the limit allows.

use std::borrow::Cow;
use std::collections::BTreeMap;

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle, Tag, YamlVersion, options};
use groma_model::convert::convert;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind, go_quote};

use super::super::super::FunctionError;
use super::super::super::support::Outcome;
use super::{MAX_DEPTH, MAX_NODES, layout, resolve};

/// The only version that a document may ask for.
const YAML_VERSION: YamlVersion = YamlVersion::new(1, 1);

/// Comments without a space before them that are tolerated.
const MAX_GLUED_COMMENTS: usize = 100;

/// Reads a document.
pub(super) fn document(source: &str) -> Outcome {
    layout::check_start(source)?;
    let mut source = Cow::Borrowed(source);
    for _ in 0..MAX_GLUED_COMMENTS {
        let mut reader = Reader::new(&source);
        let outcome = reader.document();
        let Some(at) = reader.glued_comment else { return outcome };
        // Other tools do not mind a comment right after a quoted text. The parser does, so it gets a space to see.
        source.to_mut().insert(at, ' ');
    }
    Reader::new(&source).document()
}

/// An event and where it is.
type Located<'a> = (Event<'a>, Span);

struct Reader<'a> {
    source: &'a str,
    parser: Parser<'a, StrInput<'a>>,
    /// What anchors stand for; nothing while that is still being read.
    anchors: BTreeMap<usize, Option<Value>>,
    nodes: u64,
    /// Whether each collection that is open is in brackets.
    flow: Vec<bool>,
    /// Collections that are being read, from the outermost.
    open: Vec<Collection>,
    /// Where the last event ended.
    end: usize,
    /// Where the parser stopped because a comment comes without a space before it.
    glued_comment: Option<usize>,
}

/// A collection of which the end has not been seen.
struct Collection {
    anchor: usize,
    contents: Contents,
}

enum Contents {
    Sequence(Vec<Value>),
    Mapping { entries: Vec<(String, Value)>, key: Option<Key> },
}

/// What the next value in a mapping belongs to.
enum Key {
    Name(String),
    /// The value is to be merged into the mapping.
    Merge(Span),
}

impl<'a> Reader<'a> {
    fn new(source: &'a str) -> Self {
        let options = options! {
            emit_unresolved_aliases: true,
            emit_comments: false,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        };
        Self {
            source,
            parser: Parser::new_from_str_with_options(source, options),
            anchors: BTreeMap::new(),
            nodes: 0,
            flow: Vec::new(),
            open: Vec::new(),
            end: 0,
            glued_comment: None,
        }
    }

    fn document(&mut self) -> Outcome {
        self.next()?;
        match self.next()? {
            (Event::DocumentStart(_, version), _) if version.is_none_or(|version| version == YAML_VERSION) => {}
            (Event::DocumentStart(..), _) => return Err(FunctionError::new("found incompatible YAML document")),
            _ => return Err(FunctionError::new("on line 1, column 1: missing start of document")),
        }
        let value = self.root()?;
        self.next()?;
        match self.next()? {
            (Event::StreamEnd, _) => Ok(value),
            (_, span) => Err(located(span, "unexpected extra content after value")),
        }
    }

    fn root(&mut self) -> Outcome {
        loop {
            let event = self.next()?;
            let Some(value) = self.event(event)? else { continue };
            match self.open.last_mut() {
                None => return Ok(value),
                Some(collection) => collection.add(value)?,
            }
        }
    }

    /// Takes an event. Gives the value that it completes, if it does.
    fn event(&mut self, (event, span): Located<'a>) -> Result<Option<Value>, FunctionError> {
        if let Some(Collection { contents: Contents::Mapping { key: key @ None, .. }, .. }) = self.open.last_mut()
            && !matches!(event, Event::MappingEnd)
        {
            *key = Some(read_key(&event, span)?);
            return Ok(None);
        }
        self.nodes += 1;
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_deref().map(full_tag);
                (scalar(&text, style, tag.as_deref()).map_err(|problem| located(span, problem))?, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                check_tag(tag.as_deref().map(full_tag), "seq", "sequence", span)?;
                self.enter(anchor, Contents::Sequence(Vec::new()));
                return Ok(None);
            }
            Event::MappingStart(_, anchor, tag) => {
                check_tag(tag.as_deref().map(full_tag), "map", "mapping", span)?;
                self.enter(anchor, Contents::Mapping { entries: Vec::new(), key: None });
                return Ok(None);
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(collection) => (collection.contents.finish(), collection.anchor),
                None => return Err(located(span, "expecting value but found end of collection")),
            },
            Event::Alias(id) => return self.alias(id, span).map(Some),
            Event::UnresolvedAlias(name) => return Err(undefined(&name, span)),
            Event::DocumentStart(..) => return Err(located(span, "only a single document is allowed")),
            _ => return Err(located(span, "expecting value but found end of stream")),
        };
        if anchor != 0 {
            self.anchors.insert(anchor, Some(value.clone()));
        }
        Ok(Some(value))
    }

    fn enter(&mut self, anchor: usize, contents: Contents) {
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        self.open.push(Collection { anchor, contents });
    }

    fn alias(&mut self, id: usize, span: Span) -> Outcome {
        let name = || span.slice(self.source).unwrap_or_default().trim_start_matches('*');
        let value = match self.anchors.get(&id) {
            Some(Some(value)) => value.clone(),
            Some(None) => {
                let name = go_quote(name());
                return Err(located(span, format!("cannot refer to anchor {name} from inside its own definition")));
            }
            None => return Err(undefined(name(), span)),
        };
        // A few lines of aliases to aliases can stand for more values than there are atoms.
        self.nodes = self.nodes.saturating_add(value.node_count());
        if self.nodes > MAX_NODES {
            return Err(located(span, format!("aliases stand for too much: more than {MAX_NODES} values")));
        }
        Ok(value)
    }

    fn next(&mut self) -> Result<Located<'a>, FunctionError> {
        loop {
            match self.parser.next() {
                Some(Ok((Event::Anchor(..), _))) => {}
                Some(Ok((event, span))) => {
                    self.check_gap(&event, span)?;
                    return Ok((self.without_added_break(event, span), span));
                }
                Some(Err(error)) => {
                    if error.info().contains("comments must be separated") {
                        self.glued_comment = error.marker().byte_offset();
                    }
                    return Err(syntax_error(&error));
                }
                None => return Ok((Event::StreamEnd, Span::default())),
            }
        }
    }

    /// Looks at what lies between the last event and this one: outside of brackets, tabs do not belong everywhere. The
    /// parser is not as strict.
    fn check_gap(&mut self, event: &Event<'_>, span: Span) -> Result<(), FunctionError> {
        let after_root = self.flow.is_empty() && matches!(event, Event::DocumentEnd | Event::StreamEnd);
        let in_flow = self.flow.last() == Some(&true);
        match event {
            Event::SequenceStart(style, ..) | Event::MappingStart(style, ..) => {
                self.flow.push(*style == StructureStyle::Flow);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.flow.pop();
            }
            _ => {}
        }
        let Some(range) = span.byte_range() else { return Ok(()) };
        let (start, end) = (self.end, range.start);
        self.end = self.end.max(range.end);
        if in_flow || after_root || start >= end {
            return Ok(());
        }
        layout::check_tabs(self.source, start, end)?;
        match event {
            Event::Scalar(text, ScalarStyle::Literal | ScalarStyle::Folded, ..) => {
                layout::check_block(self.source, start, end, text)
            }
            _ => Ok(()),
        }
    }

    /// A block at the end of a document that does not end with a line break does not end with one, either.
    fn without_added_break(&self, event: Event<'a>, span: Span) -> Event<'a> {
        let at_end = || {
            let last_line = self.source.rsplit('\n').next().unwrap_or_default();
            span.byte_range().is_some_and(|range| range.end >= self.source.len()) && last_line.contains(|c| c != ' ')
        };
        match event {
            Event::Scalar(text, style @ (ScalarStyle::Literal | ScalarStyle::Folded), anchor, tag)
                if text.ends_with('\n') && at_end() =>
            {
                Event::Scalar(text[..text.len() - 1].to_owned().into(), style, anchor, tag)
            }
            event => event,
        }
    }
}

impl Collection {
    /// Adds a value that has been read in full.
    fn add(&mut self, value: Value) -> Result<(), FunctionError> {
        match &mut self.contents {
            Contents::Sequence(items) => items.push(value),
            Contents::Mapping { entries, key } => match key.take() {
                Some(Key::Name(name)) => entries.push((name, value)),
                Some(Key::Merge(span)) => merge(&value, entries, span)?,
                None => {}
            },
        }
        Ok(())
    }
}

impl Contents {
    fn finish(self) -> Value {
        match self {
            Contents::Sequence(items) => Value::tuple(items),
            Contents::Mapping { entries, .. } => Value::object(entries),
        }
    }
}

/// A key. Anchors on keys name nothing.
fn read_key(event: &Event<'_>, span: Span) -> Result<Key, FunctionError> {
    let Event::Scalar(text, style, _, tag) = event else {
        return Err(located(span, "only strings are allowed as mapping keys"));
    };
    let tag = tag.as_deref().map(full_tag);
    if (tag.is_none() && text == "<<") || tag.as_deref() == Some(resolve::MERGE) {
        return Ok(Key::Merge(span));
    }
    let key = resolve::scalar(text, *style, tag.as_deref()).map_err(FunctionError::new)?;
    let key = convert(&key, &Type::String).map_err(|_| located(span, "only strings are allowed as mapping keys"))?;
    match key.as_str() {
        Some(key) => Ok(Key::Name(key.to_owned())),
        None => Err(located(span, "mapping key cannot be null")),
    }
}

fn undefined(name: &str, span: Span) -> FunctionError {
    located(span, format!("reference to undefined anchor {}", go_quote(name)))
}

/// A mistake in the syntax. Where it is, is put as the other tools put it.
fn syntax_error(error: &ScanError) -> FunctionError {
    let info = error.info();
    let problem = familiar(&info);
    let column = error.marker().col() + 1;
    match error.marker().line() {
        1 if !problem.starts_with("did not find expected") => FunctionError::new(problem),
        line if problem == "did not find expected key" && line > 1 => {
            FunctionError::new(format!("on line {}, column {column}: {problem}", line - 1))
        }
        line => FunctionError::new(format!("on line {line}, column {column}: {problem}")),
    }
}

/// Messages of the parser in the words that people know from other tools, where there is a counterpart.
fn familiar(message: &str) -> &str {
    if message.contains("did not find expected key") {
        "did not find expected key"
    } else if message.contains("unclosed bracket '['") {
        "did not find expected ',' or ']'"
    } else if message.contains("unclosed bracket '{'") {
        "did not find expected ',' or '}'"
    } else if message.contains("unexpected character") {
        "found character that cannot start any token"
    } else {
        message
    }
}

fn full_tag(tag: &Tag) -> String {
    format!("{}{}", tag.handle(), tag.suffix())
}

/// A scalar in a place for values: in quotes or as a block it is always a string, whatever it looks like.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&str>) -> Result<Value, String> {
    let value = resolve::scalar(text, style, tag)?;
    if tag.is_none() && style != ScalarStyle::Plain {
        return convert(&value, &Type::String).map_err(|error| error.to_string());
    }
    Ok(value)
}

fn check_tag(tag: Option<String>, allowed: &str, what: &str, span: Span) -> Result<(), FunctionError> {
    match tag {
        Some(tag) if tag.strip_prefix(resolve::CORE) != Some(allowed) => {
            Err(located(span, format!("can't interpret {what} as {tag}")))
        }
        _ => Ok(()),
    }
}

/// Copies entries of a mapping, or of a sequence of mappings, into another one. What comes later wins.
fn merge(value: &Value, entries: &mut Vec<(String, Value)>, span: Span) -> Result<(), FunctionError> {
    let mut add = |value: &Value| {
        let ValueKind::Object(attributes) = value.kind() else { return false };
        entries.extend(attributes.iter().map(|(name, value)| (name.to_string(), value.clone())));
        true
    };
    let Some(items) = value.as_elements() else {
        let name = value.friendly_type_name();
        return if add(value) { Ok(()) } else { Err(located(span, format!("cannot merge {name} into mapping"))) };
    };
    for item in items {
        if !add(item) {
            let name = item.friendly_type_name();
            return Err(located(span, format!("cannot merge {name} (from sequence) into mapping")));
        }
    }
    Ok(())
}

fn located(span: Span, problem: impl std::fmt::Display) -> FunctionError {
    // The first line goes without its number, as the other tools have it.
    let start = span.tag_start().unwrap_or(span.start);
    match start.line() {
        0 | 1 => FunctionError::new(problem.to_string()),
        line => FunctionError::new(format!("on line {}, column {}: {problem}", line - 1, start.col() + 1)),
    }
}
