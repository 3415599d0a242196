//! From YAML to JSON: the events of the parser to values with their lines. Nesting takes no stack, and what aliases stand for is
//! counted.

mod collection;

use std::borrow::Cow;
use std::collections::BTreeMap;

use collection::{Collection, Contents, Key, Mapping};
use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag, options};

use super::lines::{Inside, Lines};
use super::scalar;
use crate::Json;

/// How deep a document may nest. No server takes more.
const MAX_DEPTH: usize = 100;
/// How many values a document may stand for, counting what aliases repeat as often as they do.
const MAX_VALUES: u64 = 250_000;
/// How much text a document may stand for, counted alike.
const MAX_BYTES: u64 = 16 << 20;

/// The name of the anchor is not said: what begins with a star may be a password that lacks its quotes.
const NO_ANCHOR: &str =
    "this stands for something that is named &… before it, and nothing is; quote it if it is meant as text";

/// What is wrong with a document, and on which of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) summary: &'static str,
    pub(super) what: String,
    /// Whether values of the document may be in these words.
    pub(super) quotes: bool,
    /// Counted from 1.
    pub(super) line: usize,
}

/// A value with its lines.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) json: Json,
    pub(super) lines: Lines,
}

/// Reads one document. `first_line` is what its first line is called.
pub(super) fn document(source: &str, first_line: usize) -> Result<Node, Vec<Mistake>> {
    let mut reader = Reader::new(source, first_line);
    let root = reader.document();
    let mut mistakes = reader.mistakes;
    match root {
        Ok(node) if mistakes.is_empty() => Ok(node),
        Ok(_) => Err(mistakes),
        Err(mistake) => {
            mistakes.push(mistake);
            Err(mistakes)
        }
    }
}

/// What a part of a document stands for.
#[derive(Clone, Copy, Default)]
struct Weight {
    values: u64,
    bytes: u64,
}

impl Weight {
    fn add(&mut self, other: Weight) {
        self.values = self.values.saturating_add(other.values);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    fn is_too_heavy(self) -> bool {
        self.values > MAX_VALUES || self.bytes > MAX_BYTES
    }
}

struct Anchored {
    node: Node,
    weight: Weight,
}

/// An event and where it is.
type Located<'a> = (Event<'a>, Span);

struct Reader<'a> {
    source: &'a str,
    parser: Parser<'a, StrInput<'a>>,
    first_line: usize,
    /// What anchors stand for; nothing while that is still being read.
    anchors: BTreeMap<usize, Option<Anchored>>,
    /// What has been read so far stands for so much.
    weight: Weight,
    /// What is kept for aliases stands for so much.
    kept: Weight,
    /// Collections that are being read, from the outermost.
    open: Vec<Collection>,
    /// Mistakes that do not keep from reading on.
    mistakes: Vec<Mistake>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str, first_line: usize) -> Self {
        let options = options! {
            emit_unresolved_aliases: true,
            emit_comments: false,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        };
        Self {
            source,
            parser: Parser::new_from_str_with_options(source, options),
            first_line,
            anchors: BTreeMap::new(),
            weight: Weight::default(),
            kept: Weight::default(),
            open: Vec::new(),
            mistakes: Vec::new(),
        }
    }

    fn document(&mut self) -> Result<Node, Mistake> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd if self.open.is_empty() => {}
                Event::StreamEnd if self.open.is_empty() => break,
                _ if root.is_some() => return Err(self.invalid(span, "there is more after the end of the document")),
                event => {
                    let Some(node) = self.event((event, span))? else { continue };
                    match self.open.last_mut() {
                        None => root = Some(node),
                        Some(collection) => {
                            collection.add(node).map_err(|what| self.invalid(span, what))?;
                        }
                    }
                }
            }
        }
        Ok(root
            .unwrap_or_else(|| Node { json: Json::Null, lines: Lines { line: self.first_line, ..Lines::default() } }))
    }

    /// Takes an event. Gives the value that it completes, if it does.
    fn event(&mut self, (event, span): Located<'a>) -> Result<Option<Node>, Mistake> {
        let expects_key =
            matches!(self.open.last(), Some(Collection { contents: Contents::Mapping(Mapping { key: None, .. }), .. }));
        if expects_key && !matches!(event, Event::MappingEnd) {
            return self.key(event, span).map(|()| None);
        }
        let before = self.weight;
        let (node, anchor, before) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.count(text.len(), span)?;
                (self.scalar(&text, style, tag.as_deref(), span), anchor, before)
            }
            Event::SequenceStart(_, anchor, _) => {
                let contents = Contents::Sequence { items: Vec::new(), lines: Vec::new() };
                return self.enter(anchor, contents, span).map(|()| None);
            }
            Event::MappingStart(_, anchor, _) => {
                return self.enter(anchor, Contents::Mapping(Mapping::default()), span).map(|()| None);
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(collection) => (collection.contents.finish(collection.line), collection.anchor, collection.before),
                None => return Err(self.invalid(span, "a collection ends that never began")),
            },
            Event::Alias(id) => return self.alias(id, span).map(Some),
            Event::UnresolvedAlias(_) => return Err(self.invalid(span, NO_ANCHOR)),
            _ => return Err(self.invalid(span, "the document ends too early")),
        };
        self.remember(anchor, &node, before, span)?;
        Ok(Some(node))
    }

    /// Keeps what an anchor stands for. Anchors around anchors are copies of copies, so these are counted as well.
    fn remember(&mut self, anchor: usize, node: &Node, before: Weight, span: Span) -> Result<(), Mistake> {
        if anchor == 0 {
            return Ok(());
        }
        let values = self.weight.values.saturating_sub(before.values);
        let weight = Weight { values, bytes: self.weight.bytes.saturating_sub(before.bytes) };
        self.kept.add(weight);
        if self.kept.is_too_heavy() {
            return Err(self.too_heavy(span));
        }
        self.anchors.insert(anchor, Some(Anchored { node: node.clone(), weight }));
        Ok(())
    }

    fn enter(&mut self, anchor: usize, contents: Contents, span: Span) -> Result<(), Mistake> {
        let before = self.weight;
        self.count(0, span)?;
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(self.invalid(span, format!("it nests deeper than {MAX_DEPTH} levels")));
        }
        self.open.push(Collection { anchor, line: self.line(span), before, contents });
        Ok(())
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Node {
        let json = scalar::value(text, style, tag).unwrap_or_else(|what| {
            let mistake = self.invalid(span, what);
            self.mistakes.push(mistake);
            Json::Null
        });
        Node { json, lines: Lines { line: self.line(span), inside: Inside::Nothing } }
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<Node, Mistake> {
        let Some(Some(anchored)) = self.anchors.get(&id) else {
            return Err(self.invalid(span, "an anchor is used inside of what it stands for"));
        };
        let (node, weight) = (&anchored.node, anchored.weight);
        self.weight.add(weight);
        // A few lines of aliases to aliases can stand for more than there is memory: nothing is copied before this is known.
        let node = if self.weight.is_too_heavy() { None } else { Some(node.clone()) };
        node.ok_or_else(|| self.too_heavy(span))
    }

    /// Takes the event that stands where a name is expected.
    fn key(&mut self, event: Event<'a>, span: Span) -> Result<(), Mistake> {
        let line = self.line(span);
        let before = self.weight;
        let name = match event {
            Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<" => {
                self.expect(Key::Merge);
                return Ok(());
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.count(text.len(), span)?;
                // A number that JSON does not have is a name like any other.
                let json = scalar::value(&text, style, tag.as_deref()).unwrap_or_else(|_| Json::from(text.as_ref()));
                let name = scalar::name(&json);
                let node = Node { json, lines: Lines { line, inside: Inside::Nothing } };
                self.remember(anchor, &node, before, span)?;
                name
            }
            Event::Alias(id) => {
                let node = self.alias(id, span)?;
                scalar::name(&node.json)
            }
            Event::UnresolvedAlias(_) => return Err(self.invalid(span, NO_ANCHOR)),
            _ => return Err(self.invalid(span, "a list or an object stands where a name is expected")),
        };
        let Some(name) = name else {
            let mistake = self.invalid(span, "a name must be a text, and not null; quote it if it is meant as one");
            self.mistakes.push(mistake);
            self.expect(Key::Useless);
            return Ok(());
        };
        if let Some(Collection { contents: Contents::Mapping(mapping), .. }) = self.open.last()
            && let Some(first) = mapping.lines.get(&name)
        {
            let what = format!("{name:?} is given twice in one object, first on line {}", first.line);
            self.mistakes.push(Mistake { summary: "Duplicate key in YAML", what, quotes: false, line });
            self.expect(Key::Useless);
            return Ok(());
        }
        self.expect(Key::Name(name, line));
        Ok(())
    }

    /// Notes what the next value belongs to.
    fn expect(&mut self, key: Key) {
        if let Some(Collection { contents: Contents::Mapping(mapping), .. }) = self.open.last_mut() {
            mapping.key = Some(key);
        }
    }

    fn count(&mut self, bytes: usize, span: Span) -> Result<(), Mistake> {
        self.weight.add(Weight { values: 1, bytes: bytes as u64 });
        if self.weight.is_too_heavy() { Err(self.too_heavy(span)) } else { Ok(()) }
    }

    fn too_heavy(&self, span: Span) -> Mistake {
        let what = format!(
            "with what its aliases repeat, the document stands for more than {MAX_VALUES} values or {} MiB of text, which \
             no API server takes",
            MAX_BYTES >> 20
        );
        Mistake { summary: "YAML expands too far", what, quotes: false, line: self.line(span) }
    }

    fn next(&mut self) -> Result<Located<'a>, Mistake> {
        loop {
            match self.parser.next() {
                Some(Ok((Event::Anchor(..), _))) => {}
                Some(Ok((event, span))) => return Ok((self.without_added_break(event, span), span)),
                Some(Err(error)) => return Err(self.syntax_error(&error)),
                None => return Ok((Event::StreamEnd, Span::default())),
            }
        }
    }

    /// A block at the end of a text that does not end with a line break does not end with one, either. kubectl sees it so.
    fn without_added_break(&self, event: Event<'a>, span: Span) -> Event<'a> {
        let at_end = || {
            let last_line = self.source.rsplit('\n').next().unwrap_or_default();
            span.byte_range().is_some_and(|range| range.end >= self.source.len()) && last_line.contains(|c| c != ' ')
        };
        match event {
            Event::Scalar(text, style @ (ScalarStyle::Literal | ScalarStyle::Folded), anchor, tag)
                if text.ends_with('\n') && at_end() =>
            {
                let text = text.strip_suffix('\n').unwrap_or_default().to_owned();
                Event::Scalar(Cow::Owned(text), style, anchor, tag)
            }
            event => event,
        }
    }

    fn syntax_error(&self, error: &ScanError) -> Mistake {
        let last = self.source.lines().count().max(1);
        let line = error.marker().line().clamp(1, last) + self.first_line - 1;
        let info = error.info();
        let plain = plainly(&info);
        Mistake { summary: "Invalid YAML", what: plain.unwrap_or(&info).to_owned(), quotes: plain.is_none(), line }
    }

    fn invalid(&self, span: Span, what: impl Into<String>) -> Mistake {
        Mistake { summary: "Invalid YAML", what: what.into(), quotes: false, line: self.line(span) }
    }

    fn line(&self, span: Span) -> usize {
        span.start.line().max(1) + self.first_line - 1
    }
}

/// What the parser complains about, in words for people who do not know how YAML is parsed.
fn plainly(info: &str) -> Option<&'static str> {
    let words = [
        ("<document start>", "this is indented less than the lines before it, and belongs to nothing"),
        ("mapping values are not allowed", "a colon is not expected here; a text with \": \" in it must be quoted"),
        (
            "multiline quoted scalar",
            "a text in quotes goes on here and must be indented, or its closing quote is missing",
        ),
        ("did not find expected key", "a name is expected here; the indentation does not fit the lines before"),
        ("did not find expected '-'", "an element of the list (\"- \") is expected here; the indentation does not fit"),
        ("found a tab", "tabs cannot indent YAML; use spaces"),
        ("tabs disallowed", "tabs cannot indent YAML; use spaces"),
        ("cannot start any token", "this character cannot begin a value; quote the text"),
    ];
    words.iter().find(|(part, _)| info.contains(part)).map(|(_, words)| *words)
}
