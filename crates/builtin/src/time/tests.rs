//! The `time` provider against a clock that stands still.
