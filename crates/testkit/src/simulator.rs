//! The provider of the simulated [`Cloud`]: two resource types that differ in how exact their plans are, and a data source.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use groma_model::codec::json;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::number::Number;
use groma_model::path::Path;
use groma_model::schema::{Attribute, Block, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::{
    Answer, ApplyRequest, ApplyResponse, Outcome, PlanRequest, PlanResponse, Private, Provider, ProviderSchema,
    RawState, ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, UpgradeRequest, UpgradeResponse,
};

use crate::chance::Chance;
use crate::cloud::{Cloud, Fault, text};

/// The resource type whose plans are exact.
pub const THING: &str = "sim_thing";

/// The resource type of the old type system: its provider writes texts in lower case, whatever was planned.
pub const LEGACY: &str = "sim_legacy";

/// The data source: an object by its id, or nothing for the id `none`.
pub const LOOKUP: &str = "sim_lookup";

/// Attributes whose change needs a new object.
const FORCES_NEW: [&str; 3] = ["name", "parent", "kind"];

/// A provider of a cloud.
pub struct Simulator {
    cloud: Cloud,
    schema: ProviderSchema,
    delays: Mutex<Chance>,
}

impl Simulator {
    /// Of a cloud. How long calls take follows from the seed.
    pub fn new(cloud: Cloud, delays: u64) -> Self {
        Self { cloud, schema: schema(), delays: Mutex::new(Chance::new(delays)) }
    }

    /// Lets others go first, more or less often.
    async fn delay(&self) {
        let turns = self.delays.lock().unwrap_or_else(PoisonError::into_inner).below(6);
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }

    fn create(&self, request: &ApplyRequest) -> Result<Value, (Value, String)> {
        let nothing = || Value::null(request.planned.ty());
        let fault = self.cloud.fault();
        if fault == Some(Fault::NothingDone) {
            return Err((nothing(), "it did not come about".to_owned()));
        }
        let id = self.cloud.new_id();
        let settled = with(&request.planned, |name, value| match name {
            "id" => Some(Value::string(id.as_str())),
            "revision" => Some(Value::number(1)),
            "zone" if !value.is_known() => Some(Value::string("z1")),
            _ => None,
        });
        let object = normalised(&request.type_name, settled);
        self.cloud.put(&id, object.clone()).map_err(|refusal| (nothing(), refusal.0))?;
        if fault.is_some() { Err((object, "it is there and does not work".to_owned())) } else { Ok(object) }
    }

    fn update(&self, request: &ApplyRequest) -> Result<Value, (Value, String)> {
        let id = text(&request.prior, "id").unwrap_or_default();
        let fault = self.cloud.fault();
        if fault == Some(Fault::NothingDone) {
            return Err((request.prior.clone(), "it did not change".to_owned()));
        }
        let before = request.prior.as_entries().and_then(|entries| entries.get("revision")?.as_number().cloned());
        let revision = before.and_then(|before| before.add(&Number::from(1))).unwrap_or_else(|| Number::from(1));
        let settled = with(&request.planned, |name, _| (name == "revision").then(|| Value::number(revision.clone())));
        let object = normalised(&request.type_name, settled);
        self.cloud.put(&id, object.clone()).map_err(|refusal| (request.prior.clone(), refusal.0))?;
        if fault.is_none() {
            return Ok(object);
        }
        // Half of it: what is not a reference. What it refers to still may be gone by now, which nobody has asked for.
        let old = request.prior.as_entries().and_then(|entries| entries.get("peers").cloned());
        let half = with(&object, |name, _| old.clone().filter(|_| name == "peers"));
        self.cloud.tamper(&id, half.clone());
        Err((half, "it changed in part".to_owned()))
    }

    fn delete(&self, request: &ApplyRequest) -> Result<Value, (Value, String)> {
        let id = text(&request.prior, "id").unwrap_or_default();
        let fault = self.cloud.fault();
        if fault == Some(Fault::NothingDone) {
            return Err((request.prior.clone(), "it is still there".to_owned()));
        }
        self.cloud.delete(&id).map_err(|refusal| (request.prior.clone(), refusal.0))?;
        match fault {
            Some(_) => Err((request.prior.clone(), "nobody knows whether it is gone".to_owned())),
            None => Ok(Value::null(request.prior.ty())),
        }
    }
}

#[async_trait]
impl Provider for Simulator {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn schema(&self) -> &ProviderSchema {
        &self.schema
    }

    async fn upgrade(&self, request: UpgradeRequest) -> Answer<UpgradeResponse> {
        self.delay().await;
        let RawState::Json(bytes) = &request.state else {
            return Err(self.unsupported("flat states", &request.type_name));
        };
        let written = std::str::from_utf8(bytes).expect("text");
        let value = json::decode(written, &schema_block().implied_type()).expect("an object of the schema");
        Ok(UpgradeResponse { value, diagnostics: Diagnostics::new() })
    }

    async fn read(&self, request: ReadRequest) -> Answer<ReadResponse> {
        self.delay().await;
        let found = text(&request.current, "id").and_then(|id| self.cloud.get(&id));
        let object = found.unwrap_or_else(|| Value::null(request.current.ty()));
        let diagnostics = Diagnostics::new();
        Ok(ReadResponse {
            object,
            private: request.private,
            identity: None,
            not_ready: None,
            deferred: None,
            diagnostics,
        })
    }

    async fn plan(&self, request: PlanRequest) -> Answer<PlanResponse> {
        self.delay().await;
        let (planned, replaced) = planned(&request);
        Ok(PlanResponse {
            planned,
            requires_replace: replaced.into_iter().map(|name| Path::root().attr(name)).collect(),
            private: Private(b"planned".to_vec()),
            identity: None,
            legacy_type_system: request.type_name == LEGACY,
            deferred: None,
            diagnostics: Diagnostics::new(),
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Answer<ApplyResponse> {
        self.delay().await;
        let result = match (request.prior.is_null(), request.planned.is_null()) {
            (true, _) => self.create(&request),
            (false, false) => self.update(&request),
            (false, true) => self.delete(&request),
        };
        self.delay().await;
        let (object, diagnostics) = match result {
            Ok(object) => (object, Diagnostics::new()),
            Err((object, problem)) => (object, Diagnostic::error("The cloud says no", problem).into()),
        };
        Ok(ApplyResponse {
            outcome: Outcome::of(&request.prior, &object, &diagnostics),
            object,
            private: Private(b"made".to_vec()),
            identity: None,
            legacy_type_system: request.type_name == LEGACY,
            diagnostics,
        })
    }

    async fn read_data(&self, request: ReadDataRequest) -> Answer<ReadDataResponse> {
        self.delay().await;
        let id = text(&request.config, "id").unwrap_or_default();
        let found = self.cloud.get(&id);
        let mut diagnostics = Diagnostics::new();
        if found.is_none() && id != "none" {
            diagnostics.push(Diagnostic::error("No such object", format!("There is no {id:?}.")));
        }
        let string = |value: Option<String>| value.map_or_else(|| Value::null(Type::String), Value::string);
        let object = with(&request.config, |name, _| match name {
            "target" => Some(string(found.as_ref().map(|_| id.clone()))),
            "kind" => Some(string(found.as_ref().and_then(|found| text(found, "kind")))),
            _ => None,
        });
        Ok(ReadDataResponse { object, deferred: None, diagnostics })
    }
}

/// What a change will bring, and which attributes need a new object for it.
fn planned(request: &PlanRequest) -> (Value, Vec<&'static str>) {
    if request.proposed.is_null() {
        return (request.proposed.clone(), Vec::new());
    }
    let unknown = |value: &Value| Value::unknown(value.ty());
    if request.prior.is_null() {
        let planned = with(&request.proposed, |name, value| match name {
            "id" | "revision" => Some(unknown(value)),
            "zone" if value.is_null() => Some(unknown(value)),
            _ => None,
        });
        return (planned, Vec::new());
    }
    // What differs only in what the cloud makes of it anyway is no difference.
    let old = request.prior.as_entries().and_then(|entries| entries.get("text").cloned());
    let proposed = match old {
        Some(old) if request.type_name == LEGACY => with(&request.proposed, |name, value| {
            let same = name == "text" && lower(value).as_ref() == Some(&old);
            same.then(|| old.clone())
        }),
        _ => request.proposed.clone(),
    };
    if proposed == request.prior {
        return (proposed, Vec::new());
    }
    let at = |object: &Value, name: &str| object.as_entries().and_then(|entries| entries.get(name).cloned());
    let replaced = FORCES_NEW.into_iter().filter(|name| at(&proposed, name) != at(&request.prior, name)).collect();
    (with(&proposed, |name, value| (name == "revision").then(|| unknown(value))), replaced)
}

fn lower(value: &Value) -> Option<Value> {
    value.as_str().map(|text| Value::string(text.to_lowercase()))
}

fn normalised(type_name: &str, object: Value) -> Value {
    if type_name != LEGACY {
        return object;
    }
    with(&object, |name, value| lower(value).filter(|_| name == "text"))
}

/// The object with some attributes changed.
fn with(object: &Value, change: impl Fn(&str, &Value) -> Option<Value>) -> Value {
    let entries = object.as_entries().expect("an object");
    Value::object(entries.iter().map(|(name, value)| {
        let changed = change(name.as_str(), value);
        (name.clone(), changed.unwrap_or_else(|| value.clone()))
    }))
}

/// An object with another size, as if somebody had changed it by hand.
pub fn resized(object: &Value, size: i64) -> Value {
    with(object, |name, _| (name == "size").then(|| Value::number(size)))
}

fn schema() -> ProviderSchema {
    let resource = || Schema { version: 0, block: schema_block() }.into();
    let lookup = block(&[
        ("id", Attribute { required: true, ..Attribute::of_type(Type::String) }),
        ("target", computed(Type::String)),
        ("kind", computed(Type::String)),
    ]);
    let mut schema = ProviderSchema {
        resources: [(Str::from(THING), resource()), (Str::from(LEGACY), resource())].into_iter().collect(),
        data_sources: BTreeMap::from([(Str::from(LOOKUP), Schema { version: 0, block: lookup }.into())]),
        ..ProviderSchema::default()
    };
    schema.provider = Schema { version: 0, block: block(&[("region", optional(Type::String))]) }.into();
    schema
}

/// What both resource types hold.
pub fn schema_block() -> Block {
    block(&[
        ("id", computed(Type::String)),
        ("revision", computed(Type::Number)),
        ("zone", Attribute { computed: true, ..optional(Type::String) }),
        ("name", optional(Type::String)),
        ("parent", optional(Type::String)),
        ("kind", optional(Type::String)),
        ("peers", optional(Type::set(Type::String))),
        ("size", optional(Type::Number)),
        ("text", optional(Type::String)),
        ("secret", Attribute { sensitive: true, ..optional(Type::String) }),
        ("tags", optional(Type::map(Type::String))),
    ])
}

fn block(attributes: &[(&str, Attribute)]) -> Block {
    let attributes = attributes.iter().map(|(name, attribute)| (Str::from(*name), attribute.clone())).collect();
    Block { attributes, ..Block::default() }
}

fn optional(ty: Type) -> Attribute {
    Attribute { optional: true, ..Attribute::of_type(ty) }
}

fn computed(ty: Type) -> Attribute {
    Attribute { computed: true, ..Attribute::of_type(ty) }
}

/// Simulators of one cloud, one for each provider configuration.
#[derive(Clone)]
pub struct Simulators {
    /// The cloud.
    pub cloud: Cloud,
    /// Decides how long calls take.
    pub delays: u64,
    schema: Arc<ProviderSchema>,
}

impl Simulators {
    /// Of a cloud.
    pub fn new(cloud: Cloud, delays: u64) -> Self {
        Self { cloud, delays, schema: Arc::new(schema()) }
    }

    /// What they offer.
    pub fn schema(&self) -> &Arc<ProviderSchema> {
        &self.schema
    }
}
