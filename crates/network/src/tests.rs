//! Kinds of addresses, ranges, and the ways that keep to them.

use super::*;

fn refused(networks: &Networks, address: &str) -> Option<String> {
    networks.check(address.parse().unwrap()).err().map(|refused| refused.to_string())
}

/// Kinds of addresses, with what is said of each; nothing for those that are fine.
const KINDS: [(&str, &[&str], &str); 16] = [
    ("loopback", &["127.0.0.1", "127.8.8.8", "127.255.255.255"], LOOPBACK),
    ("loopback, new", &["::1"], LOOPBACK),
    ("no address", &["0.0.0.0", "0.1.2.3"], UNSPECIFIED),
    ("no address, new", &["::"], UNSPECIFIED),
    ("link-local", &["169.254.0.1", "169.254.255.254"], LINK_LOCAL),
    ("link-local, new", &["fe80::1", "febf:ffff::1"], LINK_LOCAL),
    ("credentials of machines", &["169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192"], METADATA),
    ("credentials of machines, new", &["fd00:ec2::254"], METADATA),
    ("many machines", &["224.0.0.1", "239.255.255.250", "255.255.255.255"], MANY),
    ("many machines, new", &["ff02::1"], MANY),
    ("mapped", &["::ffff:127.0.0.1"], LOOPBACK),
    ("mapped credentials", &["::ffff:169.254.169.254", "::169.254.169.254", "::ffff:0:a9fe:a9fe"], METADATA),
    ("translated", &["64:ff9b::a9fe:a9fe"], METADATA),
    ("tunnelled", &["2002:7f00:1::", "2001:0:1:2:3:4:80ff:fffe"], LOOPBACK),
    ("private", &["10.0.0.1", "172.16.0.1", "192.168.1.1", "fd00::1", "::ffff:10.0.0.1"], ""),
    ("public", &["8.8.8.8", "2001:db8::1", "64:ff9b::808:808"], ""),
];

#[test]
fn every_kind_of_address_is_known() {
    let usual = Networks::usual("-allow-networks");
    for (kind, addresses, what) in KINDS {
        for address in addresses {
            match refused(&usual, address) {
                None => assert!(what.is_empty(), "{kind}: {address}"),
                Some(said) => {
                    assert!(!what.is_empty() && said.contains(what), "{kind}: {said}");
                    assert!(said.contains("-allow-networks="), "{said}");
                }
            }
        }
    }
}

#[test]
fn what_is_said_allows_it() {
    let usual = Networks::usual("-allow-networks");
    for (kind, addresses, _) in KINDS {
        for address in addresses {
            let Some(said) = refused(&usual, address) else { continue };
            let (_, allowance) = said.rsplit_once("-allow-networks=").unwrap();
            let allowed = Networks::new("-allow-networks", &[allowance.parse().unwrap()], &[]);
            assert_eq!(refused(&allowed, address), None, "{kind}: {said}");
        }
    }
}

#[test]
fn the_narrowest_range_decides() {
    let ranges = |all: &[&str]| all.iter().map(|range| range.parse().unwrap()).collect::<Vec<Range>>();
    let networks = Networks::new(
        "-a",
        &ranges(&["127.0.0.0/8", "169.254.0.0/16", "10.96.0.10"]),
        &ranges(&["10.96.0.0/12", "127.0.0.9"]),
    );
    for (address, fine) in [
        ("127.0.0.1", true),
        ("::ffff:127.0.0.1", true),
        ("127.0.0.9", false),
        ("169.254.1.1", true),
        ("169.254.169.254", false),
        ("10.96.0.1", false),
        ("10.96.0.10", true),
        ("10.112.0.1", true),
        ("::1", false),
    ] {
        assert_eq!(refused(&networks, address).is_none(), fine, "{address}");
    }
    let both = Networks::new("-a", &ranges(&["10.0.0.0/8"]), &ranges(&["10.0.0.0/8"]));
    assert!(refused(&both, "10.0.0.1").unwrap().contains("keeps away from"));
}

#[test]
fn ranges_are_read_as_they_are_written() {
    for text in ["10.96.0.0/12", "0.0.0.0/0", "::/0", "fd00::/8", "127.0.0.1/32"] {
        assert_eq!(text.parse::<Range>().unwrap().to_string(), text);
    }
    assert_eq!("10.0.0.1".parse::<Range>().unwrap().to_string(), "10.0.0.1/32");
    let everything: Range = "0.0.0.0/0".parse().unwrap();
    assert!(everything.contains("8.8.8.8".parse().unwrap()) && !everything.contains("::1".parse().unwrap()));
    for text in ["", "10.0.0.0/33", "10.0.0.0/-1", "ten", "10.0.0.0/8/8", "fd00::/129"] {
        assert!(matches!(text.parse::<Range>(), Err(RangeError::Format(_))), "{text}");
    }
    let said = "10.1.0.0/8".parse::<Range>().unwrap_err().to_string();
    assert!(said.ends_with("the range is 10.0.0.0/8"), "{said}");
}

#[tokio::test]
async fn names_lead_nowhere_else() {
    let usual = Networks::usual("-allow-networks");
    for host in ["localhost", "127.0.0.1", "[::1]", "2130706433", "0x7f.1", "127.1"] {
        let said = usual.connect(host, 1).await.unwrap_err().to_string();
        assert!(said.contains(LOOPBACK), "{host}: {said}");
    }
    let said = usual.find("localhost", 1).await.unwrap_err().to_string();
    assert!(said.starts_with("localhost leads to "), "{said}");
}

#[tokio::test]
async fn a_client_for_the_web_finds_the_reason() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let usual = Networks::usual("-allow-networks");
    let builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(guarded_redirects(Some(&usual), reqwest::redirect::Policy::limited(10)));
    let client = guarded(builder, Some(&usual)).build().unwrap();
    let failed = client.get("http://localhost:1/").send().await.unwrap_err();
    assert!(Refused::behind(&failed).is_some(), "{failed:?}");
    for literal in
        ["http://127.1/", "http://0x7f000001/", "http://[::ffff:7f00:1]/", "http://2130706433/", "http://0177.0.0.1/"]
    {
        assert!(check_url(Some(&usual), &literal.parse().unwrap()).is_err(), "{literal}");
        assert!(check_url(None, &literal.parse().unwrap()).is_ok());
    }
    assert!(check_proxy(Some(&usual), "127.0.0.1:3128").is_err());
    assert!(check_proxy(Some(&usual), "proxy.example:3128").is_ok());
}
