//! Nothing but a test: see `tests/slice.rs`.
