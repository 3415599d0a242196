//! What was written is read again, and whatever else is read is refused or harmless.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::sync::Arc;

use groma_model::schema::Attribute;
use groma_model::ty::Type;

use super::arbitrary::Chance;
use super::testing::schema;
use super::*;

#[test]
fn plans_survive() {
    for seed in 0..120 {
        let plan = Chance::new(seed).plan();
        let bytes = encode(&plan).unwrap();
        let again = decode(&bytes, &schema).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(format!("{again:?}"), format!("{plan:?}"), "seed {seed}");
        assert_eq!(encode(&again).unwrap(), bytes, "seed {seed}: the bytes differ the second time");
    }
}

#[test]
fn equal_plans_give_equal_bytes() {
    for seed in 0..50 {
        assert_eq!(encode(&Chance::new(seed).plan()).unwrap(), encode(&Chance::new(seed).plan()).unwrap());
    }
}

#[test]
fn broken_plans_are_refused_or_harmless() {
    for seed in 0..40 {
        let bytes = encode(&Chance::new(seed).plan()).unwrap();
        let mut chance = Chance::new(seed + 1000);
        for _ in 0..100 {
            let mut broken = bytes.clone();
            for _ in 0..=chance.below(3) {
                let at = chance.below(broken.len());
                broken[at] = chance.number() as u8;
            }
            // Whatever could be read can be written, and then is the same forever.
            if let Ok(plan) = decode(&broken, &schema) {
                let written = encode(&plan).unwrap();
                assert_eq!(encode(&decode(&written, &schema).unwrap()).unwrap(), written);
            }
        }
    }
}

#[test]
fn every_shorter_plan_is_refused() {
    let bytes = (0..50).map(|seed| encode(&Chance::new(seed).plan()).unwrap()).max_by_key(Vec::len).unwrap();
    for length in 0..bytes.len() {
        assert!(decode(&bytes[..length], &schema).is_err(), "{length} bytes of {}", bytes.len());
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(matches!(decode(&longer, &schema), Err(PlanFileError::Malformed { .. })));
}

#[test]
fn claimed_lengths_are_not_believed() {
    // A format, a mode, not errored, options with 2^60 targets.
    let mut out = Writer::default();
    for number in [FORMAT, 0, 0, 0, 1] {
        out.number(number);
    }
    out.number(1 << 60);
    let error = decode(&out.into_bytes(), &schema).unwrap_err();
    assert_eq!(error.to_string(), "the plan ends too early (at byte 14)");
}

#[test]
fn other_formats_are_named() {
    assert_eq!(decode(&[9], &schema).unwrap_err(), PlanFileError::Format(9));
    assert_eq!(PlanFileError::Format(9).to_string(), "the plan has format 9, and this version of groma reads format 2");
}

#[test]
fn other_schemas_are_refused() {
    let plan = (0..100).map(|seed| Chance::new(seed).plan()).find(|plan| !plan.changes.is_empty()).unwrap();
    let bytes = encode(&plan).unwrap();
    let none = decode(&bytes, &|_, _, _| None).unwrap_err();
    assert!(matches!(none, PlanFileError::NoSchema { .. }), "{none}");
    let changed = |provider: &Provider, mode: ResourceMode, ty: &str| {
        let mut found = schema(provider, mode, ty)?.as_ref().clone();
        found.block.attributes.insert("new".into(), Attribute::of_type(Type::Bool));
        Some(Arc::new(found))
    };
    let changed = decode(&bytes, &changed).unwrap_err();
    assert!(matches!(changed, PlanFileError::SchemaChanged { .. }), "{changed}");
}

#[test]
fn the_size_grows_with_the_number_of_changes() {
    let change = Chance::new(3).change();
    let size = |count: usize| {
        let plan = Plan { changes: vec![change.clone(); count], ..Chance::new(1).plan() };
        encode(&plan).unwrap().len()
    };
    let first = size(1) - size(0);
    let each = size(3) - size(2);
    assert!(each < first, "what is known is written again: {first}, then {each} bytes");
    assert_eq!(size(100) - size(50), 50 * each);
}
