//! From the shape of a file to settings.

use std::collections::BTreeMap;

use groma_fetch::credentials::Token;
use groma_fetch::host::Host;
use groma_model::diag::{Diagnostic, Diagnostics};

use super::CredentialsHelper;
use super::hcl1::{self, Item, Kind, Place, Value};
use super::installation::{self, ProviderInstallation};

/// What one file says.
#[derive(Debug, Default)]
pub(super) struct FileConfig {
    pub(super) plugin_cache_dir: Option<String>,
    pub(super) may_break_lock_file: bool,
    pub(super) hosts: BTreeMap<Host, serde_json::Map<String, serde_json::Value>>,
    pub(super) credentials: BTreeMap<Host, Token>,
    pub(super) helpers: Vec<CredentialsHelper>,
    pub(super) retries: Option<u32>,
    pub(super) timeout_seconds: Option<u32>,
    pub(super) installations: Vec<ProviderInstallation>,
}

/// Reads a file.
pub(super) fn decode(file: &str, text: &str) -> (FileConfig, Diagnostics) {
    let parsed = match hcl1::read(text) {
        Ok(parsed) => parsed,
        Err(problem) => {
            let detail = format!("Error parsing {file}: {problem}.");
            return (FileConfig::default(), Diagnostic::error("Invalid CLI configuration", detail).into());
        }
    };
    let mut reading = Reading { file, is_json: parsed.is_json, diagnostics: Diagnostics::new() };
    let mut found = FileConfig::default();
    for item in &parsed.items {
        reading.setting(item, &mut found);
    }
    (found, reading.diagnostics)
}

/// A file that is being read.
pub(super) struct Reading<'a> {
    pub(super) file: &'a str,
    pub(super) is_json: bool,
    pub(super) diagnostics: Diagnostics,
}

/// A block with a label: the label, where it is, what is inside.
type Labelled<'a> = (String, Place, &'a [Item]);

impl Reading<'_> {
    pub(super) fn error(&mut self, summary: &str, at: Place, problem: &str) {
        let detail = format!("In {} at {at}: {problem}.", self.file);
        self.diagnostics.push(Diagnostic::error(summary, detail));
    }

    /// OpenTofu ignores what it does not know; a misspelt setting deserves a word.
    pub(super) fn unknown(&mut self, item: &Item, inside: &str) {
        let detail = format!("In {} at {}: {inside} has no setting {:?}.", self.file, item.at, item.name());
        self.diagnostics.push(Diagnostic::warning("Unknown setting in the CLI configuration", detail));
    }

    fn setting(&mut self, item: &Item, found: &mut FileConfig) {
        match item.name() {
            "plugin_cache_dir" => found.plugin_cache_dir = self.text(item),
            "plugin_cache_may_break_dependency_lock_file" => {
                found.may_break_lock_file = self.bool(item).unwrap_or(false);
            }
            "host" => {
                for (host, at, body) in self.labelled(item) {
                    self.host(&host, at, body, found);
                }
            }
            "credentials" => {
                for (host, at, body) in self.labelled(item) {
                    self.credentials(&host, at, body, found);
                }
            }
            "credentials_helper" => {
                for (name, _, body) in self.labelled(item) {
                    let args = body.iter().find(|item| item.name() == "args");
                    let args = args.map(|args| self.texts(args)).unwrap_or_default();
                    found.helpers.push(CredentialsHelper { name, args });
                }
            }
            "registry_protocols" => self.registry_protocols(item, found),
            "provider_installation" => found.installations.extend(installation::decode(self, item)),
            // Of Terraform, of the past, or for registries of containers, which are not used here.
            "disable_checkpoint" | "disable_checkpoint_signature" | "providers" | "provisioners" => {}
            "oci_default_credentials" | "oci_credentials" => {}
            _ => self.unknown(item, "the CLI configuration"),
        }
    }

    fn host(&mut self, host: &str, at: Place, body: &[Item], found: &mut FileConfig) {
        let Some(host) = self.host_name("host", host, at) else { return };
        let mut services = serde_json::Map::new();
        for item in body.iter().filter(|item| item.name() == "services") {
            if let Kind::Object(items) = &item.value.kind {
                services.extend(items.iter().map(|item| (item.name().to_owned(), json(&item.value))));
            }
        }
        found.hosts.insert(host, services);
    }

    fn credentials(&mut self, host: &str, at: Place, body: &[Item], found: &mut FileConfig) {
        let Some(host) = self.host_name("credentials", host, at) else { return };
        let token = body.iter().find(|item| item.name() == "token").and_then(|item| self.text(item));
        if let Some(token) = token {
            found.credentials.insert(host, Token::new(token));
        }
    }

    fn host_name(&mut self, block: &str, host: &str, at: Place) -> Option<Host> {
        match Host::parse(host) {
            Ok(host) => Some(host),
            Err(problem) => {
                let problem = format!("the {block} {host:?} block has an invalid hostname: {problem}");
                self.error("Invalid CLI configuration", at, &problem);
                None
            }
        }
    }

    fn registry_protocols(&mut self, item: &Item, found: &mut FileConfig) {
        let Kind::Object(items) = &item.value.kind else {
            self.error("Invalid registry_protocols block", item.at, "it must be a block");
            return;
        };
        for item in items {
            match item.name() {
                "retry_count" => found.retries = self.number(item),
                "request_timeout_seconds" => found.timeout_seconds = self.number(item),
                _ => self.unknown(item, "registry_protocols"),
            }
        }
    }

    /// Blocks with one label. JSON writes labels as keys of an object.
    fn labelled<'i>(&mut self, item: &'i Item) -> Vec<Labelled<'i>> {
        match (&item.value.kind, item.keys.as_slice()) {
            (Kind::Object(body), [_, label]) => vec![(label.clone(), item.at, body.as_slice())],
            (Kind::Object(labels), [_]) => labels
                .iter()
                .filter_map(|inner| match &inner.value.kind {
                    Kind::Object(body) => Some((inner.name().to_owned(), inner.at, body.as_slice())),
                    _ => None,
                })
                .collect(),
            _ => {
                let problem = format!("{} must be a block with one label", item.name());
                self.error("Invalid CLI configuration", item.at, &problem);
                Vec::new()
            }
        }
    }

    fn expected(&mut self, item: &Item, what: &str) {
        let problem = format!("{:?} must be {what}", item.name());
        self.error("Invalid CLI configuration", item.value.at, &problem);
    }

    pub(super) fn text(&mut self, item: &Item) -> Option<String> {
        let text = plain_text(&item.value);
        if text.is_none() {
            self.expected(item, "a string");
        }
        text
    }

    pub(super) fn texts(&mut self, item: &Item) -> Vec<String> {
        let texts = match &item.value.kind {
            Kind::List(elements) => elements.iter().map(plain_text).collect(),
            _ => None,
        };
        texts.unwrap_or_else(|| {
            self.expected(item, "a list of strings");
            Vec::new()
        })
    }

    pub(super) fn number(&mut self, item: &Item) -> Option<u32> {
        let number = plain_text(&item.value).and_then(|text| text.parse().ok());
        if number.is_none() {
            self.expected(item, "a whole number");
        }
        number
    }

    pub(super) fn bool(&mut self, item: &Item) -> Option<bool> {
        let value = match &item.value.kind {
            Kind::Bool(value) => Some(*value),
            Kind::Text(text) | Kind::Number(text) => match text.as_str() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        };
        if value.is_none() {
            self.expected(item, "true or false");
        }
        value
    }
}

fn plain_text(value: &Value) -> Option<String> {
    match &value.kind {
        Kind::Text(text) | Kind::Number(text) => Some(text.clone()),
        Kind::Bool(value) => Some(value.to_string()),
        Kind::Null | Kind::List(_) | Kind::Object(_) => None,
    }
}

/// Services are handed on as they are: a text is an address, `login.v1` is an object.
fn json(value: &Value) -> serde_json::Value {
    match &value.kind {
        Kind::Null => serde_json::Value::Null,
        Kind::Bool(value) => (*value).into(),
        Kind::Number(text) => {
            serde_json::from_str::<serde_json::Number>(text).map_or_else(|_| text.clone().into(), Into::into)
        }
        Kind::Text(text) => text.clone().into(),
        Kind::List(elements) => elements.iter().map(json).collect(),
        Kind::Object(items) => {
            let entries = items.iter().map(|item| (item.name().to_owned(), json(&item.value)));
            serde_json::Value::Object(entries.collect())
        }
    }
}
