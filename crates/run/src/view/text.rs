//! JSON text as the other tools write it, byte for byte: Go's encoder escapes what would mean something in HTML.
//!
//! Documents are written piece by piece: nothing here keeps a whole one in memory.

use std::io::{self, Write};

use groma_model::diag::{Diagnostic, Diagnostics};
use serde::Serialize;

/// Why a document could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// Whoever takes the text in failed.
    #[error(transparent)]
    Write(io::Error),
    /// What is to be shown cannot be shown.
    #[error("{0}")]
    Content(String),
}

impl ViewError {
    /// As it is told. `what` finishes "Failed to marshal … to json".
    pub fn diagnostics(&self, what: &str) -> Diagnostics {
        Diagnostic::error(format!("Failed to marshal {what} to json"), self.to_string()).into()
    }
}

impl From<serde_json::Error> for ViewError {
    fn from(error: serde_json::Error) -> Self {
        if error.is_io() { Self::Write(error.into()) } else { Self::Content(error.to_string()) }
    }
}

/// Writes a document on one line, which it ends.
pub fn write_line<W: Write>(document: &impl Serialize, to: W) -> Result<(), ViewError> {
    let mut to = Escaping(to);
    serde_json::to_writer(&mut to, document)?;
    to.0.write_all(b"\n").map_err(ViewError::Write)
}

/// Writes a document with a line for each of its members, two spaces deeper for each level.
pub fn write_indented<W: Write>(document: &impl Serialize, to: W) -> Result<(), ViewError> {
    let mut to = Escaping(to);
    serde_json::to_writer_pretty(&mut to, document)?;
    to.0.write_all(b"\n").map_err(ViewError::Write)
}

/// Escapes on the way. Outside of strings JSON has none of these characters, so it needs not be understood.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut written = 0;
        for (at, byte) in bytes.iter().enumerate() {
            let (length, escape) = match byte {
                b'<' => (1, "\\u003c"),
                b'>' => (1, "\\u003e"),
                b'&' => (1, "\\u0026"),
                // The two line separators of Unicode. Texts arrive in whole characters.
                0xe2 if bytes[at..].starts_with("\u{2028}".as_bytes()) => (3, "\\u2028"),
                0xe2 if bytes[at..].starts_with("\u{2029}".as_bytes()) => (3, "\\u2029"),
                _ => continue,
            };
            self.0.write_all(&bytes[written..at])?;
            self.0.write_all(escape.as_bytes())?;
            written = at + length;
        }
        self.0.write_all(&bytes[written..])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_safe_in_html() {
        let mut out = Vec::new();
        write_line(&serde_json::json!({"a": "<b> & \u{2028}é\""}), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "{\"a\":\"\\u003cb\\u003e \\u0026 \\u2028é\\\"\"}\n");
    }

    #[test]
    fn what_cannot_be_written_is_told_apart_from_what_cannot_be_shown() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert!(matches!(write_line(&"a", Full), Err(ViewError::Write(_))));
    }
}
