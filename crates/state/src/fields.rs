//! Reading members of a JSON document, with the place of every mistake. Which members there are is not known here.

use groma_model::codec::json::Json;

use crate::DecodeError;

/// What reading gives.
pub(crate) type Decoded<T> = Result<T, DecodeError>;

/// A part of the document, and where it is.
pub(crate) struct At<'j, 't> {
    pub(crate) json: &'j Json<'t>,
    pub(crate) place: String,
}

/// Text that may be borrowed from the document.
pub(crate) type Text<'t> = std::borrow::Cow<'t, str>;

impl<'j, 't> At<'j, 't> {
    pub(crate) fn path_to(&self, name: &str) -> String {
        if self.place.is_empty() { name.to_owned() } else { format!("{}.{name}", self.place) }
    }

    pub(crate) fn wrong(&self, name: &str, expected: &'static str) -> DecodeError {
        DecodeError::Shape { at: self.path_to(name), expected }
    }

    /// A member. Null is as good as none.
    pub(crate) fn get(&self, name: &str) -> Option<&'j Json<'t>> {
        self.json.get(name).filter(|json| !matches!(json, Json::Null))
    }

    pub(crate) fn text(&self, name: &str) -> Decoded<Option<Text<'t>>> {
        match self.get(name) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(name, "a string")),
        }
    }

    pub(crate) fn needed(&self, name: &str) -> Decoded<Text<'t>> {
        self.text(name)?.ok_or_else(|| self.wrong(name, "a string"))
    }

    pub(crate) fn number(&self, name: &str) -> Decoded<Option<u64>> {
        match self.get(name) {
            None => Ok(None),
            Some(Json::Number(text)) => text.parse().map(Some).map_err(|_| self.wrong(name, "a whole number")),
            Some(_) => Err(self.wrong(name, "a number")),
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Decoded<bool> {
        match self.get(name) {
            None => Ok(false),
            Some(Json::Bool(value)) => Ok(*value),
            Some(_) => Err(self.wrong(name, "true or false")),
        }
    }

    pub(crate) fn list(&self, name: &str) -> Decoded<Vec<At<'j, 't>>> {
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Json::Array(items)) => {
                let place = self.path_to(name);
                let at = |(at, json)| At { json, place: format!("{place}[{at}]") };
                Ok(items.iter().enumerate().map(at).collect())
            }
            Some(_) => Err(self.wrong(name, "an array")),
        }
    }

    pub(crate) fn texts(&self, name: &str) -> Decoded<Vec<Text<'t>>> {
        let items = self.list(name)?.into_iter().map(|item| match item.json {
            Json::String(text) => Ok(text.clone()),
            _ => Err(DecodeError::Shape { at: item.place, expected: "a string" }),
        });
        items.collect()
    }
}
