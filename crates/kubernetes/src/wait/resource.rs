//! The resource `k8sconnect_wait`: waits for an object that somebody else makes, and tells what it waited for.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use groma_kit::spec::{computed, optional, required};
use groma_kit::{Call, Failed, JsonObject, Object, Planned, Resource, Spec, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Nesting;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::result::value_of;
use super::{Standing, WaitFor};
use crate::Json;
use crate::api::Cluster;
use crate::cluster::{self, Given};
use crate::failure::{Failure, FailureKind, named};
use crate::manifest::ObjectRef;
use crate::private::{self, AWAITING};
use crate::provider::{Host, Shared};

/// How long between two looks, where the provider looks itself.
const INTERVAL: Duration = Duration::from_secs(1);
/// Kinds that were defined a moment ago are not known everywhere at once.
const NEW_KIND: Duration = Duration::from_secs(5);

/// The resource.
pub(crate) struct Wait(Arc<Shared>);

impl Wait {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }
}

/// One wait.
struct Waiting {
    cluster: Arc<Cluster>,
    object: ObjectRef,
    wait: WaitFor,
}

/// What became of a look.
enum Looked {
    Live(Waiting, Option<Json>),
    Refused(ObjectRef, Failure),
    /// The cluster is not known yet.
    Nowhere,
}

#[async_trait]
impl Resource for Wait {
    fn type_name(&self) -> &'static str {
        "k8sconnect_wait"
    }

    fn spec(&self) -> Spec {
        let object_ref = [
            ("api_version", required(Type::String).doc("Its `apiVersion`.")),
            ("kind", required(Type::String).doc("Its kind.")),
            ("name", required(Type::String).doc("Its name.")),
            ("namespace", optional(Type::String).doc("Its namespace. Default: `default`, for kinds that have one.")),
        ];
        Spec::new()
            .version(1)
            .doc("Waits until an object is ready. The object itself is made by somebody else, perhaps later.")
            .attr("id", computed(Type::String).keep().doc("Identifies the wait."))
            .attr("object_ref", required(Type::Dynamic).nested(Nesting::Single, object_ref).doc("The object."))
            .attr("cluster", cluster::attribute())
            .attr("wait_for", WaitFor::attribute(false))
            .attr(
                "triggers",
                optional(Type::map(Type::String)).doc(
                    "Whatever changes when the object does, such as a hash of its manifest: then it is waited for again.",
                ),
            )
            .attr("result", computed(Type::Dynamic).doc("What was waited for, of `field` waits: `result.status.phase`."))
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        self.note(config);
        let mut found = cluster::validate(config);
        let reference = Object::of(&config.get("object_ref"));
        found.extend(WaitFor::validate(config, reference.text("kind")));
        found
    }

    async fn plan(&self, plan: &mut Planned, _: &mut Call) {
        self.note(&plan.config);
        let wait = plan.object.get("wait_for");
        // Only waits for a field have a result.
        if wait.is_wholly_known() && Object::of(&wait).is_null("field") && plan.is_change() {
            plan.object.set("result", Value::null(Type::Dynamic));
        }
    }

    async fn create(&self, mut planned: Object, config: &Object, call: &mut Call) -> Result<Object, Failed> {
        self.note(config);
        planned.set("id", Value::string(self.new_id()?));
        self.settle(planned, call).await
    }

    async fn read(&self, mut object: Object, call: &mut Call) -> Result<Option<Object>, Diagnostics> {
        let awaiting = private::is_set(&call.private, AWAITING);
        let Some(wait) = WaitFor::read(&object)? else { return Ok(Some(object)) };
        let (waiting, live) = match self.look(&object, wait.clone(), &mut call.diagnostics).await? {
            Looked::Live(waiting, live) => (waiting, live),
            // Where the provider's cluster is not known yet, what is stored is all that there is.
            Looked::Nowhere => return Ok(Some(object)),
            Looked::Refused(_, failure) if failure.kind == FailureKind::UnknownKind && !awaiting => return Ok(None),
            Looked::Refused(_, failure) if is_away(&failure) && awaiting => {
                call.not_ready = wait.not_ready(wait.absent(&unanswered(&failure)));
                return Ok(Some(object));
            }
            Looked::Refused(reference, failure) => {
                call.diagnostics.extend(unread(&reference, &failure)?);
                return Ok(Some(object));
            }
        };
        if !awaiting {
            let Some(live) = live else { return Ok(None) };
            set_result(&mut object, waiting.wait.result(&live));
            return Ok(Some(object));
        }
        let standing = waiting.standing(live.as_ref());
        if standing == Standing::Ready {
            private::change(&mut call.private, |kept| kept.clear(AWAITING));
            set_result(&mut object, live.and_then(|live| waiting.wait.result(&live)));
        } else {
            let standing = waiting.told(standing, live.as_ref()).await;
            call.not_ready = waiting.wait.not_ready(standing);
        }
        Ok(Some(object))
    }

    async fn update(
        &self,
        prior: &Object,
        mut planned: Object,
        config: &Object,
        call: &mut Call,
    ) -> Result<Object, Failed> {
        self.note(config);
        planned.set("id", prior.get("id"));
        self.settle(planned, call).await
    }

    fn upgrade(&self, _: i64, _: &mut JsonObject) -> Result<i64, Diagnostic> {
        // The first version has the same attributes.
        Ok(1)
    }
}

impl Wait {
    fn note(&self, config: &Object) {
        if let Given::Here(spec) = cluster::read(config) {
            self.0.connections.note(&spec);
        }
    }

    fn new_id(&self) -> Result<String, Diagnostic> {
        let mut bytes = [0; 6];
        let filled = self.0.outside.randomness.fill(&mut bytes);
        filled.map_err(|error| Diagnostic::error("No id can be made", format!("{error}.")))?;
        Ok(hex::encode(bytes))
    }

    /// Waits, or says what is lacking to whoever waits.
    async fn settle(&self, mut planned: Object, call: &mut Call) -> Result<Object, Failed> {
        let waiting = self.waiting(&planned, call).await?;
        let live = match self.0.host {
            Host::Other => Some(self.until_ready(&waiting, call).await?),
            Host::Groma => {
                let live = waiting.live().await?;
                let standing = waiting.standing(live.as_ref());
                let lacking = standing != Standing::Ready;
                let hopeless = matches!(standing, Standing::Hopeless { .. });
                let standing = if hopeless { waiting.told(standing, live.as_ref()).await } else { standing };
                private::change(&mut call.private, |kept| kept.set(AWAITING, lacking));
                call.not_ready = waiting.wait.not_ready(standing);
                live.filter(|_| !lacking)
            }
        };
        set_result(&mut planned, live.and_then(|live| waiting.wait.result(&live)));
        Ok(planned)
    }

    /// What is waited for, and where. A kind that the cluster does not have is no matter of patience.
    async fn waiting(&self, planned: &Object, call: &Call) -> Result<Waiting, Diagnostics> {
        let cluster = self.0.connections.open(&cluster::read(planned)).await?;
        let cluster = cluster.ok_or_else(not_known)?;
        let wait = WaitFor::read(planned)?.ok_or_else(not_known)?;
        let object = reference(planned);
        let start = self.0.outside.clock.now();
        let patience = wait.timeout.min(NEW_KIND);
        loop {
            let failure = match cluster.complete(&object).await {
                Ok(object) => return Ok(Waiting { cluster, object, wait }),
                Err(failure) => failure,
            };
            let passed = self.0.outside.clock.now().duration_since(start).unwrap_or_default();
            let gave_up = failure.kind != FailureKind::UnknownKind
                || passed >= patience
                || call.sleep(self.0.outside.clock.as_ref(), INTERVAL.min(patience)).await.is_err();
            if gave_up {
                return Err(failure.diagnostic("wait for", &object).into());
            }
        }
    }

    /// Looks at the object that was waited for.
    async fn look(&self, object: &Object, wait: WaitFor, told: &mut Diagnostics) -> Result<Looked, Diagnostics> {
        let opened = self.0.connections.open_early(&cluster::read(object), told).await?;
        let Some(cluster) = opened else { return Ok(Looked::Nowhere) };
        let reference = reference(object);
        let completed = match cluster.complete(&reference).await {
            Ok(completed) => completed,
            Err(failure) => return Ok(Looked::Refused(reference, failure)),
        };
        Ok(match cluster.get(&completed).await {
            Ok(live) => Looked::Live(Waiting { cluster, object: completed, wait }, live),
            Err(failure) => Looked::Refused(completed, failure),
        })
    }

    /// Looks until the object is ready, or waiting longer is useless.
    async fn until_ready(&self, waiting: &Waiting, call: &Call) -> Result<Json, Diagnostics> {
        let clock = self.0.outside.clock.as_ref();
        let start = clock.now();
        let mut was_there = false;
        loop {
            let (standing, live) = match waiting.cluster.get(&waiting.object).await {
                Ok(Some(live)) => {
                    was_there = true;
                    (waiting.wait.judge(&live), Some(live))
                }
                Ok(None) if was_there => (waiting.wait.absent("it was deleted meanwhile"), None),
                Ok(None) => (waiting.standing(None), None),
                // A server that is away for a moment is no reason to give up.
                Err(failure) if is_away(&failure) => (waiting.wait.absent(&unanswered(&failure)), None),
                Err(failure) => return Err(failure.diagnostic("wait for", &waiting.object).into()),
            };
            match (standing, live) {
                (Standing::Ready, Some(live)) => return Ok(live),
                (standing @ Standing::Hopeless { .. }, live) => {
                    return Err(waiting.gave_up(standing, live).await.into());
                }
                (standing, live) => {
                    let passed = clock.now().duration_since(start).unwrap_or_default();
                    let left = waiting.wait.timeout.saturating_sub(passed);
                    if left.is_zero() || call.sleep(clock, INTERVAL.min(left)).await.is_err() {
                        return Err(waiting.gave_up(standing, live).await.into());
                    }
                }
            }
        }
    }
}

impl Waiting {
    async fn live(&self) -> Result<Option<Json>, Diagnostic> {
        self.cluster.get(&self.object).await.map_err(|failure| failure.diagnostic("wait for", &self.object))
    }

    fn standing(&self, live: Option<&Json>) -> Standing {
        live.map_or_else(|| self.wait.absent("it does not exist yet"), |live| self.wait.judge(live))
    }

    /// The standing with what else can be found out.
    async fn told(&self, standing: Standing, live: Option<&Json>) -> Standing {
        let more = self.wait.diagnose(&self.cluster, &self.object, live).await;
        let joined = |seen: String| if more.is_empty() { seen } else { format!("{seen}\n{more}") };
        match standing {
            Standing::Ready => Standing::Ready,
            Standing::NotYet { waiting_for, seen } => Standing::NotYet { waiting_for, seen: joined(seen) },
            Standing::Hopeless { waiting_for, seen } => Standing::Hopeless { waiting_for, seen: joined(seen) },
        }
    }

    async fn gave_up(&self, standing: Standing, live: Option<Json>) -> Diagnostic {
        let hopeless = matches!(standing, Standing::Hopeless { .. });
        let (waiting_for, seen) = match self.told(standing, live.as_ref()).await {
            Standing::Ready => (String::new(), String::new()),
            Standing::NotYet { waiting_for, seen } | Standing::Hopeless { waiting_for, seen } => (waiting_for, seen),
        };
        let (object, timeout) = (named(&self.object), shown(self.wait.timeout));
        let (summary, advice) = if hopeless {
            ("Object will not become ready", "It does not come by itself: mend the object and apply again.".to_owned())
        } else if live.is_none() {
            let advice = format!(
                "It was waited for {timeout}. See whether what makes it runs, and whether its name and namespace are right; \
                 set a longer timeout in wait_for if it takes its time."
            );
            ("Object did not appear", advice)
        } else {
            let advice = format!(
                "It was waited for {timeout}. The object itself is unchanged; apply again to wait again, with a longer \
                 timeout in wait_for if it takes its time."
            );
            ("Object did not become ready", advice)
        };
        let detail = format!("{object}: waited for {waiting_for}. Last seen: {seen}\n\n{advice}");
        Diagnostic::error(summary, detail)
    }
}

fn shown(duration: Duration) -> String {
    match duration.as_secs() {
        0 => format!("{} ms", duration.as_millis()),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

fn reference(object: &Object) -> ObjectRef {
    let reference = Object::of(&object.get("object_ref"));
    let text = |name: &str| reference.text(name).unwrap_or_default().to_owned();
    ObjectRef {
        api_version: text("api_version"),
        kind: text("kind"),
        namespace: reference.text("namespace").map(str::to_owned),
        name: text("name"),
    }
}

fn set_result(object: &mut Object, result: Option<Json>) {
    object.set("result", result.map_or_else(|| Value::null(Type::Dynamic), |result| value_of(&result)));
}

/// Whether the server may answer the next time.
fn is_away(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Unreachable | FailureKind::Busy)
}

fn unanswered(failure: &Failure) -> String {
    format!("the cluster does not answer: {failure}")
}

/// What is not known when everything must be is a mistake of whoever calls.
fn not_known() -> Diagnostic {
    Diagnostic::error("Wait is not known yet", "cluster or wait_for are not known.").at_path(at("wait_for"))
}

/// Refused credentials leave what is stored as it is; other failures are errors.
fn unread(object: &ObjectRef, failure: &Failure) -> Result<Option<Diagnostic>, Diagnostics> {
    let told = failure.diagnostic("read", object);
    if !matches!(failure.kind, FailureKind::Unauthenticated | FailureKind::Denied) {
        return Err(told.into());
    }
    let detail = format!("{}\n\nWhat is stored is kept as it is.", told.detail);
    Ok(Some(Diagnostic::warning(told.summary, detail)))
}
