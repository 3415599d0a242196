//! `fmt`: the canonical layout of native syntax.
