//! What is said while something runs.
