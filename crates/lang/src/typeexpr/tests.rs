//! Constraints and defaults.
