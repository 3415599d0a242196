//! OpenPGP keys for tests, made when they are needed.

use p521::elliptic_curve::rand_core::{CryptoRng, Error, RngCore};
use pgp::composed::{DetachedSignature, KeyType, SecretKeyParamsBuilder, SignedPublicKey, SignedSecretKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::ser::Serialize;
use pgp::types::{KeyDetails, Password, Timestamp};

/// When test keys were made.
const CREATED: u32 = 1_700_000_000;

/// A key that signs.
pub struct TestKey {
    secret: SignedSecretKey,
}

impl TestKey {
    /// A key. The same seed gives the same key.
    #[expect(clippy::expect_used, reason = "only tests come here, and nothing outside can make this fail")]
    pub fn new(seed: u64) -> Self {
        let params = SecretKeyParamsBuilder::default()
            .key_type(KeyType::Ed25519Legacy)
            .can_sign(true)
            .can_certify(true)
            .created_at(Timestamp::from_secs(CREATED))
            .primary_user_id("Test <test@example.com>".to_owned())
            .build()
            .expect("the parameters are complete");
        Self { secret: params.generate(Counter(seed)).expect("a key can be made") }
    }

    /// Its id, as it is shown.
    pub fn id(&self) -> String {
        hex::encode_upper(self.secret.legacy_key_id().as_ref())
    }

    /// The public key, in ASCII armor.
    pub fn armor(&self) -> String {
        SignedPublicKey::from(self.secret.clone()).to_armored_string(None.into()).unwrap_or_default()
    }

    /// A detached signature, as registries serve it.
    pub fn sign(&self, document: &[u8]) -> Vec<u8> {
        let key = &self.secret.primary_key;
        let signature =
            DetachedSignature::sign_binary_data(Counter(1), key, &Password::empty(), HashAlgorithm::Sha256, document);
        signature.and_then(|signature| signature.to_bytes()).unwrap_or_default()
    }
}

/// Numbers that are anything but random.
struct Counter(u64);

impl RngCore for Counter {
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0.rotate_left(29) ^ self.0
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.next_u64() as u8;
        }
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

impl CryptoRng for Counter {}
