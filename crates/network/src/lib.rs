//! Where connections may lead that are made for somebody else. Who writes a Stack names addresses, and the operator connects to them; it
//! reaches more than they do: its own machine, what gives machines their credentials, services of its cluster.
//!
//! An address is judged after it was found and before it is connected to, and the connection is made to the address that was judged. So
//! neither a name that means something else the second time nor a redirect leads around it. Whoever works for one's own has no
//! [`Networks`], and connects to everything.

#[cfg(feature = "kube")]
mod cluster;
mod range;
mod ways;
mod web;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

#[cfg(feature = "kube")]
pub use cluster::hold_cluster;
pub use range::{Range, RangeError};
pub use ways::Unreachable;
pub use web::{Outward, check_proxy, check_url, guarded, guarded_redirects};

/// Which addresses may be connected to.
#[derive(Clone)]
pub struct Networks {
    rules: Arc<[Rule]>,
    /// What allows more: a word that an address can be put behind.
    flag: Arc<str>,
}

impl fmt::Debug for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Networks").field("rules", &self.rules.len()).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone)]
struct Rule {
    range: Range,
    says: Says,
}

/// In the order in which they win over each other about the same range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Says {
    /// Refused unless somebody says otherwise. What it is.
    Usually(&'static str),
    /// Somebody allows it.
    Allowed,
    /// Somebody refuses it.
    Refused,
}

/// An address that is not connected to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{named}{address} is {what}, and nothing is connected to there for a configuration; whoever runs the operator can allow it with \
     {flag}={allowance}"
)]
pub struct Refused {
    /// Which one.
    pub address: IpAddr,
    /// The name that led there, with a word behind it; empty if there is none.
    named: String,
    what: String,
    flag: Arc<str>,
    allowance: Range,
}

impl Refused {
    fn called(mut self, name: &str) -> Self {
        if name.trim_matches(['[', ']']).parse::<IpAddr>().is_err() {
            self.named = format!("{name} leads to ");
        }
        self
    }
}

/// Networks that are of no concern to others, and what they are. Those that give machines their credentials are there by themselves, too, so
/// that who allows a network around them does not give away what was not meant.
const USUALLY_REFUSED: [(&str, &str); 16] = [
    ("127.0.0.0/8", LOOPBACK),
    ("::1/128", LOOPBACK),
    ("0.0.0.0/8", UNSPECIFIED),
    ("::/128", UNSPECIFIED),
    ("169.254.0.0/16", LINK_LOCAL),
    ("fe80::/10", LINK_LOCAL),
    ("224.0.0.0/4", MANY),
    ("ff00::/8", MANY),
    ("255.255.255.255/32", MANY),
    ("169.254.169.254/32", METADATA),
    ("169.254.170.2/32", METADATA),
    ("169.254.170.23/32", METADATA),
    ("100.100.100.200/32", METADATA),
    ("192.0.0.192/32", METADATA),
    ("fd00:ec2::254/128", METADATA),
    ("fd20:ce::254/128", METADATA),
];

const LOOPBACK: &str = "an address of this machine itself";
const UNSPECIFIED: &str = "no address of a single machine, and often means this one";
const LINK_LOCAL: &str = "an address of the network that this machine is plugged into";
const MANY: &str = "an address of many machines at once";
const METADATA: &str = "where machines get their credentials";

impl Networks {
    /// The usual ones. The flag is what whoever is refused is told about: what allows an address that is put behind it.
    pub fn usual(flag: &str) -> Self {
        Self::new(flag, &[], &[])
    }

    /// The usual ones but for these: the narrowest range that an address is in decides; about the same range, refusing wins.
    pub fn new(flag: &str, allowed: &[Range], refused: &[Range]) -> Self {
        let usually =
            USUALLY_REFUSED.iter().filter_map(|(range, what)| Some((range.parse().ok()?, Says::Usually(what))));
        let allowed = allowed.iter().map(|range| (*range, Says::Allowed));
        let refused = refused.iter().map(|range| (*range, Says::Refused));
        let rules = usually.chain(allowed).chain(refused).map(|(range, says)| Rule { range, says }).collect();
        Self { rules, flag: flag.into() }
    }

    /// Whether an address may be connected to.
    pub fn check(&self, address: IpAddr) -> Result<(), Refused> {
        // What an address stands for is judged as well as the address.
        let inner = within(address).map(IpAddr::V4);
        let inner_allowed = match inner {
            Some(inner) => self.judge(inner).map(|()| true)?,
            None => false,
        };
        match self.judge(address) {
            // The mapped form of an address that is allowed is the same address.
            Err(_) if inner_allowed && is_mapped(address) => Ok(()),
            judged => judged,
        }
    }

    fn judge(&self, address: IpAddr) -> Result<(), Refused> {
        let about = self.rules.iter().filter(|rule| rule.range.contains(address));
        let what = match about.max_by_key(|rule| (rule.range.bits(), rule.says)).map(|rule| rule.says) {
            None | Some(Says::Allowed) => return Ok(()),
            Some(Says::Usually(what)) => what.to_owned(),
            Some(Says::Refused) => "in a network that the operator keeps away from".to_owned(),
        };
        let allowance = Range::only(address);
        Err(Refused { address, named: String::new(), what, flag: self.flag.clone(), allowance })
    }

    /// Whether a host may be connected to, as far as that can be seen from it: an address is judged, a name is when it is looked up.
    pub fn check_host(&self, host: &str) -> Result<(), Refused> {
        match host.trim_matches(['[', ']']).parse() {
            Ok(address) => self.check(address),
            Err(_) => Ok(()),
        }
    }
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

/// The old address that a new one stands for: mapped, compatible, translated or tunnelled.
fn within(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else { return None };
    if address == Ipv6Addr::UNSPECIFIED || address == Ipv6Addr::LOCALHOST {
        return None;
    }
    let inner = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff | 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => inner(high, low),
        [0x2002, high, low, ..] => inner(high, low),
        // The last part of an address that is tunnelled so is turned around.
        [0x2001, 0, .., high, low] => inner(!high, !low),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
