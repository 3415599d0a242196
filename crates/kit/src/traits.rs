//! What providers offer, as traits with defaults for what most of them do alike.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::{FunctionSignature, IdentitySchema};
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::{FunctionError, MoveRequest, NotReady, Patience, Private};
use tokio::sync::watch;

use super::object::Object;
use super::outside::Clock;
use super::planning::Planned;
use super::spec::Spec;
use super::upgrading::JsonObject;

/// One call: what is kept with the object, what else is to be said, and whether to stop.
pub struct Call {
    /// Kept with the object; changes are stored.
    pub private: Private,
    /// Warnings, and errors that do not end the call.
    pub diagnostics: Diagnostics,
    /// Set by a create or update whose object is made but does not work yet.
    pub not_ready: Option<NotReady>,
    /// What is needed may come any moment: how long to try again, if nothing was made.
    pub not_yet: Option<Patience>,
    /// Set by a create that was asked for, and that nobody knows whether it was done: its answer is lost.
    pub is_unanswered: bool,
    /// Where a data source is in the configuration, if that is known.
    pub address: Option<Str>,
    pub(super) stop: watch::Receiver<bool>,
}

/// The run was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run was given up")]
pub struct Stopped;

impl Call {
    /// Whether the run was given up.
    pub fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Ends when the run is given up; never otherwise.
    pub async fn stopped(&self) {
        let mut stop = self.stop.clone();
        if stop.wait_for(|stopped| *stopped).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits, but not beyond the end of the run.
    pub async fn sleep(&self, clock: &dyn Clock, duration: Duration) -> Result<(), Stopped> {
        tokio::select! {
            biased;
            () = self.stopped() => Err(Stopped),
            () = clock.sleep(duration) => Ok(()),
        }
    }
}

/// A change that failed.
#[derive(Debug)]
pub struct Failed {
    /// Why.
    pub diagnostics: Diagnostics,
    /// What there is now, if something was made or changed.
    pub object: Option<Object>,
}

impl From<Diagnostic> for Failed {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: diagnostic.into(), object: None }
    }
}

impl From<Diagnostics> for Failed {
    fn from(diagnostics: Diagnostics) -> Self {
        Self { diagnostics, object: None }
    }
}

/// An object that was listed, with everything that reading it needs.
#[derive(Debug)]
pub struct Listed {
    /// The object.
    pub object: Object,
    /// What people know it by.
    pub name: String,
}

/// A type of managed resources.
#[async_trait]
pub trait Resource: Send + Sync {
    /// Its name: `random_id`.
    fn type_name(&self) -> &'static str;

    /// Its schema and rules. Asked once.
    fn spec(&self) -> Spec;

    /// What identifies its objects, if the published plugin says so.
    fn identity_schema(&self) -> Option<IdentitySchema> {
        None
    }

    /// The identity of an object, where there is a schema of identities.
    fn identity(&self, object: &Object) -> Option<Value> {
        let _ = object;
        None
    }

    /// Checks beyond those of single attributes. Parts may be unknown.
    fn validate(&self, config: &Object) -> Diagnostics {
        let _ = config;
        Diagnostics::new()
    }

    /// Changes a plan after the rules of the schema were applied. Not asked when the object is to be deleted.
    async fn plan(&self, plan: &mut Planned, call: &mut Call) {
        let _ = (plan, call);
    }

    /// Makes an object. What is unknown in the plan is decided here.
    async fn create(&self, planned: Object, config: &Object, call: &mut Call) -> Result<Object, Failed>;

    /// Reads an object; none if it is gone.
    async fn read(&self, object: Object, call: &mut Call) -> Result<Option<Object>, Diagnostics> {
        let _ = call;
        Ok(Some(object))
    }

    /// Changes an object in place.
    async fn update(
        &self,
        prior: &Object,
        planned: Object,
        config: &Object,
        call: &mut Call,
    ) -> Result<Object, Failed> {
        let _ = (prior, config, call);
        Ok(planned)
    }

    /// Deletes an object.
    async fn delete(&self, prior: &Object, call: &mut Call) -> Result<(), Diagnostics> {
        let _ = (prior, call);
        Ok(())
    }

    /// The id by which an object of this identity is imported.
    fn import_id(&self, identity: &Value) -> String {
        let id = identity.as_entries().and_then(|entries| entries.get("id")).and_then(Value::as_str);
        id.unwrap_or_default().to_owned()
    }

    /// Finds an object by its id. `empty` has every attribute null.
    async fn import(&self, id: &str, empty: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        let _ = (id, empty, call);
        let detail = "This resource does not support import. Please contact the provider developer for additional \
                      information.";
        Err(Diagnostic::error("Resource Import Not Implemented", detail).into())
    }

    /// What its objects are listed by, if they can be: a query. Asked once.
    fn list_spec(&self) -> Option<Spec> {
        None
    }

    /// Lists objects, at most so many. `empty` has every attribute null. None if there is no way to list with this query.
    async fn list(
        &self,
        query: &Object,
        empty: Object,
        limit: u64,
        call: &mut Call,
    ) -> Result<Option<Vec<Listed>>, Diagnostics> {
        let _ = (query, empty, limit, call);
        Ok(None)
    }

    /// Brings stored attributes from the given version to the next one that the type knows how to read; gives the version
    /// that they have then. Asked until that is the current one.
    fn upgrade(&self, version: i64, object: &mut JsonObject) -> Result<i64, Diagnostic> {
        let _ = object;
        Err(Diagnostic::error(
            "Unable to Upgrade Resource State",
            format!(
                "This resource was implemented without a way to read objects that were stored with version {version} \
                 of its schema."
            ),
        ))
    }

    /// Mends a stored object of the current version that an older plugin wrote in another way.
    fn mend(&self, object: &mut Object) {
        let _ = object;
    }

    /// Takes over an object of another type; none if that is not possible.
    fn take_over(&self, request: &MoveRequest, empty: Object) -> Option<Result<Object, Diagnostics>> {
        let _ = (request, empty);
        None
    }
}

/// A type of data sources.
#[async_trait]
pub trait DataSource: Send + Sync {
    /// Its name.
    fn type_name(&self) -> &'static str;

    /// Its schema and rules. Asked once.
    fn spec(&self) -> Spec;

    /// Checks beyond those of single attributes. Parts may be unknown.
    fn validate(&self, config: &Object) -> Diagnostics {
        let _ = config;
        Diagnostics::new()
    }

    /// Reads it.
    async fn read(&self, config: Object, call: &mut Call) -> Result<Object, Diagnostics>;
}

/// An open ephemeral resource.
#[derive(Debug)]
pub struct Opened {
    /// What it holds.
    pub object: Object,
    /// When it must be renewed.
    pub renew_at: Option<SystemTime>,
}

/// A type of ephemeral resources. What renewing and closing need is in the call's private data.
#[async_trait]
pub trait Ephemeral: Send + Sync {
    /// Its name.
    fn type_name(&self) -> &'static str;

    /// Its schema and rules. Asked once.
    fn spec(&self) -> Spec;

    /// Checks beyond those of single attributes. Parts may be unknown.
    fn validate(&self, config: &Object) -> Diagnostics {
        let _ = config;
        Diagnostics::new()
    }

    /// Opens it.
    async fn open(&self, config: Object, call: &mut Call) -> Result<Opened, Diagnostics>;

    /// Makes it last longer. Gives when it must be renewed again.
    async fn renew(&self, call: &mut Call) -> Result<Option<SystemTime>, Diagnostics> {
        let _ = call;
        Ok(None)
    }

    /// Gives it back.
    async fn close(&self, call: &mut Call) -> Result<(), Diagnostics> {
        let _ = call;
        Ok(())
    }
}

/// A function.
pub trait Function: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// How it is called. Asked once.
    fn signature(&self) -> FunctionSignature;

    /// Calls it. There are as many arguments as the signature says.
    fn call(&self, arguments: &[Value]) -> Result<Value, FunctionError>;
}

/// The configuration of a provider as a whole.
#[async_trait]
pub trait Configure: Send + Sync {
    /// Its schema and rules. Asked once.
    fn spec(&self) -> Spec;

    /// Checks beyond those of single attributes. Parts may be unknown.
    fn validate(&self, config: &Object) -> Diagnostics {
        let _ = config;
        Diagnostics::new()
    }

    /// Takes the configuration. Parts may be unknown while planning.
    async fn configure(&self, config: Object) -> Diagnostics;
}
