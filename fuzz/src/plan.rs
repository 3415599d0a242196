//! Reading plans from files that anybody may have written.

use groma_engine::plan_file;
use groma_engine::plan_file::testing::schema;

/// A plan: what can be read can be written, and what was written means the same forever after.
pub(crate) fn plan(data: &[u8]) {
    let Ok(plan) = plan_file::decode(data, &schema) else { return };
    let encoded = plan_file::encode(&plan).expect("what was read can be written");
    let again = plan_file::decode(&encoded, &schema).expect("what was written can be read");
    let twice = plan_file::encode(&again).expect("what was read can be written");
    assert!(twice == encoded, "{plan:?} became {again:?}");
}
