//! JSON as machines know it from Terraform and OpenTofu. Only data leaves here; who prints it is not our business.

mod change;
pub mod checks;
pub mod config;
pub mod diagnostic;
pub mod explanation;
pub mod functions;
pub mod graph;
mod modules;
pub mod outputs;
pub mod plan;
pub mod schema;
pub mod showing;
pub mod state;
pub mod stream;
#[cfg(test)]
mod tests;
pub mod text;
pub mod validate;
pub mod value;
