//! Modules from texts: what is read, and what is wrong.
