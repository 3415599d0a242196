//! The provider: plans, and does in the world what the cloud lets happen.

use async_trait::async_trait;
use groma_model::codec::json;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};
use groma_provider::api::{
    Answer, ApplyRequest, ApplyResponse, Outcome, PlanRequest, PlanResponse, Private, Provider, ProviderSchema,
    RawState, ReadRequest, ReadResponse, UpgradeRequest, UpgradeResponse,
};
use serde_json::Value as Json;

use crate::constraints::{self, Refusal};
use crate::description::{Description, ResourceType, Words};
use crate::fields::values;
use crate::planning::{changed, planned, replaced};
use crate::world::{Object, Objects, World};

/// A provider of a cloud.
pub struct Simulated {
    description: Description,
    schema: ProviderSchema,
    world: World,
}

impl Simulated {
    /// Of a cloud, whose objects are in a file.
    pub fn new(description: Description, world: World) -> Self {
        Self { schema: description.schema(), description, world }
    }

    fn resource(&self, name: &str) -> Result<&ResourceType, Refusal> {
        self.description.resource(name).ok_or_else(|| Refusal(format!("there is no {name} here")))
    }

    fn change(&self, request: &ApplyRequest) -> Result<Value, Refusal> {
        let ty = self.resource(&request.type_name)?;
        self.world.change(|objects| match (request.prior.is_null(), request.planned.is_null()) {
            (true, _) => self.create(ty, request, objects),
            (false, false) => self.update(ty, request, objects),
            (false, true) => self.delete(ty, request, objects),
        })
    }

    fn create(&self, ty: &ResourceType, request: &ApplyRequest, objects: &mut Objects) -> Result<Value, Refusal> {
        let value = settled(ty, &request.planned, objects);
        let (id, value) = named(ty, &request.type_name, value, objects)?;
        self.put(ty, request, id, value, objects)
    }

    fn update(&self, ty: &ResourceType, request: &ApplyRequest, objects: &mut Objects) -> Result<Value, Refusal> {
        let id = id_of(&request.prior);
        constraints::may_change(&self.description, objects, &id)?;
        let value = settled(ty, &request.planned, objects);
        self.put(ty, request, id, value, objects)
    }

    fn put(
        &self,
        ty: &ResourceType,
        request: &ApplyRequest,
        id: String,
        value: Value,
        objects: &mut Objects,
    ) -> Result<Value, Refusal> {
        let object = Object {
            ty: request.type_name.to_string(),
            stored: encoded(&value, &ty.fields.block().implied_type())?,
            fields: plain(&value)?,
        };
        constraints::may_claim(&self.description, objects, &id, &object)?;
        objects.objects.insert(id, object);
        Ok(value)
    }

    fn delete(&self, ty: &ResourceType, request: &ApplyRequest, objects: &mut Objects) -> Result<Value, Refusal> {
        let id = id_of(&request.prior);
        constraints::may_go(&self.description, objects, &id)?;
        if let Some(object) = objects.objects.remove(&id) {
            objects.quarantined.extend(constraints::left_behind(ty, &object.fields));
        }
        Ok(Value::null(request.prior.ty()))
    }

    fn look_up(&self, type_name: &str, current: &Value) -> Result<Value, Refusal> {
        let ty = self.resource(type_name)?.fields.block().implied_type();
        match self.world.read()?.objects.get(&id_of(current)) {
            Some(object) => decoded(&object.stored, &ty),
            None => Ok(Value::null(ty)),
        }
    }
}

fn id_of(object: &Value) -> String {
    let id = object.as_entries().and_then(|entries| entries.get("id")?.as_str());
    id.unwrap_or_default().to_owned()
}

fn encoded(value: &Value, ty: &Type) -> Result<String, Refusal> {
    json::encode(value, ty).map_err(|error| Refusal(format!("it cannot be kept: {error}")))
}

fn decoded(text: &str, ty: &Type) -> Result<Value, Refusal> {
    json::decode(text, ty).map_err(|error| Refusal(format!("it cannot be read: {error}")))
}

fn plain(value: &Value) -> Result<Json, Refusal> {
    let text = json::encode_plain(value).map_err(|error| Refusal(format!("it cannot be kept: {error}")))?;
    serde_json::from_str(&text).map_err(|error| Refusal(format!("it cannot be kept: {error}")))
}

/// The object with everything decided that the cloud decides.
fn settled(ty: &ResourceType, planned: &Value, objects: &mut Objects) -> Value {
    changed(&ty.fields, planned, &mut |words, name, value, beside| {
        (!value.is_known()).then(|| decided(words, name, beside, objects))
    })
}

fn decided(words: &Words, name: &str, beside: &Entries, objects: &mut Objects) -> Value {
    if let Some(default) = &words.default {
        let mut text = default.clone();
        for (other, value) in beside.iter() {
            text = text.replace(&format!("{{{other}}}"), value.as_str().unwrap_or_default());
        }
        return Value::string(text);
    }
    objects.made_up += 1;
    match words.ty {
        Type::Number => Value::number(objects.made_up as i64),
        Type::String => {
            let prefix = beside.get(&format!("{name}_prefix")).and_then(Value::as_str);
            Value::string(format!("{}{}", prefix.unwrap_or(&format!("{name}-")), objects.made_up))
        }
        ref other => Value::null(other.clone()),
    }
}

/// The object with its id: one of its own, or one that says what it is.
fn named(ty: &ResourceType, type_name: &str, value: Value, objects: &mut Objects) -> Result<(String, Value), Refusal> {
    let id = if ty.identity.is_empty() {
        objects.made_up += 1;
        format!("{type_name}-{}", objects.made_up)
    } else {
        let fields = plain(&value)?;
        let parts =
            ty.identity.iter().map(|path| values(&fields, path).first().map_or("-".to_owned(), ToString::to_string));
        format!("{type_name}:{}", parts.collect::<Vec<_>>().join("/"))
    };
    let with_id = changed(&ty.fields, &value, &mut |_, name, _, _| (name == "id").then(|| Value::string(id.as_str())));
    Ok((id, with_id))
}

#[async_trait]
impl Provider for Simulated {
    fn name(&self) -> &str {
        &self.description.provider
    }

    fn schema(&self) -> &ProviderSchema {
        &self.schema
    }

    async fn upgrade(&self, request: UpgradeRequest) -> Answer<UpgradeResponse> {
        let RawState::Json(bytes) = &request.state else {
            return Err(self.unsupported("flat states", &request.type_name));
        };
        let text = String::from_utf8_lossy(bytes);
        let value = self.resource(&request.type_name).and_then(|ty| decoded(&text, &ty.fields.block().implied_type()));
        let (value, diagnostics) = answered(value, &Value::null(Type::Dynamic));
        Ok(UpgradeResponse { value, diagnostics })
    }

    async fn read(&self, request: ReadRequest) -> Answer<ReadResponse> {
        let found = self.look_up(&request.type_name, &request.current);
        let (object, diagnostics) = answered(found, &request.current);
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
        let outcome = self.resource(&request.type_name).map(|ty| outcome(ty, &request));
        let (planned, requires_replace, diagnostics) = match outcome {
            Ok((planned, places)) => (planned, places, Diagnostics::new()),
            Err(refusal) => (request.proposed.clone(), Vec::new(), told(refusal)),
        };
        Ok(PlanResponse {
            planned,
            requires_replace,
            private: Private::default(),
            identity: None,
            legacy_type_system: false,
            deferred: None,
            diagnostics,
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Answer<ApplyResponse> {
        let (object, diagnostics) = answered(self.change(&request), &request.prior);
        Ok(ApplyResponse {
            outcome: Outcome::of(&request.prior, &object, &diagnostics),
            object,
            private: Private::default(),
            identity: None,
            legacy_type_system: false,
            diagnostics,
        })
    }
}

fn outcome(ty: &ResourceType, request: &PlanRequest) -> (Value, Vec<Path>) {
    if request.proposed.is_null() {
        return (request.proposed.clone(), Vec::new());
    }
    let planned = planned(&ty.fields, &request.proposed);
    let places = if request.prior.is_null() { Vec::new() } else { replaced(&ty.fields, &request.prior, &planned) };
    (planned, places)
}

fn answered(result: Result<Value, Refusal>, otherwise: &Value) -> (Value, Diagnostics) {
    match result {
        Ok(value) => (value, Diagnostics::new()),
        Err(refusal) => (otherwise.clone(), told(refusal)),
    }
}

fn told(Refusal(problem): Refusal) -> Diagnostics {
    Diagnostic::error("The cloud says no", problem).into()
}
