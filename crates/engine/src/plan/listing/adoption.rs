//! Objects that are there already when they are to be made: found by what the configuration says about them.

use std::sync::{Arc, PoisonError};

use groma_model::address::AbsInstance;
use groma_model::codec::json;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::{ImportTarget, ListedObject, Provider};

use super::{Found, Known, Listing, required, shown_id};
use crate::providers::Slot;
use crate::stored::ObjectSchema;

/// What becomes of objects that are there already when they are to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Adoption {
    /// What becomes of them.
    pub mode: AdoptionMode,
    /// Which attributes must be the same: `name`, `labels.app`. What is not an attribute is looked for in `body`, where there is one.
    pub match_by: Vec<String>,
    /// Types of resources, with `*` for any text. All if none is named.
    pub types: Vec<String>,
}

/// What becomes of an object that is there already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AdoptionMode {
    /// It is said, and another one is made.
    #[default]
    Warn,
    /// Nothing is planned.
    Fail,
    /// It is taken in, and nothing is made.
    IfExists,
}

/// Something that is to be made.
pub(crate) struct Candidate<'c> {
    pub(crate) address: &'c AbsInstance,
    pub(crate) kind: &'c ObjectSchema,
    pub(crate) slot: &'c Arc<Slot>,
    pub(crate) provider: &'c dyn Provider,
    /// What the configuration says, without marks.
    pub(crate) config: &'c Value,
}

/// What is taken in instead.
pub(crate) struct Adopted {
    pub(crate) target: ImportTarget,
    /// The object, if it need not be asked for by a name.
    pub(crate) object: Option<Value>,
}

impl Listing {
    /// Looks whether something that is to be made is there already. Gives what is taken in instead, if that is wanted.
    pub(crate) async fn adopt(
        &self,
        candidate: &Candidate<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<Adopted>, Diagnostics> {
        let type_name = &candidate.kind.type_name;
        let Some(adoption) = &self.wishes.adoption else { return Ok(None) };
        if !adoption.types.is_empty() && !adoption.types.iter().any(|pattern| fits(pattern, type_name)) {
            return Ok(None);
        }
        let Some(wanted) = adoption.wanted(candidate.config) else { return Ok(None) };
        let question = self.question(candidate.slot, candidate.provider, type_name, candidate.config);
        let Some(question) = question else { return Ok(None) };
        let listed = match question.answer(candidate.provider).await {
            Found::Objects(listed) => listed,
            Found::Unlistable => return Ok(None),
            Found::Failed(problems) => {
                let detail =
                    format!("It is not known whether {} is there already: {}", candidate.address, said(problems));
                let problem = Diagnostic::error("Objects could not be listed", detail);
                return match adoption.mode {
                    AdoptionMode::Warn => {
                        diagnostics.push(Diagnostic::warning(problem.summary, problem.detail));
                        Ok(None)
                    }
                    AdoptionMode::Fail | AdoptionMode::IfExists => Err(problem.into()),
                };
            }
        };
        let identity = candidate.kind.identity.as_ref().map(|identity| identity.implied_type());
        let known = Known::of(&self.state, type_name, identity.as_ref(), required(candidate.provider, type_name));
        let matching: Vec<&ListedObject> =
            listed.iter().filter(|found| !known.has(found) && adoption.matches(&wanted, found)).collect();
        self.judge(adoption, candidate, &matching, diagnostics)
    }

    fn judge(
        &self,
        adoption: &Adoption,
        candidate: &Candidate<'_>,
        matching: &[&ListedObject],
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<Adopted>, Diagnostics> {
        let Some(first) = matching.first() else { return Ok(None) };
        let (address, type_name) = (candidate.address, &candidate.kind.type_name);
        let ids: Vec<String> = matching.iter().map(|found| shown_id(found)).collect();
        let what = format!(
            "{address} is to be made, but the state does not know {type_name} {}, which has the same {}",
            ids.join(", "),
            adoption.match_by.join(", ")
        );
        match adoption.mode {
            AdoptionMode::Warn => {
                let detail = format!(
                    "{what}. Another one will be made. To take it in instead, import it, or plan with adoption \"ifExists\"."
                );
                diagnostics.push(Diagnostic::warning(ALREADY_THERE, detail));
                Ok(None)
            }
            AdoptionMode::Fail => {
                let detail = format!("{what}. Import it, delete it, or plan with adoption \"ifExists\".");
                Err(Diagnostic::error(ALREADY_THERE, detail).into())
            }
            AdoptionMode::IfExists if matching.len() > 1 => {
                let detail = format!("{what}. Nobody can say which of them it is: import the right one by its id.");
                Err(Diagnostic::error("Several objects could be taken in", detail).into())
            }
            AdoptionMode::IfExists => self.claim(candidate, first).map(Some),
        }
    }

    /// Nothing is taken in twice.
    fn claim(&self, candidate: &Candidate<'_>, found: &ListedObject) -> Result<Adopted, Diagnostics> {
        let id = shown_id(found);
        let key =
            format!("{} {} {id}", candidate.kind.type_name, json::encode_plain(&found.identity).unwrap_or_default());
        let mut claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        let by = claimed.entry(key).or_insert_with(|| candidate.address.clone());
        if by != candidate.address {
            let (mut one, mut other) = (by.to_string(), candidate.address.to_string());
            if one > other {
                std::mem::swap(&mut one, &mut other);
            }
            let detail = format!("Both {one} and {other} could be the {} {id}.", candidate.kind.type_name);
            return Err(Diagnostic::error("Object could be taken in twice", detail).into());
        }
        let has_identity = candidate.kind.identity.is_some();
        let target = if has_identity { ImportTarget::Identity(found.identity.clone()) } else { ImportTarget::Id(id) };
        let object = found.object.as_ref().filter(|_| !has_identity);
        Ok(Adopted { target, object: object.map(|object| as_configured(object, candidate)) })
    }
}

/// An object with only as much of documents as the configuration speaks about: the rest is for its provider to decide.
fn as_configured(object: &Value, candidate: &Candidate<'_>) -> Value {
    let (Some(told), Some(wanted)) = (object.as_entries(), candidate.config.as_entries()) else {
        return object.clone();
    };
    let attributes = &candidate.kind.schema.block.attributes;
    let is_document =
        |name: &Str| attributes.get(name).is_some_and(|attribute| attribute.implied_type() == Type::Dynamic);
    let parts = told.iter().map(|(name, told)| {
        let wanted = wanted.get(name).filter(|wanted| is_document(name) && !wanted.is_null());
        let part = match wanted.map(|wanted| (wanted, wanted.as_str())) {
            None => told.clone(),
            Some((wanted, None)) => narrowed(told, wanted),
            // A text stays a text.
            Some((_, Some(text))) => match json::decode_implied(text) {
                Ok(wanted) => json::encode_plain(&narrowed(told, &wanted)).map_or_else(|_| told.clone(), Value::string),
                Err(_) => told.clone(),
            },
        };
        (name.clone(), part)
    });
    Value::object(parts.collect::<Vec<_>>())
}

/// What is told, as far as it is wanted. What is not told is taken to be as wanted.
fn narrowed(told: &Value, wanted: &Value) -> Value {
    if told.is_null() {
        return wanted.clone();
    }
    let (Some(parts), Some(others)) = (wanted.as_entries(), told.as_entries()) else { return told.clone() };
    let nothing = Value::null(Type::Dynamic);
    let part = |(name, wanted): (&Str, &Value)| {
        let told = others.get(name).unwrap_or(&nothing);
        (name.clone(), narrowed(told, wanted))
    };
    Value::object(parts.iter().map(part).collect::<Vec<_>>())
}

/// What is said where something is there already.
const ALREADY_THERE: &str = "Object exists already";

impl Adoption {
    /// What an object must be like. None if that is not known yet.
    fn wanted(&self, config: &Value) -> Option<Vec<Value>> {
        let wanted: Vec<Value> = self.match_by.iter().map(|path| part(config, path)).collect::<Option<_>>()?;
        let is_told = |value: &Value| value.is_wholly_known() && !value.is_null();
        (!wanted.is_empty() && wanted.iter().all(is_told)).then_some(wanted)
    }

    fn matches(&self, wanted: &[Value], found: &ListedObject) -> bool {
        let Some(object) = &found.object else { return false };
        self.match_by.iter().zip(wanted).all(|(path, wanted)| part(object, path).as_ref() == Some(wanted))
    }
}

/// A part of an object: an attribute, or what is below it; or a part of its body.
fn part(object: &Value, path: &str) -> Option<Value> {
    let entries = object.as_entries()?;
    let first = path.split('.').next()?;
    if entries.get(first).is_some() {
        return below(object, path);
    }
    let body = entries.get("body")?;
    match body.as_str() {
        Some(text) => below(&json::decode_implied(text).ok()?, path),
        None => below(body, path),
    }
}

fn below(value: &Value, path: &str) -> Option<Value> {
    path.split('.').try_fold(value.clone(), |value, step| value.as_entries()?.get(step).cloned())
}

fn said(problems: &Diagnostics) -> String {
    let told = |found: &Diagnostic| format!("{}: {}", found.summary, found.detail);
    problems.iter().filter(|found| found.is_error()).map(told).collect::<Vec<_>>().join("; ")
}

/// Whether a text is as a pattern says, in which `*` stands for anything.
pub fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_attributes_or_in_the_body() {
        let text = |text: &str| Value::string(text);
        let object =
            Value::object([("name", text("a")), ("body", Value::object([("name", text("b")), ("title", text("c"))]))]);
        assert_eq!(part(&object, "name"), Some(text("a")));
        assert_eq!(part(&object, "title"), Some(text("c")));
        assert_eq!(part(&object, "body.name"), Some(text("b")));
        assert_eq!(part(&object, "other"), None);
        let written = Value::object([("body", text("{\"name\": \"d\"}"))]);
        assert_eq!(part(&written, "name"), Some(text("d")));
    }

    #[test]
    fn what_is_not_known_yet_cannot_be_looked_for() {
        let adoption = Adoption { match_by: vec!["name".to_owned()], ..Adoption::default() };
        let config = |name: Value| Value::object([("name", name)]);
        assert!(adoption.wanted(&config(Value::string("a"))).is_some());
        assert!(adoption.wanted(&config(Value::unknown(groma_model::ty::Type::String))).is_none());
        assert!(adoption.wanted(&config(Value::null(groma_model::ty::Type::String))).is_none());
    }

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "abc", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c", false),
            ("a*a", "a", false),
            ("module.x[*].y", "module.x[\"k\"].y", true),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
