//! Where webhooks may be. Calls come from the operator, which reaches more than who writes a Stack: its own machine, and the services that
//! give credentials to machines, are not asked.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Give credentials to machines, in networks that are not local by their numbers.
const METADATA: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
];

/// Reads an address. Credentials have no place in it: it is shown.
pub(super) fn check_url(text: &str) -> Result<Url, String> {
    let url: Url = text.parse().map_err(|problem| format!("it is no address: {problem}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err("it must start with https:// or http://, and name a host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it must not have a user or a password in it; use secretRef or clientCertificate".to_owned());
    }
    Ok(url)
}

/// Whether nobody is asked there.
pub(crate) fn is_refused(address: IpAddr) -> bool {
    if METADATA.contains(&address) {
        return true;
    }
    match address {
        IpAddr::V4(address) => is_local(address),
        IpAddr::V6(address) => {
            let is_link_local = address.segments()[0] & 0xffc0 == 0xfe80;
            address.is_loopback()
                || address.is_unspecified()
                || address.is_multicast()
                || is_link_local
                || within(address).is_some_and(|inner| is_refused(IpAddr::V4(inner)))
        }
    }
}

fn is_local(address: Ipv4Addr) -> bool {
    address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.octets()[0] == 0
}

/// The old address that a new one stands for: mapped, compatible, translated or tunnelled.
fn within(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let inner = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => inner(high, low),
        [0x2002, high, low, ..] => inner(high, low),
        _ => None,
    }
}

/// Finds addresses by names, but for those where nobody is asked. Connections are made to what is found here and nowhere else, so a name
/// cannot mean something else the second time.
pub(super) struct Outward;

impl Resolve for Outward {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let (refused, allowed): (Vec<SocketAddr>, Vec<_>) = found.partition(|address| is_refused(address.ip()));
            if allowed.is_empty() && !refused.is_empty() {
                return Err(REFUSED.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// What is said about addresses where nobody is asked.
pub(super) const REFUSED: &str = "it is an address of the machine or of its network, which is not asked; the operator can allow it with \
                                  -allow-local-webhooks";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_asked_on_the_machine_itself() {
        for address in [
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "169.254.169.254",
            "100.100.100.200",
            "224.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fd00:ec2::254",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
        ] {
            assert!(is_refused(address.parse().unwrap()), "{address}");
        }
        for address in ["10.0.0.1", "192.168.1.1", "8.8.8.8", "2001:db8::1", "fd00::1", "::ffff:10.0.0.1"] {
            assert!(!is_refused(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn addresses_say_only_where() {
        assert!(check_url("https://policy.example/check?x=1").is_ok());
        assert!(check_url("http://policy.team.svc:8080").is_ok());
        for wrong in ["ftp://x", "https://", "https://me:secret@policy.example", "file:///etc/passwd", "policy"] {
            let said = check_url(wrong).unwrap_err();
            assert!(!said.contains("secret@"), "{said}");
        }
    }

    #[tokio::test]
    async fn names_do_not_lead_there_either() {
        let found = Outward.resolve("localhost".parse().unwrap()).await;
        let said = found.err().unwrap().to_string();
        assert!(said.contains("-allow-local-webhooks"), "{said}");
    }
}
