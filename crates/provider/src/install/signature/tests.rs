//! Tests of signatures.
