//! `csvdecode`: RFC 4180 with a header line, as strict about quotes as Go's reader.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value, go_quote};

use super::super::support::{Outcome, text, text_param};
use super::super::{CallContext, Function, FunctionError};

pub(super) fn function() -> Function {
    Function::new(
        "csvdecode",
        "Reads comma-separated values. The first line names the columns; every other line becomes an object.",
        vec![text_param("str").about("The lines.")],
        Type::Dynamic,
        decode,
    )
    // The type follows from the header, but so does the result.
    .typed(|_| Ok(Type::Dynamic))
}

fn decode(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let mut reader = Reader { rest: text(args, 0), line: 0 };
    let Some((header, _)) = reader.record()? else { return Err(FunctionError::new("missing header line")) };
    let names: Vec<Str> = header.iter().map(|name| Str::from(name.as_str())).collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|a, b| names[*a].cmp(&names[*b]));
    let mut seen = BTreeSet::new();
    if let Some(name) = names.iter().find(|name| !seen.insert(*name)) {
        return Err(FunctionError::new(format!("duplicate column name {}", go_quote(name))));
    }
    let sorted = Arc::new(order.iter().map(|at| names[*at].clone()).collect::<Vec<_>>());
    let mut rows = Vec::new();
    while let Some((fields, line)) = reader.record()? {
        if fields.len() != names.len() {
            return Err(problem(line, "wrong number of fields"));
        }
        let values = order.iter().map(|at| Value::string(fields[*at].as_str())).collect();
        rows.push(Value::object_of(Entries::with_names(sorted.clone(), values)));
    }
    let row = Type::object(names.into_iter().map(|name| (name, Type::String)));
    Ok(Value::list(row, rows))
}

fn problem(line: usize, what: &str) -> FunctionError {
    FunctionError::new(format!("CSV parse error on line {line}: {what}"))
}

struct Reader<'a> {
    rest: &'a str,
    /// The number of the line that was read last.
    line: usize,
}

impl<'a> Reader<'a> {
    /// The next line without its end, and whether it had one.
    fn next_line(&mut self) -> Option<(&'a str, bool)> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let (line, rest, ended) = match self.rest.split_once('\n') {
            Some((line, rest)) => (line, rest, true),
            None => (self.rest, "", false),
        };
        self.rest = rest;
        Some((line.strip_suffix('\r').unwrap_or(line), ended))
    }

    /// The fields of the next record that is not an empty line, and the line that it begins on.
    fn record(&mut self) -> Result<Option<(Vec<String>, usize)>, FunctionError> {
        let (mut line, mut ended) = loop {
            match self.next_line() {
                None => return Ok(None),
                Some(("", _)) => {}
                Some(found) => break found,
            }
        };
        let first_line = self.line;
        let mut fields = Vec::new();
        loop {
            let Some(quoted) = line.strip_prefix('"') else {
                let (field, rest) = line.split_once(',').map_or((line, None), |(field, rest)| (field, Some(rest)));
                if field.contains('"') {
                    return Err(problem(self.line, "bare \" in non-quoted-field"));
                }
                fields.push(field.to_owned());
                match rest {
                    Some(rest) => line = rest,
                    None => return Ok(Some((fields, first_line))),
                }
                continue;
            };
            let (field, rest) = self.quoted_field(quoted, &mut ended)?;
            fields.push(field);
            match rest {
                Some(rest) => line = rest,
                None => return Ok(Some((fields, first_line))),
            }
        }
    }

    /// A field after its opening quote, and what follows the comma after it, if there is one.
    fn quoted_field(
        &mut self,
        mut line: &'a str,
        ended: &mut bool,
    ) -> Result<(String, Option<&'a str>), FunctionError> {
        let mut field = String::new();
        let quote_problem = "extraneous or missing \" in quoted-field";
        loop {
            let Some((text, after)) = line.split_once('"') else {
                field.push_str(line);
                if *ended {
                    field.push('\n');
                }
                let at = self.line;
                (line, *ended) = match self.next_line() {
                    None | Some(("", false)) => return Err(problem(at, quote_problem)),
                    Some(next) => next,
                };
                continue;
            };
            field.push_str(text);
            if let Some(rest) = after.strip_prefix('"') {
                field.push('"');
                line = rest;
            } else if let Some(rest) = after.strip_prefix(',') {
                return Ok((field, Some(rest)));
            } else if after.is_empty() {
                return Ok((field, None));
            } else {
                return Err(problem(self.line, quote_problem));
            }
        }
    }
}
