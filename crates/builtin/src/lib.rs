//! Providers that run inside groma.
