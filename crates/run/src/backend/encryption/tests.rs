//! What targets make of states, journals and plans, and how programs are asked. Blocks are tried from the command line.

use std::path::Path;
use std::sync::Arc;

use groma_state::encryption::{EncryptionError, Envelope, Key};
use groma_state::journal::JournalKeys as _;
use groma_state::{State, StateCodec as _, StoreError};

use super::keys::{KeySource, Meta};
use super::method::{Choice, Method, MethodKind, Programs};
use super::programs::Program;
use super::target::Target;

fn aes(byte: u8) -> Choice {
    let key = Key::new(vec![byte; 32]);
    let keys = Some(KeySource::Given { encryption: key.clone(), decryption: Some(key) });
    Choice::Encrypted(Method {
        name: format!("method.aes_gcm.m{byte}"),
        keys,
        kind: MethodKind::AesGcm { aad: Vec::new() },
    })
}

fn target(choices: Vec<Choice>) -> Target {
    Target::new("state".to_owned(), choices)
}

fn state(serial: u64) -> State {
    State { serial, lineage: "line".to_owned(), tool_version: "1.12.6".to_owned(), ..State::default() }
}

fn why(error: StoreError) -> EncryptionError {
    match error {
        StoreError::Encryption { source, .. } => source,
        other => panic!("{other}"),
    }
}

#[test]
fn states_are_read_with_any_method_and_written_with_the_first() {
    let old = target(vec![aes(1)]);
    let bytes = old.encode(&state(7)).unwrap();
    assert_eq!(old.decode(&bytes, "here").unwrap().serial, 7);
    assert!(!old.was_outdated() && old.renewed(&bytes, "here").unwrap().is_none());
    let both = target(vec![aes(2), aes(1)]);
    assert_eq!(both.decode(&bytes, "here").unwrap().serial, 7);
    assert!(both.was_outdated());
    let renewed = both.renewed(&bytes, "here").unwrap().unwrap();
    let new = target(vec![aes(2)]);
    assert_eq!(new.decode(&renewed, "here").unwrap().serial, 7);
    let refused = why(new.decode(&bytes, "here").unwrap_err()).to_string();
    assert!(refused.starts_with("decryption failed for all provided methods: method.aes_gcm.m2"), "{refused}");
}

#[test]
fn states_in_the_clear_are_read_only_where_that_is_allowed() {
    let plain = target(vec![Choice::Unencrypted]).encode(&state(7)).unwrap();
    assert!(!plain.windows(14).any(|window| window == b"encrypted_data"));
    let refused = target(vec![aes(1)]).decode(&plain, "here").unwrap_err();
    assert!(matches!(why(refused), EncryptionError::NotEncrypted));
    let migrating = target(vec![aes(1), Choice::Unencrypted]);
    assert_eq!(migrating.decode(&plain, "here").unwrap().serial, 7);
    assert!(migrating.was_outdated() && migrating.allows_plain());
    // And back.
    let sealed = migrating.encode(&state(8)).unwrap();
    let back = target(vec![Choice::Unencrypted, aes(1)]);
    assert_eq!(back.decode(&sealed, "here").unwrap().serial, 8);
    assert!(back.was_outdated());
    let refused = target(vec![Choice::Unencrypted]).decode(&sealed, "here").unwrap_err();
    assert!(matches!(why(refused), EncryptionError::AllFailed(_)));
    let refused = groma_state::PlainCodec.decode(&sealed, "here").unwrap_err();
    assert_eq!(refused.diagnostic().summary, "Unsupported state file format");
}

#[test]
fn what_stands_outside_must_be_what_is_inside() {
    let target = target(vec![aes(1)]);
    let sealed = target.encode(&state(7)).unwrap();
    let mut envelope = Envelope::decode(&sealed).unwrap().unwrap();
    assert_eq!((envelope.serial, envelope.lineage.as_deref()), (Some(7), Some("line")));
    envelope.serial = Some(8);
    let changed = envelope.encode(groma_state::Layout::Compact);
    assert!(matches!(why(target.decode(changed.as_bytes(), "here").unwrap_err()), EncryptionError::Mismatch { .. }));
}

#[test]
fn what_cannot_be_used_matters_when_it_is_needed() {
    let broken = || Choice::Broken(EncryptionError::Method { why: "no such thing".to_owned() });
    let target = target(vec![aes(1), broken()]);
    let sealed = target.encode(&state(7)).unwrap();
    assert!(target.decode(&sealed, "here").is_ok());
    let other = self::target(vec![aes(2)]).encode(&state(7)).unwrap();
    assert!(why(target.decode(&other, "here").unwrap_err()).to_string().contains("no such thing"));
}

#[test]
fn journals_have_keys_of_their_own() {
    let both = target(vec![aes(1), aes(2)]);
    let (method, meta) = both.new_key().unwrap().unwrap();
    let (_, other) = both.new_key().unwrap().unwrap();
    assert_ne!(meta, other);
    let sealed = method.encrypt(b"record", [1; 12]).unwrap();
    // Keys that are none of its own are told from those that are.
    for target in [target(vec![aes(2), aes(1)]), target(vec![Choice::Unencrypted, aes(1)])] {
        assert_eq!(target.key_again(&meta).unwrap().decrypt(&sealed).unwrap(), b"record");
    }
    assert!(matches!(target(vec![aes(2)]).key_again(&meta), Err(EncryptionError::AllFailed(_))));
    assert!(matches!(both.key_again(&Meta::new()), Err(EncryptionError::Damaged(_))));
    assert!(target(vec![Choice::Unencrypted]).new_key().unwrap().is_none());
}

#[test]
fn plans_are_files_like_others() {
    let target = target(vec![aes(1)]);
    let sealed = target.seal(b"a plan".to_vec()).unwrap();
    assert!(sealed.starts_with(b"{\"meta\":"));
    assert_eq!(target.open(sealed).unwrap(), b"a plan");
    assert!(matches!(target.open(b"a plan".to_vec()), Err(EncryptionError::NotEncrypted)));
    let plain = self::target(vec![Choice::Unencrypted]);
    assert_eq!(plain.open(plain.seal(b"a plan".to_vec()).unwrap()).unwrap(), b"a plan");
}

#[cfg(unix)]
fn script(text: &str) -> Program {
    Program::new(["sh", "-c", text].map(str::to_owned).into(), Path::new("/"))
}

#[cfg(unix)]
#[test]
fn programs_must_say_what_they_are() {
    let greeting = "echo '{\"magic\":\"OpenTofu-External-Key-Provider\",\"version\":1,\"more\":2}'; cat >/dev/null; ";
    let asked = |text: &str| {
        let source = KeySource::External { meta: "key_provider.external.a".to_owned(), program: script(text) };
        let mut meta = Meta::new();
        source.new_key(&mut meta).map(|key| (key, meta))
    };
    let (key, meta) = asked(&format!("{greeting} echo '{{\"keys\":{{\"encryption_key\":\"AAAA\"}}}}'")).unwrap();
    assert_eq!(key, Key::new(vec![0; 3]));
    assert_eq!(meta["key_provider.external.a"], b"{\"external_data\":null}");
    for (text, expected) in [
        ("echo hush", "not the header"),
        ("echo '{\"magic\":\"else\",\"version\":1}'", "invalid magic"),
        ("echo '{\"magic\":\"OpenTofu-External-Key-Provider\",\"version\":2}'", "invalid version number"),
        ("echo oops >&2; exit 3", "oops"),
        (&format!("{greeting} echo '{{\"keys\":{{}}}}'"), "no encryption key"),
        (&format!("{greeting} echo '{{\"keys\":{{\"encryption_key\":\"hush\"}},\"hush\":1}}'"), "invalid JSON"),
        (&format!("{greeting} echo '{{\"keys\":{{\"encryption_key\":\"h-sh\"}}}}'"), "not base64"),
    ] {
        let error = asked(text).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("hush"), "{text}: {error}");
    }
    let missing = KeySource::External {
        meta: "a".to_owned(),
        program: Program::new(vec!["there-is-no-such-program".to_owned()], Path::new("/")),
    };
    assert!(missing.new_key(&mut Meta::new()).unwrap_err().to_string().contains("could not be run"));
}

#[cfg(unix)]
#[test]
fn programs_encrypt_and_are_told_the_key() {
    let answer = "echo '{\"magic\":\"OpenTofu-External-Encryption-Method\",\"version\":1}'; \
                  grep -q '\"key\":\"AQE=\",\"payload\":\"' || exit 1; echo '{\"payload\":\"aGVsbG8=\"}'";
    let method = |key: Option<Key>| Method {
        name: "method.external.a".to_owned(),
        keys: key.map(|key| KeySource::Given { encryption: key.clone(), decryption: Some(key) }),
        kind: MethodKind::External(Arc::new(Programs { encrypt: script(answer), decrypt: script(answer) })),
    };
    let cipher = method(Some(Key::new(vec![1, 1]))).new_cipher(&mut Meta::new()).unwrap();
    assert_eq!(cipher.encrypt(b"x").unwrap(), b"hello");
    assert_eq!(cipher.decrypt(b"x").unwrap(), b"hello");
    assert!(method(None).new_cipher(&mut Meta::new()).unwrap().encrypt(b"x").is_err());
}
