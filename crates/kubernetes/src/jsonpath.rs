//! JSONPath as kubectl knows it: fields, quoted keys, indices and slices, wildcards, filters. A path may stand in `{…}`, and may begin
//! with a dot. The texts of field paths (`containers[name=nginx].image`, `data["a.b"]`) are JSONPaths too.

mod evaluate;
mod parse;
#[cfg(test)]
mod tests;

use crate::Json;
#[cfg(test)]
use crate::path::Step;
use crate::path::{FieldPath, Literal};

/// A path that may lead to many places.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JsonPath {
    parts: Vec<Part>,
}

/// Why a text is no path: what, and at which character.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} (at character {at})")]
pub(crate) struct NoPath {
    pub(crate) what: String,
    /// Counted from 1.
    pub(crate) at: usize,
}

/// One part of a path.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    /// `.name`, `['name']`.
    Field(String),
    /// `[0]`; from the end if it is negative.
    Index(i64),
    /// `[1:3]`, `[::2]`.
    Slice { start: Option<i64>, end: Option<i64>, step: i64 },
    /// `.*`, `[*]`.
    All,
    /// `..`: here, and everywhere below.
    Below,
    /// `['a','b']`, `[0,2]`.
    Union(Vec<Part>),
    /// `[name=x]`.
    Key(Vec<(String, Wanted)>),
    /// `[="x"]`.
    Value(Literal),
    /// `[?(…)]`.
    Filter(Filter),
}

/// What a key must be.
#[derive(Debug, Clone, PartialEq)]
enum Wanted {
    /// In quotes, or JSON that is no text.
    Exactly(Literal),
    /// Without quotes: a text, or a number or the like that is written so.
    Written(String),
}

/// A condition on elements of a list.
#[derive(Debug, Clone, PartialEq)]
struct Filter {
    left: Operand,
    /// None if it is enough that there is something.
    compared: Option<(Operator, Operand)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    /// From the element.
    Path(JsonPath),
    Literal(Json),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl JsonPath {
    /// Reads a path.
    pub(crate) fn parse(text: &str) -> Result<JsonPath, NoPath> {
        parse::whole(text).map(|parts| JsonPath { parts })
    }

    /// Everything that it leads to.
    pub(crate) fn find<'j>(&self, object: &'j Json) -> Vec<&'j Json> {
        evaluate::all(&self.parts, object, false).into_iter().map(|(_, json)| json).collect()
    }

    /// The places that it leads to, as they are in this object (elements of lists by their index).
    pub(crate) fn places(&self, object: &Json) -> Vec<FieldPath> {
        evaluate::all(&self.parts, object, false).into_iter().map(|(path, _)| path).collect()
    }

    /// The places that it leads to, where a name is looked for in all elements if there is a list.
    pub(crate) fn places_through_lists(&self, object: &Json) -> Vec<FieldPath> {
        evaluate::all(&self.parts, object, true).into_iter().map(|(path, _)| path).collect()
    }

    /// Its steps, if it can only lead to one place: no filters, wildcards or slices.
    #[cfg(test)]
    pub(crate) fn plain(&self) -> Option<FieldPath> {
        self.parts.iter().map(Part::step).collect::<Option<_>>().map(FieldPath)
    }

    /// The names that it begins with, as far as these are all that it says.
    pub(crate) fn leading_names(&self) -> Vec<&str> {
        self.parts
            .iter()
            .map_while(|part| if let Part::Field(name) = part { Some(name.as_str()) } else { None })
            .collect()
    }

    /// Whether it is nothing but names.
    pub(crate) fn is_names_only(&self) -> bool {
        self.leading_names().len() == self.parts.len()
    }
}

#[cfg(test)]
impl Part {
    fn step(&self) -> Option<Step> {
        Some(match self {
            Part::Field(name) => Step::Field(name.clone()),
            Part::Index(index) => Step::Index(usize::try_from(*index).ok()?),
            Part::Value(value) => Step::Value(value.clone()),
            Part::Key(keys) => Step::Key(keys.iter().map(|(name, wanted)| (name.clone(), wanted.literal())).collect()),
            _ => return None,
        })
    }
}

impl Wanted {
    fn literal(&self) -> Literal {
        match self {
            Wanted::Exactly(literal) => literal.clone(),
            Wanted::Written(text) => match serde_json::from_str::<Json>(text) {
                Ok(json) if !json.is_object() && !json.is_array() => Literal::of(&json),
                _ => Literal::text(text),
            },
        }
    }

    fn is(&self, json: &Json) -> bool {
        match (self, json) {
            (Wanted::Exactly(literal), _) => literal.is(json),
            (Wanted::Written(text), Json::String(value)) => text == value,
            (Wanted::Written(_), _) => self.literal().is(json),
        }
    }
}
