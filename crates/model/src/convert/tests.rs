//! Conversions, as a specification.
