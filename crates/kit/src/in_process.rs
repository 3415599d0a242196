//! Makes a provider of what it offers: finds the type that a call is for, and does what all types have in common.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use groma_model::codec::json;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::{
    Answer, ApplyRequest, ApplyResponse, CallError, CallFunctionRequest, CallFunctionResponse, ConfigureRequest,
    Effects, EphemeralObject, EphemeralRenewal, ImportRequest, ImportResponse, ImportTarget, ImportedObject,
    KnownSecrets, ListEvent, ListRequest, ListSink, ListedObject, MoveRequest, MoveResponse, OpenRequest, Outcome,
    PlanRequest, PlanResponse, Private, Provider, ProviderSchema, ReadDataRequest, ReadDataResponse, ReadRequest,
    ReadResponse, UpgradeIdentityRequest, UpgradeRequest, UpgradeResponse,
};
use tokio::sync::watch;

use super::object::Object;
use super::spec::Spec;
use super::traits::{Call, Configure, DataSource, Ephemeral, Failed, Function, Listed, Resource};
use super::upgrading;

/// A provider that runs in this process.
pub struct InProcess {
    name: String,
    effects: Effects,
    schema: ProviderSchema,
    configure: Option<(Spec, Arc<dyn Configure>)>,
    resources: BTreeMap<Str, (Spec, Arc<dyn Resource>)>,
    data_sources: BTreeMap<Str, (Spec, Arc<dyn DataSource>)>,
    ephemerals: BTreeMap<Str, (Spec, Arc<dyn Ephemeral>)>,
    functions: BTreeMap<Str, Arc<dyn Function>>,
    secrets: KnownSecrets,
    stop: watch::Sender<bool>,
}

impl InProcess {
    /// A provider that offers nothing yet. The name is for messages.
    pub fn new(name: impl Into<String>) -> Self {
        let mut schema = ProviderSchema::default();
        schema.capabilities.schema_optional = true;
        schema.capabilities.move_state = true;
        Self {
            name: name.into(),
            effects: Effects::Outside,
            schema,
            configure: None,
            resources: BTreeMap::new(),
            data_sources: BTreeMap::new(),
            ephemerals: BTreeMap::new(),
            functions: BTreeMap::new(),
            secrets: KnownSecrets::default(),
            stop: watch::Sender::new(false),
        }
    }

    /// With what its changes do outside.
    pub fn with_effects(mut self, effects: Effects) -> Self {
        self.effects = effects;
        self
    }

    /// It wants to hear what the configuration still says about an object that is to go.
    pub fn hearing_last_words(mut self) -> Self {
        self.schema.capabilities.last_words = true;
        self
    }

    /// It plans the same when it is asked the same, and asking costs something.
    pub fn planning_steadily(mut self) -> Self {
        self.schema.capabilities.steady_plans = true;
        self
    }

    /// It takes a configuration.
    pub fn configured_by(mut self, configure: impl Configure + 'static) -> Self {
        let spec = configure.spec();
        self.schema.provider = spec.schema.clone().into();
        self.configure = Some((spec, Arc::new(configure)));
        self
    }

    /// It offers a type of managed resources.
    pub fn resource(mut self, resource: impl Resource + 'static) -> Self {
        let (name, spec) = (Str::from(resource.type_name()), resource.spec());
        self.schema.resources.insert(name.clone(), spec.schema.clone().into());
        if let Some(identity) = resource.identity_schema() {
            self.schema.identities.insert(name.clone(), Arc::new(identity));
        }
        if let Some(query) = resource.list_spec() {
            self.schema.lists.insert(name.clone(), query.schema.clone().into());
            self.schema.capabilities.lists_by_configuration = true;
        }
        self.resources.insert(name, (spec, Arc::new(resource)));
        self
    }

    /// It offers a type of data sources.
    pub fn data_source(mut self, source: impl DataSource + 'static) -> Self {
        let (name, spec) = (Str::from(source.type_name()), source.spec());
        self.schema.data_sources.insert(name.clone(), spec.schema.clone().into());
        self.data_sources.insert(name, (spec, Arc::new(source)));
        self
    }

    /// It offers a type of ephemeral resources.
    pub fn ephemeral(mut self, ephemeral: impl Ephemeral + 'static) -> Self {
        let (name, spec) = (Str::from(ephemeral.type_name()), ephemeral.spec());
        self.schema.ephemerals.insert(name.clone(), spec.schema.clone().into());
        self.ephemerals.insert(name, (spec, Arc::new(ephemeral)));
        self
    }

    /// It offers a function.
    pub fn function(mut self, function: impl Function + 'static) -> Self {
        let name = Str::from(function.name());
        self.schema.functions.insert(name.clone(), Arc::new(function.signature()));
        self.functions.insert(name, Arc::new(function));
        self
    }

    fn call(&self, private: Private) -> Call {
        Call {
            private,
            diagnostics: Diagnostics::new(),
            not_ready: None,
            not_yet: None,
            is_unanswered: false,
            address: None,
            stop: self.stop.subscribe(),
        }
    }

    fn find<'t, T>(&self, types: &'t BTreeMap<Str, T>, call: &'static str, name: &str) -> Answer<&'t T> {
        types.get(name).ok_or_else(|| CallError::Unsupported {
            provider: self.name.clone(),
            call,
            about: Str::from(name),
        })
    }

    fn find_resource(&self, call: &'static str, name: &str) -> Answer<(&Spec, &dyn Resource)> {
        let (spec, resource) = self.find(&self.resources, call, name)?;
        Ok((spec, resource.as_ref()))
    }
}

/// What a change gave, before it is an answer.
struct Changed {
    result: Result<Option<Object>, Failed>,
    call: Call,
}

impl Changed {
    fn response(self, resource: &dyn Resource, prior: Value) -> ApplyResponse {
        let Changed { result, mut call } = self;
        let nothing = Value::null(prior.ty());
        let (object, outcome) = match result {
            Ok(Some(object)) => {
                let object = settled(object.into_value(), &mut call.diagnostics);
                let outcome = match call.not_ready {
                    Some(not_ready) => Outcome::NotReady(not_ready),
                    None if call.diagnostics.has_errors() => Outcome::PartlyMade,
                    None => Outcome::Done,
                };
                (object, outcome)
            }
            Ok(None) => (nothing, Outcome::Done),
            Err(Failed { diagnostics, object }) => {
                call.diagnostics.extend(diagnostics);
                match object {
                    Some(object) => (settled(object.into_value(), &mut call.diagnostics), Outcome::PartlyMade),
                    None => (prior, call.not_yet.map_or(Outcome::NothingMade, Outcome::NotYet)),
                }
            }
        };
        let identity = if object.is_null() { None } else { resource.identity(&Object::of(&object)) };
        ApplyResponse {
            outcome,
            object,
            private: call.private,
            identity,
            legacy_type_system: false,
            diagnostics: call.diagnostics,
        }
    }
}

/// After an apply nothing may be unknown.
fn settled(object: Value, diagnostics: &mut Diagnostics) -> Value {
    if object.is_wholly_known() {
        return object;
    }
    let known = object.transform::<std::convert::Infallible>(&mut |path, value| {
        if value.is_known() {
            return Ok(value);
        }
        let detail = format!(
            "After the apply operation, the provider still indicated an unknown value for {}. This is a bug in the \
             provider.",
            super::object::shown(path)
        );
        diagnostics.push(Diagnostic::error("Provider returned invalid result object after apply", detail));
        Ok(Value::null(value.ty()))
    });
    match known {
        Ok(known) => known,
        Err(never) => match never {},
    }
}

#[async_trait]
impl Provider for InProcess {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> &ProviderSchema {
        &self.schema
    }

    fn effects(&self) -> Effects {
        self.effects
    }

    fn keep_secret(&self, value: &Value) {
        self.secrets.learn_marked(value);
    }

    async fn validate_provider(&self, config: Value) -> Answer<Diagnostics> {
        let Some((spec, configure)) = &self.configure else { return Ok(Diagnostics::new()) };
        self.secrets.learn_declared(&config, &spec.schema.block);
        let mut found = spec.check(&config);
        found.extend(configure.validate(&Object::of(&config)));
        Ok(self.secrets.hidden_in(found))
    }

    async fn configure(&self, request: ConfigureRequest) -> Answer<Diagnostics> {
        let Some((spec, configure)) = &self.configure else { return Ok(Diagnostics::new()) };
        self.secrets.learn_declared(&request.config, &spec.schema.block);
        Ok(self.secrets.hidden_in(configure.configure(Object::of(&request.config)).await))
    }

    async fn validate_resource(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        let (spec, resource) = self.find_resource("ValidateResourceConfig", type_name)?;
        self.secrets.learn_declared(&config, &spec.schema.block);
        let mut found = spec.check(&config);
        found.extend(resource.validate(&Object::of(&config)));
        Ok(self.secrets.hidden_in(found))
    }

    async fn validate_data_source(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        let (spec, source) = self.find(&self.data_sources, "ValidateDataResourceConfig", type_name)?;
        self.secrets.learn_declared(&config, &spec.schema.block);
        let mut found = spec.check(&config);
        found.extend(source.validate(&Object::of(&config)));
        Ok(self.secrets.hidden_in(found))
    }

    async fn validate_ephemeral(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        let (spec, ephemeral) = self.find(&self.ephemerals, "ValidateEphemeralResourceConfig", type_name)?;
        self.secrets.learn_declared(&config, &spec.schema.block);
        let mut found = spec.check(&config);
        found.extend(ephemeral.validate(&Object::of(&config)));
        Ok(self.secrets.hidden_in(found))
    }

    async fn upgrade(&self, request: UpgradeRequest) -> Answer<UpgradeResponse> {
        let (spec, resource) = self.find_resource("UpgradeResourceState", &request.type_name)?;
        Ok(match upgrading::upgrade(resource, spec, request.version, &request.state) {
            Ok(value) => UpgradeResponse { value, diagnostics: Diagnostics::new() },
            Err(error) => {
                let value = Value::null(spec.schema.block.implied_type());
                UpgradeResponse { value, diagnostics: error.into() }
            }
        })
    }

    async fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<UpgradeResponse> {
        let schema = self.find(&self.schema.identities, "UpgradeResourceIdentity", &request.type_name)?;
        let ty = schema.implied_type();
        let decoded = std::str::from_utf8(&request.json)
            .map_err(|error| error.to_string())
            .and_then(|text| json::decode(text, &ty).map_err(|error| error.to_string()));
        Ok(match decoded {
            Ok(value) => UpgradeResponse { value, diagnostics: Diagnostics::new() },
            Err(error) => UpgradeResponse {
                value: Value::null(ty),
                diagnostics: Diagnostic::error("Unable to Upgrade Resource Identity", format!("{error}.")).into(),
            },
        })
    }

    async fn read(&self, request: ReadRequest) -> Answer<ReadResponse> {
        let (spec, resource) = self.find_resource("ReadResource", &request.type_name)?;
        self.secrets.learn_declared(&request.current, &spec.schema.block);
        let mut call = self.call(request.private);
        let ty = request.current.ty();
        let read = if request.current.is_null() {
            Ok(None)
        } else {
            resource.read(Object::of(&request.current), &mut call).await
        };
        let (object, identity) = match read {
            Ok(Some(object)) => {
                let identity = resource.identity(&object).or(request.identity);
                (object.into_value(), identity)
            }
            Ok(None) => (Value::null(ty), None),
            Err(diagnostics) => {
                call.diagnostics.extend(diagnostics);
                (request.current, request.identity)
            }
        };
        let Call { private, diagnostics, not_ready, .. } = call;
        let diagnostics = self.secrets.hidden_in(diagnostics);
        Ok(ReadResponse { object, private, identity, not_ready, deferred: None, diagnostics })
    }

    async fn plan(&self, request: PlanRequest) -> Answer<PlanResponse> {
        let (spec, resource) = self.find_resource("PlanResourceChange", &request.type_name)?;
        let mut call = self.call(request.prior_private);
        if request.proposed.is_null() {
            return Ok(PlanResponse {
                planned: request.proposed,
                requires_replace: Vec::new(),
                private: call.private,
                identity: request.prior_identity,
                legacy_type_system: false,
                deferred: None,
                diagnostics: Diagnostics::new(),
            });
        }
        let prior = (!request.prior.is_null()).then(|| Object::of(&request.prior));
        let mut plan = spec.plan(prior, &request.proposed, &request.config);
        resource.plan(&mut plan, &mut call).await;
        plan.settle_replacements();
        Ok(PlanResponse {
            identity: resource.identity(&plan.object).or(request.prior_identity),
            planned: plan.object.into_value(),
            requires_replace: plan.requires_replace,
            private: call.private,
            legacy_type_system: false,
            deferred: None,
            diagnostics: self.secrets.hidden_in(call.diagnostics),
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Answer<ApplyResponse> {
        let (spec, resource) = self.find_resource("ApplyResourceChange", &request.type_name)?;
        for value in [&request.prior, &request.planned, &request.config] {
            self.secrets.learn_declared(value, &spec.schema.block);
        }
        let mut call = self.call(request.planned_private);
        let (planned, config) = (Object::of(&request.planned), Object::of(&request.config));
        let result = if request.planned.is_null() {
            let deleted = resource.delete(&Object::of(&request.prior), &mut call).await;
            deleted.map(|()| None).map_err(Failed::from)
        } else if request.prior.is_null() {
            resource.create(planned, &config, &mut call).await.map(Some)
        } else {
            resource.update(&Object::of(&request.prior), planned, &config, &mut call).await.map(Some)
        };
        if let (true, Err(Failed { diagnostics, object: None })) = (call.is_unanswered, &result) {
            let hidden = self.secrets.hidden_in(diagnostics.clone());
            let message: Vec<String> = hidden.iter().map(|found| found.detail.clone()).collect();
            return Err(CallError::Unanswered { provider: self.name.clone(), message: message.join("\n") });
        }
        let mut response = Changed { result, call }.response(resource, request.prior);
        response.diagnostics = self.secrets.hidden_in(response.diagnostics);
        Ok(response)
    }

    async fn import(&self, request: ImportRequest) -> Answer<ImportResponse> {
        let (spec, resource) = self.find_resource("ImportResourceState", &request.type_name)?;
        let mut call = self.call(Private::default());
        let id = match &request.target {
            ImportTarget::Id(id) => id.clone(),
            ImportTarget::Identity(identity) => resource.import_id(identity),
        };
        let empty = Object::of(&spec.schema.block.empty_value());
        let mut imported = Vec::new();
        match resource.import(&id, empty, &mut call).await {
            Ok(object) => imported.push(ImportedObject {
                type_name: request.type_name,
                identity: resource.identity(&object),
                object: object.into_value(),
                private: call.private,
            }),
            Err(diagnostics) => call.diagnostics.extend(diagnostics),
        }
        Ok(ImportResponse { imported, deferred: None, diagnostics: call.diagnostics })
    }

    async fn list(&self, request: ListRequest, sink: &mut dyn ListSink) -> Answer<()> {
        let (spec, resource) = self.find_resource("ListResource", &request.type_name)?;
        let mut call = self.call(Private::default());
        let empty = Object::of(&spec.schema.block.empty_value());
        let listed = resource.list(&Object::of(&request.config), empty, request.limit, &mut call).await;
        let found = match listed {
            Ok(Some(found)) => found,
            Ok(None) => return Err(self.unsupported("ListResource", &request.type_name)),
            Err(diagnostics) => {
                call.diagnostics.extend(diagnostics);
                Vec::new()
            }
        };
        let diagnostics = self.secrets.hidden_in(call.diagnostics);
        if diagnostics.has_errors() {
            sink.found(ListEvent { object: None, diagnostics });
            return Ok(());
        }
        for Listed { object, name } in found {
            let id = object.text("id").map(str::to_owned).unwrap_or_default();
            let identity = resource.identity(&object).unwrap_or_else(|| Value::object([("id", Value::string(id))]));
            let object = request.include_object.then(|| object.into_value());
            let listed = ListedObject { identity, display_name: name, object };
            if !sink.found(ListEvent { object: Some(listed), diagnostics: Diagnostics::new() }) {
                break;
            }
        }
        Ok(())
    }

    async fn move_state(&self, request: MoveRequest) -> Answer<MoveResponse> {
        let (spec, resource) = self.find_resource("MoveResourceState", &request.target_type_name)?;
        let empty = Object::of(&spec.schema.block.empty_value());
        let moved = resource.take_over(&request, empty).unwrap_or_else(|| {
            let detail = format!(
                "The {:?} resource type does not support moving objects of the type {:?} of {:?}.",
                request.target_type_name.as_str(),
                request.source_type_name.as_str(),
                request.source_provider
            );
            Err(Diagnostic::error("Unable to Move Resource State", detail).into())
        });
        let (object, diagnostics) = match moved {
            Ok(object) => (object.into_value(), Diagnostics::new()),
            Err(diagnostics) => (Value::null(spec.schema.block.implied_type()), diagnostics),
        };
        Ok(MoveResponse { object, private: Private::default(), identity: None, diagnostics })
    }

    async fn read_data(&self, request: ReadDataRequest) -> Answer<ReadDataResponse> {
        let (_, source) = self.find(&self.data_sources, "ReadDataSource", &request.type_name)?;
        let mut call = Call { address: request.address, ..self.call(Private::default()) };
        let object = match source.read(Object::of(&request.config), &mut call).await {
            Ok(object) => object.into_value(),
            Err(diagnostics) => {
                call.diagnostics.extend(diagnostics);
                Value::null(request.config.ty())
            }
        };
        Ok(ReadDataResponse { object, deferred: None, diagnostics: self.secrets.hidden_in(call.diagnostics) })
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Answer<EphemeralObject> {
        let (_, ephemeral) = self.find(&self.ephemerals, "OpenEphemeralResource", &request.type_name)?;
        let mut call = self.call(Private::default());
        let (object, renew_at) = match ephemeral.open(Object::of(&request.config), &mut call).await {
            Ok(opened) => (opened.object.into_value(), opened.renew_at),
            Err(diagnostics) => {
                call.diagnostics.extend(diagnostics);
                (Value::null(request.config.ty()), None)
            }
        };
        let Call { private, diagnostics, .. } = call;
        let diagnostics = self.secrets.hidden_in(diagnostics);
        Ok(EphemeralObject { object, private, renew_at, deferred: None, diagnostics })
    }

    async fn renew_ephemeral(&self, type_name: &str, private: Private) -> Answer<EphemeralRenewal> {
        let (_, ephemeral) = self.find(&self.ephemerals, "RenewEphemeralResource", type_name)?;
        let mut call = self.call(private);
        let renew_at = match ephemeral.renew(&mut call).await {
            Ok(renew_at) => renew_at,
            Err(diagnostics) => {
                call.diagnostics.extend(diagnostics);
                None
            }
        };
        Ok(EphemeralRenewal { private: call.private, renew_at, diagnostics: call.diagnostics })
    }

    async fn close_ephemeral(&self, type_name: &str, private: Private) -> Answer<Diagnostics> {
        let (_, ephemeral) = self.find(&self.ephemerals, "CloseEphemeralResource", type_name)?;
        let mut call = self.call(private);
        if let Err(diagnostics) = ephemeral.close(&mut call).await {
            call.diagnostics.extend(diagnostics);
        }
        Ok(call.diagnostics)
    }

    async fn call_function(&self, request: CallFunctionRequest) -> Answer<CallFunctionResponse> {
        let function = self.find(&self.functions, "CallFunction", &request.name)?;
        let signature = self.find(&self.schema.functions, "CallFunction", &request.name)?;
        let unknown = request.arguments.iter().enumerate().any(|(at, argument)| {
            let parameter = signature.parameters.get(at).or(signature.variadic.as_ref());
            !argument.is_known() && parameter.is_none_or(|parameter| !parameter.allow_unknown)
        });
        let result = if unknown {
            Ok(Value::unknown(signature.returns.clone()))
        } else if request.arguments.len() < signature.parameters.len() {
            let text = format!("{} takes {} arguments", request.name, signature.parameters.len());
            Err(groma_provider::api::FunctionError { text, argument: None })
        } else {
            function.call(&request.arguments)
        };
        Ok(CallFunctionResponse { result })
    }

    async fn stop(&self) -> Answer<()> {
        self.stop.send_replace(true);
        Ok(())
    }
}
