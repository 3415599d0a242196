//! Texts that must not be shown, wherever they turn up: what a value has that is sensitive or ephemeral, found again in the words of
//! others. For text that comes from outside, where there are no marks to go by; values have marks of their own.

use std::collections::{BTreeMap, BTreeSet};

use crate::mark::Mark;
use crate::schema::Block;
use crate::value::{PathMarks, Value, ValueKind, go_quote};

/// Shorter texts are found everywhere, and would make everything unreadable.
const SHORTEST: usize = 6;

/// A word behind a name that is shorter is no secret.
const LONG_WORD: usize = 8;

/// What stands where a secret was.
pub const HIDDEN: &str = "(sensitive value)";

type Beginning = [u8; SHORTEST];

/// Secrets that begin alike, by their length: there may be thousands, but hardly of many lengths.
type Alike = BTreeMap<usize, BTreeSet<Box<[u8]>>>;

/// Secrets that are known. Looking for them takes as long as reading the text, however many there are.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    by_beginning: BTreeMap<Beginning, Alike>,
}

impl Secrets {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_beginning.is_empty()
    }

    /// Learns everything that is marked in a value.
    pub fn learn_marked(&mut self, value: &Value) {
        if value.marks().is_sensitive() || value.marks().is_ephemeral() {
            self.learn_value(value);
        } else if value.contains_marks() {
            for part in value.parts() {
                self.learn_marked(part);
            }
        }
    }

    /// Learns everything that a schema wants to be hidden, or written and never read.
    pub fn learn_declared(&mut self, value: &Value, block: &Block) {
        if !block.contains_sensitive() && !block.contains_write_only() {
            return;
        }
        block.visit_attributes(value, &mut |_, attribute, value| {
            let secret = attribute.hides(value) || attribute.write_only;
            if secret {
                self.learn_value(value);
            }
            !secret
        });
    }

    /// Learns all texts of a value: names of a map's entries too.
    pub fn learn_value(&mut self, value: &Value) {
        match value.kind() {
            ValueKind::String(text) => self.learn(text),
            ValueKind::Map(entries) => {
                for name in entries.names().iter() {
                    self.learn(name);
                }
            }
            _ => {}
        }
        for part in value.parts() {
            self.learn_value(part);
        }
    }

    /// Learns one, as it is and as quoted text has it, each line of one that has several, and what gives access in an address: messages
    /// quote those in part.
    pub fn learn(&mut self, text: &str) {
        self.add(text);
        let quoted = go_quote(text);
        if let Some(inside) = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
            && inside != text
        {
            self.add(inside);
        }
        for part in parts_of_address(text) {
            self.add(part);
        }
        if text.contains('\n') {
            for line in text.lines().map(str::trim).filter(|line| tells_something(line)) {
                self.add(line);
            }
        }
    }

    fn add(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let Some(beginning) = bytes.first_chunk::<SHORTEST>() else { return };
        let alike = self.by_beginning.entry(*beginning).or_default().entry(bytes.len()).or_default();
        if !alike.contains(bytes) {
            alike.insert(bytes.into());
        }
    }

    /// The text without secrets, if it has any.
    pub fn hide(&self, text: &str) -> Option<String> {
        let mut hidden: Option<String> = None;
        let (mut kept, mut at) = (0, 0);
        while let Some(secret) = text.as_bytes().get(at..).filter(|rest| !rest.is_empty() && !self.is_empty()) {
            match self.at_start_of(secret) {
                Some(length) => {
                    let hidden = hidden.get_or_insert_default();
                    hidden.push_str(&text[kept..at]);
                    hidden.push_str(HIDDEN);
                    at += length;
                    kept = at;
                }
                None => at += 1,
            }
        }
        hidden.map(|hidden| hidden + &text[kept..])
    }

    /// Whether some text of a value has a secret in it.
    pub fn are_in(&self, value: &Value) -> bool {
        if self.is_empty() {
            return false;
        }
        let own = match value.kind() {
            ValueKind::String(text) => self.hide(text).is_some(),
            ValueKind::Map(entries) | ValueKind::Object(entries) => {
                entries.names().iter().any(|name| self.hide(name).is_some())
            }
            _ => false,
        };
        own || value.parts().iter().any(|part| self.are_in(part))
    }

    /// How long the longest secret is that a text begins with. Secrets are whole texts, so no character is ever cut.
    fn at_start_of(&self, text: &[u8]) -> Option<usize> {
        let alike = self.by_beginning.get(text.first_chunk::<SHORTEST>()?)?;
        let begins_with = |(length, secrets): (&usize, &BTreeSet<Box<[u8]>>)| {
            text.get(..*length).filter(|start| secrets.contains(*start)).map(<[u8]>::len)
        };
        alike.iter().rev().find_map(begins_with)
    }
}

/// Whether a line by itself is worth hiding. One that has but a name for what follows, or a short word behind its name, is in many texts:
/// `clusters:`, `kind: Config`.
fn tells_something(line: &str) -> bool {
    // Base64 may end with such signs.
    let by_sign = line.trim_end_matches('=').split_once('=');
    match line.split_once(": ").or(by_sign).map(|(_, value)| value.trim()) {
        Some(value) => value.len() >= SHORTEST && (value.len() >= LONG_WORD || !value.chars().all(char::is_alphabetic)),
        None => !line.ends_with(':'),
    }
}

/// User, password and the values of a query in an address. Where it leads to is nothing to hide.
fn parts_of_address(text: &str) -> impl Iterator<Item = &str> {
    let address = text.split_once("://").map_or("", |(_, rest)| rest);
    let authority = address.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let values = query.split(['&', '#']).filter_map(|pair| pair.split_once('=')).map(|(_, value)| value);
    user.split(':').chain(values)
}

/// Marks what repeats elsewhere in a value what is hidden in it: providers copy what they are given. Only for showing; expressions go by
/// what was said of each part. The schema, where there is one, tells what in a set is meant, which has marks only as a whole.
pub fn with_echoes_hidden(value: Value, block: Option<&Block>) -> Value {
    if !value.contains_marks() {
        return value;
    }
    let mut hidden = Hidden::default();
    hidden.collect(&value);
    if let Some(block) = block {
        hidden.secrets.learn_declared(&value, block);
    }
    if hidden.secrets.is_empty() && hidden.wholes.is_empty() { value } else { hidden.mark_in(value) }
}

/// The marks that [`with_echoes_hidden`] adds.
pub fn echoes(value: &Value, block: &Block) -> Vec<PathMarks> {
    if !value.contains_marks() {
        return Vec::new();
    }
    let marks = |value: Value| value.unmark_deep_with_paths().1;
    let known = marks(value.clone());
    let mut all = marks(with_echoes_hidden(value.clone(), Some(block)));
    all.retain(|at| !known.contains(at));
    all
}

#[derive(Default)]
struct Hidden {
    secrets: Secrets,
    /// Collections, which may have nothing but names to hide.
    wholes: Vec<Value>,
}

impl Hidden {
    fn collect(&mut self, value: &Value) {
        if value.marks().is_sensitive() || value.marks().is_ephemeral() {
            let is_set_of_objects =
                matches!(value.kind(), ValueKind::Set([first, ..]) if matches!(first.kind(), ValueKind::Object(_)));
            if !is_set_of_objects {
                self.secrets.learn_value(value);
            }
            let plain = value.clone().unmark_deep().0;
            if !plain.parts().is_empty() {
                self.wholes.push(plain);
            }
        } else if value.contains_marks() {
            for part in value.parts() {
                self.collect(part);
            }
        }
    }

    fn mark_in(&self, value: Value) -> Value {
        if value.marks().is_sensitive() {
            return value;
        }
        let names_hide = match value.kind() {
            ValueKind::String(text) => self.secrets.hide(text).is_some(),
            ValueKind::Map(entries) => entries.names().iter().any(|name| self.secrets.hide(name).is_some()),
            ValueKind::Set(_) => self.secrets.are_in(&value),
            _ => false,
        };
        if names_hide || self.wholes.contains(&value) {
            return value.mark(Mark::Sensitive);
        }
        // Nothing inside a set can have marks.
        if matches!(value.kind(), ValueKind::Set(_)) { value } else { value.map_parts(|part| self.mark_in(part)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::schema::{Attribute, AttributeKind, NestedObject, Nesting};
    use crate::ty::Type;

    fn of(texts: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        for text in texts {
            secrets.learn(text);
        }
        secrets
    }

    #[test]
    fn they_are_hidden_wherever_they_stand() {
        let secrets = of(&["password", "password1", "geheimniß"]);
        assert_eq!(secrets.hide("nothing here, nor passwor"), None);
        assert_eq!(
            secrets.hide("a=password1,b=passwordpassword").as_deref(),
            Some("a=(sensitive value),b=(sensitive value)(sensitive value)")
        );
        assert_eq!(secrets.hide("ein geheimniß: ß").as_deref(), Some("ein (sensitive value): ß"));
        assert_eq!(of(&["short"]).hide("short"), None);
        assert_eq!(of(&[]).hide("password"), None);
    }

    #[test]
    fn they_are_known_when_they_are_quoted_or_in_lines() {
        let secrets = of(&["say \"friend\"", "-----BEGIN-----\nabcdefgh\n"]);
        assert_eq!(secrets.hide("{\"a\":\"say \\\"friend\\\"\"}").as_deref(), Some("{\"a\":\"(sensitive value)\"}"));
        assert_eq!(secrets.hide("key: abcdefgh").as_deref(), Some("key: (sensitive value)"));
    }

    #[test]
    fn lines_that_many_texts_have_are_not_hidden() {
        let secrets = of(&[
            "apiVersion: v1\nkind: Config\nclusters:\n- name: x\nusers:\n- user:\n    token: abc-123\nZGF0YQ==\n",
        ]);
        assert_eq!(secrets.hide("apiVersion: v1\nkind: ConfigMap\nusers: clusters: - name: x"), None);
        assert_eq!(secrets.hide("at \"token: abc-123\"").as_deref(), Some("at \"(sensitive value)\""));
        assert_eq!(secrets.hide("ZGF0YQ==").as_deref(), Some(HIDDEN));
    }

    #[test]
    fn what_repeats_a_secret_is_hidden_too() {
        let named = Value::object([("secret-name", Value::bool(true))]);
        let value = Value::object([
            ("input", Value::string("a secret").mark(Mark::Sensitive)),
            ("output", Value::string("a secret")),
            ("url", Value::tuple(vec![Value::string("with a secret in it"), Value::string("without")])),
            ("names", named.clone().mark(Mark::Sensitive)),
            ("same_names", Value::tuple(vec![named])),
        ]);
        let shown = with_echoes_hidden(value.clone(), None);
        let at = |name: &str| match shown.kind() {
            ValueKind::Object(entries) => entries.get(name).cloned().unwrap(),
            _ => Value::bool(false),
        };
        assert!(at("output").marks().is_sensitive() && !at("url").marks().is_sensitive());
        let marks = |value: Value| value.unmark_deep_with_paths().1.len();
        assert_eq!((marks(at("url")), marks(at("same_names"))), (1, 1));
        let plain = value.unmark_deep().0;
        assert_eq!(with_echoes_hidden(plain.clone(), None), plain);
    }

    #[test]
    fn of_a_set_only_what_is_declared_is_looked_for() {
        let text = Attribute::of_type(Type::String);
        let inside = [("key".into(), Attribute { sensitive: true, ..text.clone() }), ("kind".into(), text.clone())];
        let nested = NestedObject { attributes: inside.into(), nesting: Nesting::Set };
        let of_set = Attribute { ty: AttributeKind::Nested(Arc::new(nested)), ..text.clone() };
        let block = Block {
            attributes: [("all".into(), of_set), ("copy".into(), text.clone()), ("kind".into(), text)].into(),
            ..Block::default()
        };
        let element = Value::object([("key", Value::string("a secret")), ("kind", Value::string("as usual"))]);
        let set = Value::set(element.ty(), vec![element]).mark(Mark::Sensitive);
        let value =
            Value::object([("all", set), ("copy", Value::string("a secret")), ("kind", Value::string("as usual"))]);
        let found: Vec<String> = echoes(&value, &block).iter().map(|at| at.path.to_string()).collect();
        assert_eq!(found, [".copy"]);
    }

    #[test]
    fn of_an_address_what_gives_access_is_hidden() {
        let secrets = of(&["https://somebody:password@example.com/path/to?token=abcdefgh&n=1"]);
        let hidden = secrets.hide("GET https://example.com/path/to?token=abcdefgh for somebody with password");
        let shown =
            "GET https://example.com/path/to?token=(sensitive value) for (sensitive value) with (sensitive value)";
        assert_eq!(hidden.as_deref(), Some(shown));
    }

    #[test]
    fn only_what_is_marked_or_declared_is_learnt() {
        let list = |items: &[Value]| Value::tuple(items.to_vec());
        let hidden = list(&[Value::string("inside-it")]).mark(Mark::Sensitive);
        let value = list(&[Value::string("in-plain"), hidden, Value::string("fleeting").mark(Mark::Ephemeral)]);
        let mut secrets = Secrets::default();
        secrets.learn_marked(&value);
        assert!(secrets.hide("in-plain").is_none());
        assert!(secrets.hide("inside-it").is_some() && secrets.hide("fleeting").is_some());
        assert!(secrets.are_in(&list(&[Value::string("not inside-it")])));
        assert!(!secrets.are_in(&Value::string("in-plain")));

        let mut block = Block::default();
        let text = Attribute::of_type(Type::String);
        block.attributes.insert("open".into(), text.clone());
        block.attributes.insert("key".into(), Attribute { sensitive: true, ..text.clone() });
        block.attributes.insert("written".into(), Attribute { write_only: true, ..text });
        let texts = [("open", "open text"), ("key", "key text"), ("written", "written text")];
        let object = Value::object(texts.map(|(name, text)| (name, Value::string(text))));
        let mut secrets = Secrets::default();
        secrets.learn_declared(&object, &block);
        let found = texts.map(|(_, text)| secrets.hide(text).is_some());
        assert_eq!(found, [false, true, true]);
    }
}
