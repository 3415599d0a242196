//! JSON as machines know it from Terraform and OpenTofu. Only data leaves here; who prints it is not our business.

pub mod diagnostic;
pub mod functions;
pub mod schema;
pub mod validate;
