//! A provider in this process, which answers at once: one resource type with as many attributes as usual, one of which needs a new object.

use std::sync::Arc;

use async_trait::async_trait;
use groma_engine::providers::Providers;
use groma_lang::config::{ProviderSource, ResourceMode};
use groma_lang::oracle::SchemaSource;
use groma_model::address::{Provider as ProviderAddress, ProviderInstance};
use groma_model::codec::json;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::schema::{Attribute, Block, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};
use groma_provider::api::{
    Answer, PlanRequest, PlanResponse, Private, Provider, ProviderSchema, RawState, ReadRequest, ReadResponse,
    UpgradeRequest, UpgradeResponse,
};

/// The resource type.
pub const BOX: &str = "stub_box";

/// The attribute whose change needs a new object.
const NAME: &str = "name";

/// What the provider works out.
const COMPUTED: [&str; 2] = ["id", "arn"];

/// What can be configured.
fn configurable() -> [(&'static str, Type); 14] {
    [
        (NAME, Type::String),
        ("zone", Type::String),
        ("image", Type::String),
        ("description", Type::String),
        ("owner", Type::String),
        ("tier", Type::String),
        ("size", Type::Number),
        ("disk", Type::Number),
        ("enabled", Type::Bool),
        ("ports", Type::list(Type::Number)),
        ("links", Type::list(Type::String)),
        ("labels", Type::set(Type::String)),
        ("tags", Type::map(Type::String)),
        ("settings", Type::map(Type::String)),
    ]
}

fn block() -> Block {
    let computed = COMPUTED.map(|name| (name, Attribute { computed: true, ..Attribute::of_type(Type::String) }));
    let given = configurable().map(|(name, ty)| (name, Attribute { optional: true, ..Attribute::of_type(ty) }));
    let attributes = computed.into_iter().chain(given).map(|(name, attribute)| (Str::from(name), attribute));
    Block { attributes: attributes.collect(), ..Block::default() }
}

fn offered() -> ProviderSchema {
    let schema = Schema { version: 0, block: block() };
    ProviderSchema { resources: [(Str::from(BOX), schema.into())].into_iter().collect(), ..ProviderSchema::default() }
}

/// The provider, and where it comes from.
#[derive(Clone)]
pub struct Stub {
    schema: Arc<ProviderSchema>,
    ty: Type,
}

impl Default for Stub {
    fn default() -> Self {
        Self { schema: Arc::new(offered()), ty: block().implied_type() }
    }
}

#[async_trait]
impl Provider for Stub {
    fn name(&self) -> &'static str {
        "stub"
    }

    fn schema(&self) -> &ProviderSchema {
        &self.schema
    }

    async fn upgrade(&self, request: UpgradeRequest) -> Answer<UpgradeResponse> {
        let RawState::Json(bytes) = &request.state else {
            return Err(self.unsupported("flat states", &request.type_name));
        };
        let text = String::from_utf8_lossy(bytes);
        let read = json::decode(&text, &self.ty);
        let failed = |_| Diagnostic::error("Not an object of the schema", text.as_ref()).into();
        let (value, diagnostics) = match read.map_err(failed) {
            Ok(value) => (value, Diagnostics::new()),
            Err(found) => (Value::null(self.ty.clone()), found),
        };
        Ok(UpgradeResponse { value, diagnostics })
    }

    async fn read(&self, request: ReadRequest) -> Answer<ReadResponse> {
        Ok(ReadResponse {
            object: request.current,
            private: request.private,
            identity: None,
            not_ready: None,
            deferred: None,
            diagnostics: Diagnostics::new(),
        })
    }

    async fn plan(&self, request: PlanRequest) -> Answer<PlanResponse> {
        let name_of = |object: &Value| object.as_entries().and_then(|entries| entries.get(NAME).cloned());
        let is_new = request.prior.is_null();
        let replaced = !is_new && name_of(&request.prior) != name_of(&request.proposed);
        Ok(PlanResponse {
            planned: if is_new { with_unknown_ids(&request.proposed) } else { request.proposed },
            requires_replace: if replaced { vec![Path::root().attr(NAME)] } else { Vec::new() },
            private: Private::default(),
            identity: None,
            legacy_type_system: false,
            deferred: None,
            diagnostics: Diagnostics::new(),
        })
    }
}

fn with_unknown_ids(object: &Value) -> Value {
    let entries = object.as_entries().into_iter().flat_map(Entries::iter);
    Value::object(entries.map(|(name, value)| {
        let is_computed = COMPUTED.contains(&name.as_str());
        (name.clone(), if is_computed { Value::unknown(Type::String) } else { value.clone() })
    }))
}

#[async_trait]
impl Providers for Stub {
    fn schema(&self, provider: &ProviderAddress) -> Option<Arc<ProviderSchema>> {
        (provider.ty.as_str() == "stub").then(|| Arc::clone(&self.schema))
    }

    async fn start(&self, _: &ProviderInstance) -> Result<Arc<dyn Provider>, Diagnostics> {
        Ok(Arc::new(self.clone()))
    }
}

impl SchemaSource for Stub {
    fn provider(&self, _: &ProviderSource) -> Option<Arc<Schema>> {
        self.schema.provider.get().ok().cloned()
    }

    fn resource(&self, _: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        (mode == ResourceMode::Managed).then(|| self.schema.resources.get(kind)?.get().ok().cloned())?
    }
}
