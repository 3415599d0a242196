//! `time_sleep`: waits when it is made and when it is deleted.

use std::time::Duration;

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;

use super::{Outside, empty_map, is_duration};
use crate::kit::spec::{computed, optional};
use crate::kit::{Call, Failed, Moment, Object, Resource, Spec, at, parse_duration};

pub(super) struct Sleep(pub(super) Outside);

#[async_trait]
impl Resource for Sleep {
    fn type_name(&self) -> &'static str {
        "time_sleep"
    }

    fn spec(&self) -> Spec {
        let form = "a number with `ms`, `s`, `m` or `h` after it, such as `30s`";
        let create = format!("How long making the resource takes: {form}. A change alone waits for nothing.");
        let destroy = format!("How long deleting it takes: {form}. What counts is what was applied last.");
        Spec::new()
            .doc("Waits when it is made and when it is deleted, for the sake of resources around it.")
            .attr("create_duration", optional(Type::String).doc(&create).check(is_duration()))
            .attr("destroy_duration", optional(Type::String).doc(&destroy).check(is_duration()))
            .attr("id", computed(Type::String).doc("When it was made, in RFC 3339.").keep())
            .attr(
                "triggers",
                optional(Type::map(Type::String))
                    .doc("When any of these changes, it is replaced and waits again.")
                    .replace(),
            )
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        let names = ["create_duration", "destroy_duration"];
        if names.iter().any(|name| !config.is_null(name)) {
            return Diagnostics::new();
        }
        let other = |name: &str| if name == names[0] { names[1] } else { names[0] };
        let problem = |name: &str| {
            let detail = format!("At least one attribute out of [{},{name}] must be specified", other(name));
            Diagnostic::error("Invalid Attribute Combination", detail).at_path(at(name))
        };
        names.into_iter().map(problem).collect()
    }

    async fn create(&self, mut planned: Object, _: &Object, call: &mut Call) -> Result<Object, Failed> {
        self.wait(&planned, "create_duration", "Create", call).await?;
        planned.set("id", Moment::from_system(self.0.clock.now()).to_rfc3339());
        Ok(planned)
    }

    async fn delete(&self, prior: &Object, call: &mut Call) -> Result<(), Diagnostics> {
        self.wait(prior, "destroy_duration", "Delete", call).await.map_err(Diagnostics::from)
    }

    async fn import(&self, id: &str, mut object: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        let parts: Vec<&str> = id.split(',').collect();
        let ([create, destroy], false) = (parts.as_slice(), id == ",") else {
            let expected = "expected CREATEDURATION,DESTROYDURATION where at least one value is non-empty";
            let detail = format!("Unexpected format of ID ({id:?}), {expected}");
            return Err(Diagnostic::error("Unexpected Format of ID", detail).into());
        };
        for (name, text) in [("create_duration", create), ("destroy_duration", destroy)] {
            if text.is_empty() {
                continue;
            }
            parse_duration(text).map_err(|error| unreadable("Import", name, &error))?;
            object.set(name, *text);
        }
        object.set("triggers", empty_map());
        object.set("id", Moment::from_system(self.0.clock.now()).to_rfc3339());
        Ok(object)
    }
}

impl Sleep {
    async fn wait(&self, object: &Object, name: &str, what: &str, call: &Call) -> Result<(), Diagnostic> {
        let Some(text) = object.text(name).filter(|text| !text.is_empty()) else { return Ok(()) };
        let nanos = parse_duration(text).map_err(|error| unreadable(what, name, &error))?;
        let duration = Duration::from_nanos(u64::try_from(nanos).unwrap_or(0));
        call.sleep(self.0.clock.as_ref(), duration).await.map_err(|stopped| {
            Diagnostic::error(format!("{what} time sleep error"), format!("Original Error: {stopped}"))
        })
    }
}

fn unreadable(what: &str, name: &str, error: &str) -> Diagnostic {
    let detail = format!("The {name} cannot be parsed\n\nOriginal Error: {error}");
    Diagnostic::error(format!("{what} time sleep error"), detail)
}
