//! Where what stands in a text of YAML: the line of every field, by its document and its path.

use std::collections::BTreeMap;

use granit_parser::{Event, Parser};

/// The lines of a text.
#[derive(Debug, Default)]
pub(super) struct Lines(BTreeMap<(usize, String), usize>);

/// A collection that is being read.
enum Open {
    Sequence { path: String, next: usize },
    Mapping { path: String, key: Option<String> },
}

impl Lines {
    /// Of a text that has been read already: what cannot be read has no lines.
    pub(super) fn of(text: &str) -> Self {
        let mut lines = Self::default();
        let mut open: Vec<Open> = Vec::new();
        let mut document = 0;
        for event in Parser::new_from_str(text) {
            let Ok((event, span)) = event else { break };
            let line = span.start.line();
            match event {
                Event::Scalar(text, ..) => {
                    if let Some(Open::Mapping { key: key @ None, .. }) = open.last_mut() {
                        *key = Some(text.into_owned());
                    } else {
                        let path = enter(&mut open);
                        lines.note(document, path, line);
                    }
                }
                Event::Alias(_) => {
                    let path = enter(&mut open);
                    lines.note(document, path, line);
                }
                Event::SequenceStart(..) => {
                    let path = enter(&mut open);
                    lines.note(document, path.clone(), line);
                    open.push(Open::Sequence { path, next: 0 });
                }
                Event::MappingStart(..) => {
                    let path = enter(&mut open);
                    lines.note(document, path.clone(), line);
                    open.push(Open::Mapping { path, key: None });
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    open.pop();
                }
                Event::DocumentEnd => document += 1,
                _ => {}
            }
        }
        lines
    }

    fn note(&mut self, document: usize, path: String, line: usize) {
        self.0.entry((document, path)).or_insert(line);
    }

    /// The line of a field, or of the nearest one around it that is written.
    pub(super) fn line_of(&self, document: usize, path: &str) -> Option<usize> {
        let mut path = path;
        loop {
            if let Some(line) = self.0.get(&(document, path.to_owned())) {
                return Some(*line);
            }
            path = &path[..path.rfind(['.', '['])?];
        }
    }
}

/// The path of the value that comes now, in what is being read.
fn enter(open: &mut [Open]) -> String {
    match open.last_mut() {
        None => String::new(),
        Some(Open::Sequence { path, next }) => {
            *next += 1;
            item(path, *next - 1)
        }
        Some(Open::Mapping { path, key }) => field(path, &key.take().unwrap_or_default()),
    }
}

/// The path of a field.
pub(super) fn field(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The path of an item.
pub(super) fn item(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_line() {
        let lines = Lines::of("a: 1\nb:\n  - c: x\n    d: [1, 2]\n---\na:\n  - y\n");
        for (document, path, expected) in
            [(0, "a", 1), (0, "b[0].c", 3), (0, "b[0].d[1]", 4), (0, "b[0].nope.deep", 3), (1, "a[0]", 7)]
        {
            assert_eq!(lines.line_of(document, path), Some(expected), "{document} {path}");
        }
        assert_eq!(lines.line_of(3, "a"), None);
    }
}
