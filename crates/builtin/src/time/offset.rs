//! `time_offset`: a time that is moved from a base.

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;

use super::{
    Outside, empty_map, is_rfc3339, keep_written, missing_one_of, out_of_range, parse_int, read_time, set_fields,
    triggers, with_fields,
};
use crate::kit::spec::{computed, optional, optional_computed};
use crate::kit::{Attr, Call, Failed, Moment, Object, Planned, Resource, Spec};

const OFFSETS: [&str; 6] =
    ["offset_seconds", "offset_minutes", "offset_hours", "offset_days", "offset_months", "offset_years"];

pub(super) struct Offset(pub(super) Outside);

#[async_trait]
impl Resource for Offset {
    fn type_name(&self) -> &'static str {
        "time_offset"
    }

    fn spec(&self) -> Spec {
        let base = "The time to move, in RFC 3339 (`2020-02-12T06:36:13Z`). Without one, when the resource is made.";
        let spec = Spec::new()
            .doc("A time at a distance from another: it stays until the distance or the other time changes.")
            .attr("base_rfc3339", optional_computed(Type::String).doc(base).check(is_rfc3339))
            .attr("id", computed(Type::String).doc("The time that was moved."))
            .attr("offset_days", offset("days"))
            .attr("offset_hours", offset("hours"))
            .attr("offset_minutes", offset("minutes"))
            .attr("offset_months", offset("months"))
            .attr("offset_seconds", offset("seconds"))
            .attr("offset_years", offset("years"))
            .attr("rfc3339", computed(Type::String).doc("The time that results, in RFC 3339."))
            .attr("triggers", triggers());
        with_fields(spec, "the time that results")
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        missing_one_of(config, &OFFSETS)
    }

    async fn plan(&self, plan: &mut Planned, call: &mut Call) {
        let Some(prior) = &plan.prior else { return };
        if !OFFSETS.iter().any(|name| plan.changes(name)) || OFFSETS.iter().any(|name| plan.object.is_unknown(name)) {
            return;
        }
        let base = if plan.object.is_unknown("base_rfc3339") { prior } else { &plan.object };
        let written = plan.object.clone();
        match read_time(base, "base_rfc3339").and_then(|base| set(&mut plan.object, base)) {
            Ok(()) => keep_written(&written, &mut plan.object, &["base_rfc3339"]),
            Err(error) => call.diagnostics.push(error),
        }
    }

    async fn create(&self, planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        let base = match planned.text("base_rfc3339") {
            Some(text) if !text.is_empty() => read_time(&planned, "base_rfc3339")?,
            _ => Moment::from_system(self.0.clock.now()),
        };
        let mut object = planned.clone();
        set(&mut object, base)?;
        keep_written(&planned, &mut object, &["base_rfc3339", "rfc3339", "id"]);
        Ok(object)
    }

    async fn update(&self, _: &Object, planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        let mut object = planned.clone();
        set(&mut object, read_time(&planned, "base_rfc3339")?)?;
        keep_written(&planned, &mut object, &["base_rfc3339", "rfc3339", "id"]);
        Ok(object)
    }

    async fn import(&self, id: &str, mut object: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        let expected = "expected BASETIMESTAMP,YEARS,MONTHS,DAYS,HOURS,MINUTES,SECONDS";
        let malformed = |more: &str| {
            let detail = format!("Unexpected format of ID ({id:?}), {expected}{more}");
            Diagnostics::from(Diagnostic::error("Unexpected Format of ID", detail))
        };
        let parts: Vec<&str> = id.split(',').collect();
        let [base, offsets @ ..] = parts.as_slice() else { return Err(malformed("")) };
        if offsets.len() != 6 {
            return Err(malformed(""));
        }
        if base.is_empty() || offsets.iter().all(|offset| offset.is_empty()) {
            return Err(malformed(" where at least one offset value is non-empty"));
        }
        for (name, text) in OFFSETS.iter().rev().zip(offsets) {
            let parsed = parse_int(text).map_err(|error| {
                let what = format!("The {name} parameter that was supplied could not be parsed as Int64.");
                Diagnostic::error("Import time offset error", format!("{what}\n\nOriginal Error: {error}"))
            })?;
            if let Some(offset) = parsed {
                object.set_int(name, offset);
            }
        }
        let base = Moment::parse(base).map_err(|error| {
            let what = "The base_rfc3339 timestamp that was supplied could not be parsed as RFC3339.";
            Diagnostic::error("Create time offset error", format!("{what}\n\nOriginal Error: {error}"))
        })?;
        set(&mut object, base)?;
        object.set("triggers", empty_map());
        Ok(object)
    }
}

/// How many of a unit the time is moved by.
fn offset(unit: &str) -> Attr {
    let doc = format!("By how many {unit} to move it: back, if negative. One of the offsets has to be given.");
    optional(Type::Number).doc(&doc)
}

fn set(object: &mut Object, base: Moment) -> Result<(), Diagnostic> {
    let given = |name: &str| object.int(name).unwrap_or(0);
    // The order matters: months and years run over the ends of months.
    let moved = base
        .plus_date(0, 0, given("offset_days"))
        .and_then(|time| time.plus_seconds(i128::from(given("offset_hours")) * 3600))
        .and_then(|time| time.plus_seconds(i128::from(given("offset_minutes")) * 60))
        .and_then(|time| time.plus_date(0, given("offset_months"), 0))
        .and_then(|time| time.plus_seconds(i128::from(given("offset_seconds"))))
        .and_then(|time| time.plus_date(given("offset_years"), 0, 0))
        .map_err(|_| out_of_range("offset"))?;
    set_fields(object, moved);
    object.set("rfc3339", moved.to_rfc3339());
    object.set("base_rfc3339", base.to_rfc3339());
    object.set("id", base.to_rfc3339());
    Ok(())
}
