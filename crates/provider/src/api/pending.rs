//! Objects that are there and not ready yet: what is written down about them in the data that is kept with an object, in a form that
//! every kind of plugin carries along.
//!
//! The private data of plugins made with terraform-plugin-sdk is a JSON object with anything in it, that of terraform-plugin-framework
//! one whose values are JSON documents in base64. So ours is a member of that object, a JSON document in base64.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_model::codec::json::{Json, write_string};

use super::messages::{NotReady, Patience, Private};

/// The member of private data that is ours.
const KEY: &str = "groma_not_ready";

/// An object that is there and not ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// What it waits for.
    pub waiting_for: String,
    /// What was seen last, never a secret.
    pub last_seen: Option<String>,
    /// Since when: seconds since 1970, if somebody knew.
    pub since: Option<i64>,
    /// Who says so.
    pub by: SaidBy,
    /// How long it is looked at again, if its provider has said that.
    pub patience: Option<Patience>,
}

/// Who says that an object is not ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SaidBy {
    /// Its provider.
    Provider,
    /// A rule beside the configuration.
    Rule,
    /// Whoever made it failed half way, and a rule says that it is kept.
    CreateError,
}

impl SaidBy {
    const ALL: [(SaidBy, &'static str); 3] =
        [(SaidBy::Provider, "provider"), (SaidBy::Rule, "rule"), (SaidBy::CreateError, "create_error")];

    /// As machines are told.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(by, _)| *by == self).map_or("provider", |(_, name)| *name)
    }
}

impl Pending {
    /// What a provider has said.
    pub fn said(not_ready: NotReady, since: Option<i64>) -> Self {
        let NotReady { waiting_for, last_seen, patience } = not_ready;
        Self { waiting_for, last_seen, since, by: SaidBy::Provider, patience }
    }

    /// The first line of what was seen; the others are for who wants to know more.
    pub fn seen_in_brief(&self) -> Option<&str> {
        self.last_seen.as_deref().and_then(|seen| seen.lines().next())
    }

    /// As a provider says it.
    pub fn not_ready(&self) -> NotReady {
        NotReady { waiting_for: self.waiting_for.clone(), last_seen: self.last_seen.clone(), patience: self.patience }
    }

    /// Takes what is ours out of private data: what is left is the provider's.
    pub fn split(private: Private) -> (Private, Option<Self>) {
        let Some(text) = std::str::from_utf8(&private.0).ok().filter(|text| text.contains(KEY)) else {
            return (private, None);
        };
        let Ok(Json::Object(members)) = Json::parse(text) else { return (private, None) };
        let (ours, theirs): (Vec<_>, Vec<_>) = members.into_iter().partition(|(name, _)| name == KEY);
        let Some((_, Json::String(encoded))) = ours.last() else { return (private, None) };
        let pending = Self::decode(encoded);
        // What cannot be read is ours nevertheless.
        let rest = if theirs.is_empty() { Vec::new() } else { Json::Object(theirs).to_text().into_bytes() };
        (Private(rest), pending)
    }

    /// Adds what is ours to private data. None if that is nothing that can be added to.
    pub fn join(&self, private: &Private) -> Option<Private> {
        let ours = (Cow::Borrowed(KEY), Json::String(Cow::Owned(STANDARD.encode(self.document()))));
        let mut members = match std::str::from_utf8(&private.0).ok()? {
            "" => Vec::new(),
            text => match Json::parse(text).ok()? {
                Json::Object(members) => members,
                _ => return None,
            },
        };
        members.retain(|(name, _)| name != KEY);
        members.push(ours);
        Some(Private(Json::Object(members).to_text().into_bytes()))
    }

    /// Whether private data can be added to.
    pub fn fits(private: &Private) -> bool {
        private.0.is_empty()
            || std::str::from_utf8(&private.0).is_ok_and(|text| matches!(Json::parse(text), Ok(Json::Object(_))))
    }

    fn document(&self) -> String {
        let mut out = String::from("{\"waiting_for\":");
        write_string(&mut out, &self.waiting_for);
        if let Some(seen) = &self.last_seen {
            out.push_str(",\"last_seen\":");
            write_string(&mut out, seen);
        }
        if let Some(since) = self.since {
            // Writing to a string does not fail.
            let _ = write!(out, ",\"since\":{since}");
        }
        if let Some(Patience { timeout, interval }) = self.patience {
            let (timeout, interval) = (timeout.as_millis(), interval.as_millis());
            let _ = write!(out, ",\"timeout_ms\":{timeout},\"interval_ms\":{interval}");
        }
        let _ = write!(out, ",\"by\":\"{}\"}}", self.by.name());
        out
    }

    fn decode(encoded: &str) -> Option<Self> {
        let text = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
        let json = Json::parse(&text).ok()?;
        let string = |name: &str| match json.get(name) {
            Some(Json::String(text)) => Some(text.to_string()),
            _ => None,
        };
        let number = |name: &str| match json.get(name) {
            Some(Json::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        let millis = |name: &str| Some(Duration::from_millis(number(name)?.parse().ok()?));
        let patience = millis("timeout_ms").zip(millis("interval_ms"));
        let by = string("by").and_then(|by| SaidBy::ALL.iter().find(|(_, name)| *name == by).map(|(by, _)| *by));
        Some(Self {
            waiting_for: string("waiting_for")?,
            last_seen: string("last_seen"),
            since: number("since").and_then(|since| since.parse().ok()),
            by: by.unwrap_or(SaidBy::Provider),
            patience: patience.map(|(timeout, interval)| Patience { timeout, interval }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending() -> Pending {
        Pending {
            waiting_for: "self.status == \"up\"".to_owned(),
            last_seen: Some("self.status is \"off\"".to_owned()),
            since: Some(1_700_000_000),
            by: SaidBy::Rule,
            patience: Some(Patience { timeout: Duration::from_mins(10), interval: Duration::from_millis(1500) }),
        }
    }

    #[test]
    fn private_data_of_both_kinds_of_plugins_is_carried() {
        for theirs in ["", r#"{"schema_version":"1","e2bfb730":{"create":60000000000}}"#, r#"{".frameworkKey":"e30="}"#]
        {
            let theirs = Private(theirs.into());
            let joined = pending().join(&theirs).unwrap();
            assert_eq!(Pending::split(joined.clone()), (theirs.clone(), Some(pending())));
            // Said again, it is said once.
            let again = Pending { last_seen: None, ..pending() };
            assert_eq!(Pending::split(again.join(&joined).unwrap()), (theirs, Some(again)));
        }
        assert_eq!(Pending::split(Private(b"{}".to_vec())), (Private(b"{}".to_vec()), None));
    }

    #[test]
    fn other_private_data_is_left_alone() {
        for theirs in [&b"\x80\x01"[..], b"text", b"[1]", b"{\"groma_not_ready\": 1", b"\"groma_not_ready\""] {
            let theirs = Private(theirs.to_vec());
            assert_eq!(pending().join(&theirs), None);
            assert!(!Pending::fits(&theirs));
            assert_eq!(Pending::split(theirs.clone()), (theirs, None));
        }
    }

    #[test]
    fn values_are_json_documents_in_base64() {
        let Private(bytes) = pending().join(&Private::default()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let Json::Object(members) = Json::parse(&text).unwrap() else { panic!("{text}") };
        for (_, value) in members {
            let Json::String(encoded) = value else { panic!("{text}") };
            Json::parse(std::str::from_utf8(&STANDARD.decode(encoded.as_ref()).unwrap()).unwrap()).unwrap();
        }
    }
}
