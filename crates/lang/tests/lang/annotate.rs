//! The annotations of a section: written from what was found, and compared by text.

use std::fmt::Write as _;

use crate::section::{Run, Section};

/// What one statement came to.
pub(crate) struct Found {
    /// Its first line in the section, from 1.
    pub(crate) first_line: usize,
    /// Its last line.
    pub(crate) last_line: usize,
    /// Its value as the console prints it; none if it failed.
    pub(crate) value: Option<String>,
    /// Its errors and warnings, as text.
    pub(crate) errors: Vec<String>,
}

impl Found {
    /// How much it asserts.
    pub(crate) fn assertions(&self) -> usize {
        self.errors.len() + usize::from(self.value.is_some())
    }
}

const VALUE: &str = "# = ";
const MORE: &str = "# : ";

fn is_annotation(line: &str) -> bool {
    let line = line.trim_start();
    line == "# ="
        || line == "# :"
        || [VALUE, MORE, "# Error: ", "# Warning: "].iter().any(|prefix| line.starts_with(prefix))
}

/// The section with the annotations that it should have.
pub(crate) fn write(section: &Section, run: &Run) -> String {
    let mut out = String::new();
    for (at, line) in section.text.lines().enumerate() {
        let number = at + 1;
        let inside = run.found.iter().find(|found| found.first_line <= number && number < found.last_line);
        // Only the end of a statement can carry annotations; what is inside may be text that looks like one.
        if inside.is_none() && is_annotation(line) {
            continue;
        }
        let ends = run.found.iter().filter(|found| found.last_line == number).collect::<Vec<_>>();
        let bare = if ends.is_empty() { line } else { without_trailing(line) };
        out.push_str(bare);
        let mut rest = String::new();
        for found in ends {
            annotate(found, &mut out, &mut rest);
        }
        out.push('\n');
        out.push_str(&rest);
    }
    out
}

fn without_trailing(line: &str) -> &str {
    match line.rfind(" # = ") {
        Some(at) => line[..at].trim_end(),
        None => line.strip_suffix(" # =").unwrap_or(line).trim_end(),
    }
}

/// A short value goes behind the statement, everything else on lines of its own below.
fn annotate(found: &Found, line: &mut String, below: &mut String) {
    if let Some(value) = &found.value {
        if !value.contains('\n') && value.len() <= 80 {
            let _ = write!(line, " {VALUE}{value}");
        } else {
            for (at, text) in value.split('\n').enumerate() {
                let prefix = if at == 0 { VALUE } else { MORE };
                let _ = writeln!(below, "{}", format!("{prefix}{text}").trim_end());
            }
        }
    }
    for error in &found.errors {
        let _ = writeln!(below, "# {error}");
    }
}

/// The lines that differ.
pub(crate) fn difference(is: &str, wanted: &str) -> String {
    let (is, wanted): (Vec<&str>, Vec<&str>) = (is.lines().collect(), wanted.lines().collect());
    let same_start = is.iter().zip(&wanted).take_while(|(a, b)| a == b).count();
    let rest = is.len().min(wanted.len()) - same_start;
    let same_end = is.iter().rev().zip(wanted.iter().rev()).take_while(|(a, b)| a == b).count().min(rest);
    let mut text = String::new();
    for line in &is[same_start..is.len() - same_end] {
        let _ = writeln!(text, "  expected {line}");
    }
    for line in &wanted[same_start..wanted.len() - same_end] {
        let _ = writeln!(text, "  found    {line}");
    }
    text
}
