//! `time_static`: a time that stays.

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;

use super::{Outside, base_time, empty_map, keep_written, read_time, set_fields, triggers, with_fields};
use crate::kit::spec::computed;
use crate::kit::{Call, Failed, Moment, Object, Planned, Resource, Spec};

pub(super) struct Static(pub(super) Outside);

#[async_trait]
impl Resource for Static {
    fn type_name(&self) -> &'static str {
        "time_static"
    }

    fn spec(&self) -> Spec {
        let spec = Spec::new()
            .doc("A time that stays what it was at first.")
            .attr("id", computed(Type::String).doc("The time in RFC 3339.").keep())
            .attr("rfc3339", base_time())
            .attr("triggers", triggers());
        with_fields(spec, "the time")
    }

    async fn plan(&self, plan: &mut Planned, call: &mut Call) {
        // The current time may differ between two plans of one change, so only a given time can be planned with.
        if plan.prior.is_some() || plan.object.text("rfc3339").is_none() {
            return;
        }
        match read_time(&plan.object, "rfc3339") {
            Ok(moment) => {
                set_fields(&mut plan.object, moment);
                let given = plan.object.get("rfc3339");
                plan.object.set("id", given);
            }
            Err(error) => call.diagnostics.push(error),
        }
    }

    async fn create(&self, planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        let moment = match planned.text("rfc3339") {
            Some(_) => read_time(&planned, "rfc3339")?,
            None => Moment::from_system(self.0.clock.now()),
        };
        let mut object = planned.clone();
        set(&mut object, moment);
        keep_written(&planned, &mut object, &["rfc3339", "id"]);
        Ok(object)
    }

    async fn import(&self, id: &str, mut object: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        let moment = Moment::parse(id).map_err(|error| {
            let detail = format!("The id that was supplied could not be parsed as RFC3339.\n\nOriginal Error: {error}");
            Diagnostic::error("Import time static error", detail)
        })?;
        set(&mut object, moment);
        object.set("triggers", empty_map());
        Ok(object)
    }
}

fn set(object: &mut Object, moment: Moment) {
    set_fields(object, moment);
    object.set("rfc3339", moment.to_rfc3339());
    object.set("id", moment.to_rfc3339());
}
