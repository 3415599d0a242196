//! Fuzz targets as plain functions from bytes to nothing: each asserts what must hold for any input.
//! `cargo xtask fuzz` drives them with libFuzzer; `cargo test` replays seeds and inputs that once failed.

#![expect(clippy::expect_used, reason = "a target says what must hold by panicking")]

mod address;
mod codec;
mod evaluate;
mod plan;
mod rules;
mod syntax;

/// A fuzz target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, also of its folders in `seeds` and `regressions`.
    pub name: &'static str,
    /// Panics if something that must hold does not.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "hcl", run: syntax::hcl },
    Target { name: "json", run: syntax::json },
    Target { name: "expression", run: syntax::expression },
    Target { name: "msgpack", run: codec::msgpack },
    Target { name: "address", run: address::address },
    Target { name: "plan", run: plan::plan },
    Target { name: "rule_expression", run: rules::rule_expression },
    Target { name: "rule_field", run: rules::rule_field },
    Target { name: "rule_file", run: rules::rule_file },
];
