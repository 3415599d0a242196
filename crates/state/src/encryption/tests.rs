//! What is encrypted is decrypted again, and nothing else is.

use super::*;

const STATE: &str =
    r#"{"version":4,"terraform_version":"1.12.6","serial":7,"lineage":"l","outputs":{},"resources":[]}"#;

/// Long enough.
const PASSPHRASE: &str = "correct horse battery";

/// The state in an envelope.
fn sealed(method: &AesGcm, meta: BTreeMap<String, Vec<u8>>) -> Envelope {
    let data = method.encrypt(STATE.as_bytes(), [9; NONCE]).unwrap();
    Envelope { serial: Some(7), lineage: Some("l".to_owned()), meta, data }
}

fn opened(envelope: &Envelope, method: &AesGcm) -> Result<String, EncryptionError> {
    method.decrypt(&envelope.data).map(|bytes| String::from_utf8(bytes).unwrap())
}

fn method(byte: u8, length: usize) -> AesGcm {
    AesGcm::new(Key::new(vec![byte; length]), b"aad".to_vec()).unwrap()
}

#[test]
fn states_go_in_and_come_out() {
    for length in [16, 24, 32] {
        let envelope = sealed(&method(1, length), BTreeMap::new());
        assert_eq!((envelope.serial, envelope.lineage.as_deref()), (Some(7), Some("l")));
        let text = envelope.encode(Layout::Compact);
        assert!(!text.contains("outputs"));
        let read = Envelope::decode(text.as_bytes()).unwrap().unwrap();
        assert_eq!(read, envelope);
        assert_eq!(opened(&read, &method(1, length)).unwrap(), STATE);
        assert!(matches!(opened(&read, &method(2, length)), Err(EncryptionError::WrongKey)));
        let other = AesGcm::new(Key::new(vec![1; length]), Vec::new()).unwrap();
        assert!(matches!(opened(&read, &other), Err(EncryptionError::WrongKey)));
    }
    assert!(matches!(AesGcm::new(Key::new(vec![0; 31]), Vec::new()), Err(EncryptionError::KeyLength(31))));
}

#[test]
fn a_state_that_is_passed_off_as_another_is_noticed() {
    let mut envelope = sealed(&method(1, 32), BTreeMap::new());
    envelope.serial = Some(8);
    let error = envelope.check_stamp(7, "l").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the encrypted state says serial 8, but what is inside says serial 7: it was put together from two"
    );
    envelope.serial = None;
    envelope.lineage = Some("m".to_owned());
    assert!(matches!(envelope.check_stamp(7, "l"), Err(EncryptionError::Mismatch { .. })));
    envelope.lineage = None;
    assert!(envelope.check_stamp(7, "l").is_ok());
}

#[test]
fn no_change_goes_unnoticed() {
    let meta = BTreeMap::from([("key_provider.pbkdf2.a".to_owned(), b"{}".to_vec())]);
    let sealed = sealed(&method(1, 32), meta);
    for at in 0..sealed.data.len() {
        let mut changed = sealed.clone();
        changed.data[at] ^= 1;
        assert!(matches!(opened(&changed, &method(1, 32)), Err(EncryptionError::WrongKey)), "byte {at}");
        changed.data.truncate(at);
        assert!(opened(&changed, &method(1, 32)).is_err());
    }
    let whole = sealed.encode(Layout::Indented).into_bytes();
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut changed = whole.clone();
            changed[at] ^= 1 << bit;
            // Never taken for a state, and never for one that says something else.
            assert!(crate::decode_bytes(&changed).is_err());
            if let Ok(Some(envelope)) = Envelope::decode(&changed)
                && let Ok(text) = opened(&envelope, &method(1, 32))
            {
                assert_eq!(text, STATE);
            }
        }
    }
}

#[test]
fn what_is_not_encrypted_is_told() {
    assert_eq!(Envelope::decode(STATE.as_bytes()).unwrap(), None);
    for other in ["", "x", "[]", "\u{ff}", "{\"encryption_version\":\"\"}"] {
        assert_eq!(Envelope::decode(other.as_bytes()).unwrap(), None);
    }
    assert!(matches!(Envelope::decode(b"{\"encryption_version\":\"v9\"}"), Err(EncryptionError::Version(_))));
    for damaged in ["{\"encryption_version\":\"v0\"}", r#"{"encryption_version":"v0","encrypted_data":"!"}"#] {
        assert!(matches!(Envelope::decode(damaged.as_bytes()), Err(EncryptionError::Damaged(_))), "{damaged}");
    }
}

/// The first is in RFC 7914; both are what Python's `hashlib` says.
#[test]
fn keys_are_made_as_everybody_makes_them() {
    for (hash, length, expected) in [
        (HashFunction::Sha256, 32, "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"),
        (HashFunction::Sha512, 16, "e6337d6fbeb645c794d4a9b5b75b7b30"),
    ] {
        let mut passphrase = Passphrase::new(PASSPHRASE).unwrap();
        passphrase.secret = b"Password".to_vec();
        let meta = PassphraseMeta { salt: b"NaCl".to_vec(), iterations: 80_000, hash, key_length: length };
        let mut bytes = vec![0; length];
        assert!(crate::digest::from_hex(expected, &mut bytes));
        assert_eq!(passphrase.key(&meta), Key::new(bytes), "{hash:?}");
    }
}

#[test]
fn what_is_kept_of_a_key_is_read_back() {
    let mut passphrase = Passphrase::new(PASSPHRASE).unwrap();
    let meta = passphrase.new_meta(&mut |salt| salt.fill(7)).unwrap();
    assert_eq!((meta.salt.len(), meta.iterations, meta.key_length), (32, 600_000, 32));
    assert_eq!(PassphraseMeta::decode(&meta.encode()).unwrap(), meta);
    assert!(meta.encode().starts_with(b"{\"salt\":\"BwcH"));
    assert_eq!(format!("{passphrase:?} {:?}", Key::new(vec![1; 3])), "Passphrase(..) Key(3 bytes)");
    assert_eq!(Passphrase::new("fifteen letters").unwrap_err(), PassphraseError::TooShort);
    passphrase.iterations = 199_999;
    assert_eq!(passphrase.new_meta(&mut |_| ()).unwrap_err(), PassphraseError::TooFewIterations);
    passphrase.iterations = 200_000;
    passphrase.key_length = 0;
    assert_eq!(passphrase.new_meta(&mut |_| ()).unwrap_err(), PassphraseError::Length("key length"));
    assert!(HashFunction::parse("md5").is_err());
    for damaged in [
        "",
        "{}",
        r#"{"salt":"AA==","iterations":0,"hash_function":"sha512","key_length":32}"#,
        r#"{"salt":"AA==","iterations":1,"hash_function":"sha0","key_length":32}"#,
        r#"{"salt":"AA==","iterations":1,"hash_function":"sha512","key_length":99999999999}"#,
        r#"{"salt":"AA==","iterations":-1,"hash_function":"sha512","key_length":32}"#,
        r#"{"salt":"","iterations":1,"hash_function":"sha512","key_length":32}"#,
    ] {
        assert!(PassphraseMeta::decode(damaged.as_bytes()).is_err(), "{damaged}");
    }
}
