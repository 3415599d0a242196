//! Where the operator connects to for Stacks, whose authors reach less than it does. The table of addresses is in `groma-network`.

use std::net::IpAddr;

pub use groma_network::{Networks, Range};

/// What allows more.
const FLAG: &str = "-allow-networks";

/// What is kept away from besides what always is: networks that were named, and the service that the cluster itself is behind. What was
/// allowed is fine nevertheless, if it was named as narrowly.
pub fn networks(allowed: &[Range], mut refused: Vec<Range>, cluster: Option<&str>) -> Networks {
    let service = cluster.and_then(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().ok()).map(Range::only);
    refused.extend(service.filter(|service| !allowed.contains(service)));
    Networks::new(FLAG, allowed, &refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_of_the_cluster_is_kept_away_from_unless_it_is_allowed() {
        let ranges = |all: &[&str]| all.iter().map(|range| range.parse().unwrap()).collect::<Vec<Range>>();
        let address = "10.96.0.1".parse().unwrap();
        let usual = networks(&[], Vec::new(), Some("10.96.0.1"));
        let said = usual.check(address).unwrap_err().to_string();
        assert!(said.ends_with("-allow-networks=10.96.0.1/32"), "{said}");
        assert!(usual.check("10.96.0.2".parse().unwrap()).is_ok());
        assert!(networks(&ranges(&["10.96.0.1/32"]), Vec::new(), Some("10.96.0.1")).check(address).is_ok());
        assert!(networks(&ranges(&["10.96.0.0/12"]), Vec::new(), Some("10.96.0.1")).check(address).is_err());
        let all = networks(&[], ranges(&["10.96.0.0/12"]), Some("fd00::1"));
        for (address, fine) in [("10.96.0.2", false), ("fd00::1", false), ("fd00::2", true), ("10.0.0.1", true)] {
            assert_eq!(all.check(address.parse().unwrap()).is_ok(), fine, "{address}");
        }
    }
}
