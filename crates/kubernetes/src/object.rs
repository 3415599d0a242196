//! `k8sconnect_object`: one Kubernetes object. And what patches and sets have in common with it: whose an object is, how it is written
//! and removed, and who owns its fields.

pub(crate) mod body;
mod create;
mod delete;
mod import;
mod intent;
pub(crate) mod making;
pub(crate) mod naming;
mod owning;
mod plan;
mod read;
mod readiness;
mod record;
pub(crate) mod removal;
pub(crate) mod run;
mod schema;
pub(crate) mod session;
#[cfg(test)]
mod tests;
mod update;
mod validate;
pub(crate) mod write;

use std::sync::Arc;

use async_trait::async_trait;
use groma_kit::{Call, Failed, JsonObject, Object, Planned, Resource, Spec};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::IdentitySchema;
use groma_model::value::Value;

pub(crate) use import::{Found, led_to};
pub(crate) use intent::{delete_timeout, usual_delete_timeout};
pub(crate) use owning::{claim, fields};
pub(crate) use plan::{lost_with, may_be_defined, server_warnings};
pub(crate) use read::find;
pub(crate) use schema::{ADOPT, SECRETS, is_duration};
pub(crate) use update::elsewhere;

use crate::provider::Shared;
use owning::{legacy, seed, transitions};
use run::Run;

/// The resource, under one of its names.
pub(crate) struct ObjectResource {
    name: &'static str,
    shared: Arc<Shared>,
    run: Arc<Run>,
}

impl ObjectResource {
    /// `name` is the type: `k8sconnect_object` or `k8sconnect_manifest`. All resources of a provider have one `run`.
    pub(crate) fn new(name: &'static str, shared: Arc<Shared>, run: Arc<Run>) -> Self {
        Self { name, shared, run }
    }
}

#[async_trait]
impl Resource for ObjectResource {
    fn type_name(&self) -> &'static str {
        self.name
    }

    fn spec(&self) -> Spec {
        schema::spec()
    }

    fn identity_schema(&self) -> Option<IdentitySchema> {
        Some(schema::identity_schema())
    }

    fn identity(&self, object: &Object) -> Option<Value> {
        schema::identity(object)
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        validate::validate(&self.shared, config)
    }

    async fn plan(&self, plan: &mut Planned, call: &mut Call) {
        plan::plan(self, plan, call).await;
    }

    async fn create(&self, planned: Object, _: &Object, call: &mut Call) -> Result<Object, Failed> {
        create::create(self, planned, call).await
    }

    async fn read(&self, object: Object, call: &mut Call) -> Result<Option<Object>, Diagnostics> {
        read::read(self, object, call).await
    }

    async fn update(
        &self,
        prior: &Object,
        planned: Object,
        config: &Object,
        call: &mut Call,
    ) -> Result<Object, Failed> {
        update::update(self, prior, planned, config, call).await
    }

    async fn delete(&self, prior: &Object, call: &mut Call) -> Result<(), Diagnostics> {
        Ok(delete::delete(self, prior, call).await?)
    }

    fn import_id(&self, identity: &Value) -> String {
        schema::import_id(&Object::of(identity))
    }

    async fn import(&self, id: &str, empty: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        import::import(self, id, empty, call).await
    }

    fn upgrade(&self, version: i64, object: &mut JsonObject) -> Result<i64, Diagnostic> {
        schema::upgrade(version, object)
    }
}
