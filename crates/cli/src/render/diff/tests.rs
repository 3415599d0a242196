//! What differences look like.
