//! Tests of whole installations.
