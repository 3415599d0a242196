//! Requests over http(s): time limits, retries, redirects, credentials that stay with their host, bodies with a limit.
//! What the answers mean is for the protocols above.

mod client;
mod error;
mod request;
mod retry;
mod settings;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use client::{Client, Downloaded, Response};
pub use error::HttpError;
pub use request::Request;
pub use reqwest::StatusCode;
pub use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
pub use settings::{ClientSettings, ProxySettings};
