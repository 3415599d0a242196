//! Digests; that they are checked over http is told where there is a server.

use super::*;

#[test]
fn only_what_has_the_digest_is_taken() {
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, b"hello").unwrap();
    let right = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    Wanted::parse(right).unwrap().check(&mut file, "it").unwrap();
    let wrong = format!("sha256:{}", "0".repeat(64));
    let said = Wanted::parse(&wrong).unwrap().check(&mut file, "it").unwrap_err();
    assert_eq!(said.kind, Trouble::Damaged);
    assert!(said.message.contains("has the digest 2cf24dba"), "{said}");
}

#[test]
fn without_a_digest_nothing_is_taken() {
    for wrong in ["", "sha256", "sha256:", "sha256:xyz", "md5:00", "sha1:0011"] {
        assert!(Wanted::parse(wrong).is_err(), "{wrong}");
    }
}
