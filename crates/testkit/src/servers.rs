//! Real servers for tests that need one: started on loopback, in a folder of their own, and gone with the process that started them.

pub mod artifacts;
pub mod fakebyte;
pub mod forge;
pub mod git;
pub mod http;
pub mod kube;
pub mod postgres;
pub mod s3;
mod watched;
pub mod web;
