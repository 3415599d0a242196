//! Clients for http(s) that connect to nothing but what may be. Names are judged where they are looked up; addresses that stand in a URL are
//! never looked up, so they are judged before each request and each redirect.

use std::error::Error;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{ClientBuilder, Url};

use crate::{Networks, Refused, Unreachable};

/// Finds the addresses of names that may be connected to.
#[derive(Debug, Clone)]
pub struct Outward(pub Networks);

impl Resolve for Outward {
    fn resolve(&self, name: Name) -> Resolving {
        let networks = self.0.clone();
        Box::pin(async move {
            match networks.find(name.as_str(), 0).await {
                Ok(found) => Ok(Box::new(found.into_iter()) as Addrs),
                Err(Unreachable::Refused(refused)) => Err(Box::new(refused) as Box<dyn Error + Send + Sync>),
                Err(Unreachable::Failed(problem)) => Err(problem.into()),
            }
        })
    }
}

/// A client that looks names up this way. Its redirects and the first address are for the caller to see to.
pub fn guarded(builder: ClientBuilder, networks: Option<&Networks>) -> ClientBuilder {
    match networks {
        Some(networks) => builder.dns_resolver(Outward(networks.clone())),
        None => builder,
    }
}

/// Follows redirects as another policy does, but not to where nothing may be connected to.
pub fn guarded_redirects(networks: Option<&Networks>, policy: Policy) -> Policy {
    let Some(networks) = networks.cloned() else { return policy };
    Policy::custom(move |attempt: Attempt<'_>| match check_url(Some(&networks), attempt.url()) {
        Ok(()) => policy.redirect(attempt),
        Err(refused) => attempt.error(refused),
    })
}

/// Whether an address may be asked, as far as that can be seen from it.
pub fn check_url(networks: Option<&Networks>, url: &Url) -> Result<(), Refused> {
    match (networks, url.host_str()) {
        (Some(networks), Some(host)) => networks.check_host(host),
        _ => Ok(()),
    }
}

/// The same for the address of a proxy, with or without a scheme. What is no address is somebody else's to tell.
pub fn check_proxy(networks: Option<&Networks>, proxy: &str) -> Result<(), Refused> {
    let with_scheme = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    with_scheme.parse().map_or(Ok(()), |url| check_url(networks, &url))
}

impl Refused {
    /// The refusal that an error comes from, if it does.
    pub fn behind<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Refused> {
        let mut cause = Some(error);
        while let Some(inner) = cause {
            if let Some(refused) = inner.downcast_ref() {
                return Some(refused);
            }
            cause = inner.source();
        }
        None
    }
}
