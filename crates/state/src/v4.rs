//! The version 4 format of state files.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use groma_model::address::{
    AbsResource, ConfigResource, InstanceKey, ModuleInstance, ProviderConfig, Resource, ResourceMode,
};
use groma_model::codec::CodecError;
use groma_model::codec::json::{Json, write_string};

use crate::pretty::pretty;
use crate::{ObjectState, ResourceState, State};

/// Why a text is not a state that can be used.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// There is nothing in it.
    #[error("it is empty, which no tool writes: restore it from a backup, or remove it if nothing was ever made")]
    Empty,
    /// Not JSON.
    #[error("it is not valid JSON: {0}")]
    Syntax(CodecError),
    /// Another format version.
    #[error("it has format version {0}, and only version 4 can be read")]
    Version(String),
    /// A part is missing or of the wrong kind.
    #[error("{at}: expected {expected}")]
    Shape {
        /// Where.
        at: String,
        /// What should be there.
        expected: &'static str,
    },
    /// A part that would be lost if it were written back.
    #[error("{at}: {what} cannot be kept yet")]
    Unsupported {
        /// Where.
        at: String,
        /// What.
        what: &'static str,
    },
}

fn shape(at: impl Into<String>, expected: &'static str) -> DecodeError {
    DecodeError::Shape { at: at.into(), expected }
}

/// Reads a state.
pub fn decode(text: &str) -> Result<State, DecodeError> {
    if text.trim().is_empty() {
        return Err(DecodeError::Empty);
    }
    let json = Json::parse(text).map_err(DecodeError::Syntax)?;
    match json.get("version") {
        Some(Json::Number("4")) => {}
        Some(Json::Number(other)) => return Err(DecodeError::Version((*other).to_owned())),
        _ => return Err(shape("version", "a number")),
    }
    if matches!(json.get("outputs"), Some(Json::Object(outputs)) if !outputs.is_empty()) {
        return Err(DecodeError::Unsupported { at: "outputs".into(), what: "an output value" });
    }
    let mut resources = BTreeMap::new();
    for (at, resource) in array(&json, "resources")?.iter().enumerate() {
        let (address, state) = decode_resource(resource, &format!("resources[{at}]"))?;
        resources.insert(address, state);
    }
    Ok(State {
        tool_version: text_of(&json, "terraform_version", "terraform_version")?,
        serial: number(&json, "serial")?.parse().map_err(|_| shape("serial", "a whole number"))?,
        lineage: text_of(&json, "lineage", "lineage")?,
        resources,
    })
}

fn array<'j, 't>(json: &'j Json<'t>, name: &str) -> Result<&'j [Json<'t>], DecodeError> {
    match json.get(name) {
        Some(Json::Array(items)) => Ok(items),
        _ => Err(shape(name, "an array")),
    }
}

fn number<'t>(json: &Json<'t>, name: &str) -> Result<&'t str, DecodeError> {
    match json.get(name) {
        Some(Json::Number(text)) => Ok(text),
        _ => Err(shape(name, "a number")),
    }
}

fn text_of(json: &Json<'_>, name: &str, at: &str) -> Result<String, DecodeError> {
    match json.get(name) {
        Some(Json::String(text)) => Ok(text.clone().into_owned()),
        _ => Err(shape(at, "a string")),
    }
}

fn decode_resource(json: &Json<'_>, at: &str) -> Result<(AbsResource, ResourceState), DecodeError> {
    let text = |name: &str| text_of(json, name, &format!("{at}.{name}"));
    if text("mode")? != "managed" {
        return Err(DecodeError::Unsupported { at: at.to_owned(), what: "a data source" });
    }
    let module = match json.get("module") {
        None => ModuleInstance::root(),
        Some(Json::String(module)) => module.parse().map_err(|_| shape(format!("{at}.module"), "a module address"))?,
        Some(_) => return Err(shape(format!("{at}.module"), "a string")),
    };
    let address = Resource::new(ResourceMode::Managed, text("type")?, text("name")?).absolute(module);
    let provider: ProviderConfig =
        text("provider")?.parse().map_err(|_| shape(format!("{at}.provider"), "a provider address"))?;
    let mut instances = BTreeMap::new();
    for (index, instance) in array(json, "instances")?.iter().enumerate() {
        let (key, object) = decode_instance(instance, &format!("{at}.instances[{index}]"))?;
        instances.insert(key, object);
    }
    Ok((address, ResourceState { provider, instances }))
}

fn decode_instance(json: &Json<'_>, at: &str) -> Result<(InstanceKey, ObjectState), DecodeError> {
    for (name, what) in [("deposed", "a deposed object"), ("status", "a tainted object"), ("identity", "an identity")] {
        if json.get(name).is_some() {
            return Err(DecodeError::Unsupported { at: at.to_owned(), what });
        }
    }
    let key = match json.get("index_key") {
        None => InstanceKey::None,
        Some(Json::String(text)) => InstanceKey::String(text.as_ref().into()),
        Some(Json::Number(text)) => InstanceKey::Int(text.parse().map_err(|_| shape(at, "a whole number as key"))?),
        Some(_) => return Err(shape(format!("{at}.index_key"), "a string or a number")),
    };
    let attributes = json.get("attributes").ok_or_else(|| shape(format!("{at}.attributes"), "an object"))?;
    let private = match json.get("private") {
        None => Vec::new(),
        Some(Json::String(text)) => {
            BASE64.decode(text.as_bytes()).map_err(|_| shape(format!("{at}.private"), "base64"))?
        }
        Some(_) => return Err(shape(format!("{at}.private"), "a string")),
    };
    let dependencies = match json.get("dependencies") {
        None => Vec::new(),
        Some(Json::Array(items)) => items.iter().map(|item| dependency(item, at)).collect::<Result<_, _>>()?,
        Some(_) => return Err(shape(format!("{at}.dependencies"), "an array")),
    };
    let schema_version =
        number(json, "schema_version")?.parse().map_err(|_| shape(format!("{at}.schema_version"), "a whole number"))?;
    Ok((key, ObjectState { schema_version, attributes: pretty(attributes), private, dependencies }))
}

fn dependency(json: &Json<'_>, at: &str) -> Result<ConfigResource, DecodeError> {
    let Json::String(text) = json else { return Err(shape(format!("{at}.dependencies"), "a string")) };
    text.parse().map_err(|_| shape(format!("{at}.dependencies"), "a resource address"))
}

/// Writes a state, indented as for a local file.
pub fn encode(state: &State) -> String {
    let mut out = Object::new();
    out.raw("version", "4");
    out.text("terraform_version", &state.tool_version);
    out.raw("serial", &state.serial.to_string());
    out.text("lineage", &state.lineage);
    out.raw("outputs", "{}");
    out.list("resources", state.resources.iter().map(|(address, resource)| encode_resource(address, resource)));
    out.raw("check_results", "null");
    let compact = out.finish();
    // Attributes come from providers as values, so what was put together here is JSON.
    Json::parse(&compact).map_or(compact.clone(), |json| pretty(&json))
}

fn encode_resource(address: &AbsResource, state: &ResourceState) -> String {
    let mut out = Object::new();
    if !address.module.is_root() {
        out.text("module", &address.module.to_string());
    }
    out.text("mode", "managed");
    out.text("type", &address.resource.ty);
    out.text("name", &address.resource.name);
    out.text("provider", &state.provider.to_string());
    out.list("instances", state.instances.iter().map(|(key, object)| encode_instance(key, object)));
    out.finish()
}

fn encode_instance(key: &InstanceKey, object: &ObjectState) -> String {
    let mut out = Object::new();
    match key {
        InstanceKey::None => {}
        InstanceKey::Int(number) => out.raw("index_key", &number.to_string()),
        InstanceKey::String(text) => out.text("index_key", text),
    }
    out.raw("schema_version", &object.schema_version.to_string());
    out.raw("attributes", &object.attributes);
    out.raw("sensitive_attributes", "[]");
    if !object.private.is_empty() {
        out.text("private", &BASE64.encode(&object.private));
    }
    if !object.dependencies.is_empty() {
        let quoted = |dependency: &ConfigResource| {
            let mut text = String::new();
            write_string(&mut text, &dependency.to_string());
            text
        };
        out.list("dependencies", object.dependencies.iter().map(quoted));
    }
    out.finish()
}

/// Puts a JSON object together, member by member.
struct Object(String);

impl Object {
    fn new() -> Self {
        Self("{".to_owned())
    }

    fn raw(&mut self, name: &str, json: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        write_string(&mut self.0, name);
        self.0.push(':');
        self.0.push_str(json);
    }

    fn text(&mut self, name: &str, text: &str) {
        let mut quoted = String::new();
        write_string(&mut quoted, text);
        self.raw(name, &quoted);
    }

    fn list(&mut self, name: &str, items: impl Iterator<Item = String>) {
        let items: Vec<String> = items.collect();
        self.raw(name, &format!("[{}]", items.join(",")));
    }

    fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
  "version": 4,
  "terraform_version": "1.12.6",
  "serial": 3,
  "lineage": "0b6fa3d8-7a0c-4b7e-9a55-d3a6e1c0b9c1",
  "outputs": {},
  "resources": [
    {
      "mode": "managed",
      "type": "time_static",
      "name": "a",
      "provider": "provider[\"registry.opentofu.org/hashicorp/time\"]",
      "instances": [
        {
          "schema_version": 0,
          "attributes": {
            "id": "\u003cx\u003e",
            "year": 12345678901234567890
          },
          "sensitive_attributes": [],
          "private": "YWJj"
        }
      ]
    }
  ],
  "check_results": null
}
"#;

    #[test]
    fn a_state_is_written_as_it_was_read() {
        let state = decode(TEXT).unwrap();
        assert_eq!(state.serial, 3);
        assert_eq!(encode(&state), TEXT);
    }

    #[test]
    fn damage_is_never_taken_for_nothing() {
        assert!(matches!(decode(""), Err(DecodeError::Empty)));
        for cut in 1..TEXT.len() - 2 {
            assert!(decode(&TEXT[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        let tainted = TEXT.replace("\"schema_version\": 0", "\"status\": \"tainted\", \"schema_version\": 0");
        assert!(matches!(decode(&tainted), Err(DecodeError::Unsupported { .. })));
        assert!(matches!(decode(&TEXT.replace("\"version\": 4", "\"version\": 5")), Err(DecodeError::Version(_))));
    }
}
