//! `time_rotating`: a time that is made anew when a period has passed.

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;

use super::{
    Outside, base_time, empty_map, is_rfc3339, keep_written, missing_one_of, out_of_range, parse_int, read_time,
    set_fields, triggers, with_fields,
};
use crate::kit::spec::{computed, optional, optional_computed};
use crate::kit::{Attr, Call, Failed, Moment, Object, Planned, Resource, Spec, checks};

const ROTATIONS: [&str; 6] =
    ["rotation_minutes", "rotation_hours", "rotation_days", "rotation_months", "rotation_years", "rotation_rfc3339"];
const TIMES: [&str; 3] = ["rotation_rfc3339", "rfc3339", "id"];

pub(super) struct Rotating(pub(super) Outside);

#[async_trait]
impl Resource for Rotating {
    fn type_name(&self) -> &'static str {
        "time_rotating"
    }

    fn spec(&self) -> Spec {
        let rotation = "When the period ends, in RFC 3339; made from the period if not given. After that, a plan \
                        replaces the resource.";
        let spec = Spec::new()
            .doc(
                "A time that is replaced by the first plan after a period has ended. The next period begins when the \
                 new one is made, not when the last one ended.",
            )
            .attr("id", computed(Type::String).doc("When the period begins."))
            .attr("rfc3339", base_time())
            .attr("rotation_days", period("days"))
            .attr("rotation_hours", period("hours"))
            .attr("rotation_minutes", period("minutes"))
            .attr("rotation_months", period("months"))
            .attr("rotation_rfc3339", optional_computed(Type::String).doc(rotation).check(is_rfc3339))
            .attr("rotation_years", period("years"))
            .attr("triggers", triggers());
        with_fields(spec, "the end of the period")
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        missing_one_of(config, &ROTATIONS)
    }

    async fn plan(&self, plan: &mut Planned, call: &mut Call) {
        let Some(prior) = plan.prior.clone() else { return };
        if plan.changes("rotation_rfc3339") {
            match read_time(&prior, "rotation_rfc3339") {
                Ok(rotation) if self.is_past(rotation) => plan.replace_for("rotation_rfc3339"),
                Ok(_) => {}
                Err(error) => call.diagnostics.push(error),
            }
        }
        let periods = &ROTATIONS[..5];
        if !ROTATIONS.iter().any(|name| plan.changes(name)) || periods.iter().any(|name| plan.object.is_unknown(name)) {
            return;
        }
        let base = if plan.object.is_unknown("rfc3339") { &prior } else { &plan.object };
        let written = plan.object.clone();
        match read_time(base, "rfc3339").and_then(|base| set(&mut plan.object, base)) {
            Ok(()) => keep_written(&written, &mut plan.object, &TIMES),
            Err(error) => call.diagnostics.push(error),
        }
    }

    async fn create(&self, planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        let base = match planned.text("rfc3339") {
            Some(text) if !text.is_empty() => read_time(&planned, "rfc3339")?,
            _ => Moment::from_system(self.0.clock.now()),
        };
        let mut object = planned.clone();
        set(&mut object, base)?;
        keep_written(&planned, &mut object, &TIMES);
        Ok(object)
    }

    async fn read(&self, object: Object, _: &mut Call) -> Result<Option<Object>, Diagnostics> {
        let rotated = match object.text("rotation_rfc3339") {
            Some(text) if !text.is_empty() => self.is_past(read_time(&object, "rotation_rfc3339")?),
            _ => false,
        };
        Ok((!rotated).then_some(object))
    }

    async fn update(&self, prior: &Object, planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        if ROTATIONS.iter().all(|name| prior.get(name) == planned.get(name)) {
            return Ok(prior.clone());
        }
        let mut object = planned.clone();
        set(&mut object, read_time(&planned, "id")?)?;
        keep_written(&planned, &mut object, &TIMES);
        Ok(object)
    }

    async fn import(&self, id: &str, mut object: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        let malformed = |expected: &str| {
            let detail = format!("Unexpected format of ID ({id:?}), expected {expected}");
            Diagnostics::from(Diagnostic::error("Unexpected Format of ID", detail))
        };
        let unreadable = |what: &str, error: String| {
            let detail = format!("The {what} that was supplied could not be parsed.\n\nOriginal Error: {error}");
            Diagnostics::from(Diagnostic::error("Import time rotating error", detail))
        };
        let parts: Vec<&str> = id.split(',').collect();
        let by_time = "BASETIMESTAMP,ROTATIONTIMESTAMP";
        let by_period = "BASETIMESTAMP,YEARS,MONTHS,DAYS,HOURS,MINUTES";
        let base = match parts.as_slice() {
            [base, rotation] => {
                if base.is_empty() || rotation.is_empty() {
                    return Err(malformed(by_time));
                }
                Moment::parse(rotation).map_err(|error| unreadable("timestamp", error))?;
                object.set("rotation_rfc3339", *rotation);
                base
            }
            [base, periods @ ..] if periods.len() == 5 => {
                if base.is_empty() || periods.iter().all(|period| period.is_empty()) {
                    return Err(malformed(&format!("{by_period} where at least one rotation value is non-empty")));
                }
                for (name, text) in ROTATIONS[..5].iter().rev().zip(periods) {
                    let parsed = parse_int(text).map_err(|error| unreadable("parameter", error))?;
                    if let Some(period) = parsed {
                        object.set_int(name, period);
                    }
                }
                base
            }
            _ => return Err(malformed(&format!("{by_period} or {by_time}"))),
        };
        let base = Moment::parse(base).map_err(|error| unreadable("timestamp", error))?;
        set(&mut object, base)?;
        object.set("triggers", empty_map());
        Ok(object)
    }
}

/// How many of a unit pass until the rotation.
fn period(unit: &str) -> Attr {
    let doc = format!("How many {unit} the period lasts. Of several units only one counts; one has to be given.");
    optional(Type::Number).doc(&doc).check(checks::at_least(1))
}

impl Rotating {
    fn is_past(&self, moment: Moment) -> bool {
        Moment::from_system(self.0.clock.now()).is_after(moment)
    }
}

/// A given time counts. Each period counts from the base; of several, years count, then months, minutes, hours and days.
fn set(object: &mut Object, base: Moment) -> Result<(), Diagnostic> {
    let given = |name: &str| object.int(name).filter(|period| *period > 0);
    let rotation = if object.text("rotation_rfc3339").is_some_and(|text| !text.is_empty()) {
        Ok(read_time(object, "rotation_rfc3339")?)
    } else if let Some(years) = given("rotation_years") {
        base.plus_date(years, 0, 0)
    } else if let Some(months) = given("rotation_months") {
        base.plus_date(0, months, 0)
    } else if let Some(minutes) = given("rotation_minutes") {
        base.plus_seconds(i128::from(minutes) * 60)
    } else if let Some(hours) = given("rotation_hours") {
        base.plus_seconds(i128::from(hours) * 3600)
    } else {
        base.plus_date(0, 0, given("rotation_days").unwrap_or(0))
    };
    let rotation = rotation.map_err(|_| out_of_range("rotation"))?;
    set_fields(object, rotation);
    object.set("rotation_rfc3339", rotation.to_rfc3339());
    object.set("rfc3339", base.to_rfc3339());
    object.set("id", base.to_rfc3339());
    Ok(())
}
