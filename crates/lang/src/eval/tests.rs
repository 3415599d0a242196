//! Evaluation as a whole. What needs no marks, unknowns or broken scopes is tested in the language itself.

use groma_model::mark::Mark;
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value};

use super::testing::TestScope;
