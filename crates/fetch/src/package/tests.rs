//! Tests, to come.
