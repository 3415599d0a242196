//! Where a piece of text stands: byte ranges in files that a [`SourceMap`] knows. No IO: the text is handed in.

use std::sync::{Arc, OnceLock};

use unicode_segmentation::UnicodeSegmentation;

/// Names one file of a [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// A half-open byte range in one file. Twelve bytes, so that every expression can have its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file that the range is in.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        debug_assert!(start <= end, "a span cannot end before it starts");
        Self { file, start: start as u32, end: end as u32 }
    }

    /// The smallest span that covers both. Both must be in the same file.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file);
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span just behind this one.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// The empty span just before this one.
    pub fn before(self) -> Span {
        Span { end: self.start, ..self }
    }

    /// Number of bytes covered.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it covers nothing.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `offset` is inside or at the end.
    pub fn touches(self, offset: u32) -> bool {
        self.start <= offset && offset <= self.end
    }
}

/// A place as people count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in grapheme clusters, from 1.
    pub column: u32,
    /// Byte offset in the file, from 0.
    pub byte: u32,
}

/// The header of a top-level block, so that a diagnostic can say `in resource "a" "b"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineEntry {
    /// The whole block.
    pub span: Span,
    /// Its header as text, e.g. `resource "a" "b"`.
    pub header: String,
}

/// One file: its name as users wrote it and its text.
#[derive(Debug)]
pub struct SourceFile {
    name: String,
    text: Arc<str>,
    line_starts: OnceLock<Vec<u32>>,
    outline: OnceLock<Vec<OutlineEntry>>,
}

impl SourceFile {
    /// The name that diagnostics show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let newlines = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect()
        })
    }

    /// Line, column and byte of an offset. Offsets behind the end count as the end.
    pub fn position(&self, offset: u32) -> Position {
        let offset = offset.min(self.text.len() as u32);
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start <= offset);
        let start = starts[line - 1] as usize;
        let before = self.text.get(start..offset as usize).unwrap_or("");
        let column = before.graphemes(true).count() as u32 + 1;
        Position { line: line as u32, column, byte: offset }
    }

    /// The text of a line (from 1), without its line ending.
    pub fn line(&self, line: u32) -> &str {
        let starts = self.line_starts();
        let Some(start) = starts.get(line.saturating_sub(1) as usize) else { return "" };
        let end = starts.get(line as usize).copied().unwrap_or(self.text.len() as u32);
        let text = &self.text[*start as usize..end as usize];
        text.trim_end_matches('\n').trim_end_matches('\r')
    }

    /// Records the top-level blocks; the parser does this once.
    pub fn set_outline(&self, outline: Vec<OutlineEntry>) {
        // A file parsed twice has the same outline both times.
        let _ = self.outline.set(outline);
    }

    /// The header of the top-level block that `offset` is in.
    pub fn enclosing_block(&self, offset: u32) -> Option<&str> {
        let outline = self.outline.get()?;
        outline.iter().find(|entry| entry.span.touches(offset)).map(|entry| entry.header.as_str())
    }
}

/// All texts of a session. Cheap to clone; the files are shared.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<Arc<SourceFile>>,
}

impl SourceMap {
    /// A map without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text under the name that diagnostics will show.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let id = FileId(self.files.len() as u32);
        self.files.push(Arc::new(SourceFile {
            name: name.into(),
            text: text.into(),
            line_starts: OnceLock::new(),
            outline: OnceLock::new(),
        }));
        id
    }

    /// The file with that id.
    ///
    /// # Panics
    /// If the id comes from another map.
    pub fn file(&self, id: FileId) -> &Arc<SourceFile> {
        &self.files[id.0 as usize]
    }

    /// All files with their ids, in the order they were added.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &Arc<SourceFile>)> {
        self.files.iter().enumerate().map(|(at, file)| (FileId(at as u32), file))
    }

    /// The text that a span covers.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Start position of a span.
    pub fn start(&self, span: Span) -> Position {
        self.file(span.file).position(span.start)
    }

    /// End position of a span.
    pub fn end(&self, span: Span) -> Position {
        self.file(span.file).position(span.end)
    }

    /// A span in words: `main.tf:3,5-12`, or `main.tf:3,5-4,2` over several lines.
    pub fn place(&self, span: Span) -> String {
        let (name, start, end) = (self.file(span.file).name(), self.start(span), self.end(span));
        if start.line == end.line {
            return format!("{name}:{},{}-{}", start.line, start.column, end.column);
        }
        format!("{name}:{},{}-{},{}", start.line, start.column, end.line, end.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_grapheme_clusters() {
        let mut map = SourceMap::new();
        let id = map.add("a.tf", "a\ne\u{301}x\n");
        let file = map.file(id);
        assert_eq!(file.position(0), Position { line: 1, column: 1, byte: 0 });
        assert_eq!(file.position(5), Position { line: 2, column: 2, byte: 5 });
        assert_eq!(file.position(99), Position { line: 3, column: 1, byte: 7 });
        assert_eq!(file.line(2), "e\u{301}x");
    }
}
