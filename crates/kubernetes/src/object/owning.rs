//! Whose objects and fields are: by annotation, by manager, and what changes hands.

pub(crate) mod claim;
pub(crate) mod fields;
pub(crate) mod legacy;
pub(crate) mod seed;
pub(crate) mod transitions;
