//! What plans look like.
