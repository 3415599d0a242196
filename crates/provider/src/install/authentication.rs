//! Whether a package is what its publisher published: hashes from mirrors, and signed lists of checksums from
//! registries. What was learnt about each hash decides which of them are locked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::path::Path;

use groma_model::address::{DEFAULT_HOST, Provider};

use super::error::AuthenticationError;
use super::hash::{Hash, HashScheme};
use super::package::PackageMeta;
use super::platform::Platform;
use super::signature::{self, SignaturePolicy};

/// How a package is checked.
#[derive(Debug, Clone)]
pub enum Authentication {
    /// Not at all: the source says nothing about it.
    None,
    /// By hashes that a mirror gives.
    Hashes {
        /// The hashes.
        hashes: Vec<Hash>,
        /// Whether those that cannot be checked here are believed as well (the user trusts this mirror).
        trusted: bool,
    },
    /// By what a registry says.
    Registry(Box<RegistryAuthentication>),
}

/// What a registry says about a package.
#[derive(Debug, Clone)]
pub struct RegistryAuthentication {
    /// The digest of the archive.
    pub digest: [u8; 32],
    /// The list of checksums.
    pub checksums: Vec<u8>,
    /// The signature of that list.
    pub signature: Vec<u8>,
    /// The public keys of which one must have made it, in ASCII armor.
    pub keys: Vec<String>,
    /// The hashes and sizes of the packages for all platforms, if the registry tells.
    pub packages: BTreeMap<Platform, RegistryPackage>,
    /// How strict signatures are taken.
    pub policy: SignaturePolicy,
}

/// What a registry says about the package for one platform.
#[derive(Debug, Clone, Default)]
pub struct RegistryPackage {
    /// Its hashes.
    pub hashes: Vec<Hash>,
    /// The size of its archive.
    pub size: i64,
}

/// What is known about one hash.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disposition {
    /// The keys that signed it.
    pub signed_by: BTreeSet<String>,
    /// The registry named it.
    pub from_registry: bool,
    /// A mirror that the user trusts named it.
    pub from_trusted_mirror: bool,
    /// It was computed here, from the package.
    pub verified: bool,
    /// The platform of the package that it is of, where that is known.
    pub platform: Option<Platform>,
}

/// What checking a package showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthenticationResult {
    /// What is known about each hash.
    pub hashes: BTreeMap<Hash, Disposition>,
    /// Whether the signature was made with a key that has expired.
    pub key_expired: bool,
}

/// How far a package can be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Nobody vouches for it.
    Unauthenticated,
    /// It has the hash that it should have.
    VerifiedChecksum,
    /// It has the hash that it should have, and the registry has no key to check signatures with.
    SigningSkipped,
    /// Signed, with these keys.
    Signed(Vec<String>),
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unauthenticated => "unauthenticated",
            Self::VerifiedChecksum => "verified checksum",
            Self::SigningSkipped => "signing skipped",
            Self::Signed(_) => "signed",
        })
    }
}

impl AuthenticationResult {
    /// How far the package can be trusted.
    pub fn trust(&self) -> Trust {
        let keys: BTreeSet<&String> = self.hashes.values().flat_map(|known| &known.signed_by).collect();
        if !keys.is_empty() {
            return Trust::Signed(keys.into_iter().cloned().collect());
        }
        let any = |condition: fn(&Disposition) -> bool| self.hashes.values().any(condition);
        if any(|known| known.from_registry) {
            Trust::SigningSkipped
        } else if any(|known| known.verified) {
            Trust::VerifiedChecksum
        } else if any(|known| known.from_trusted_mirror) {
            Trust::SigningSkipped
        } else {
            Trust::Unauthenticated
        }
    }

    /// The hashes for which something holds, in order.
    pub fn hashes_where(&self, condition: impl Fn(&Disposition) -> bool) -> Vec<Hash> {
        self.hashes.iter().filter(|(_, known)| condition(known)).map(|(hash, _)| hash.clone()).collect()
    }

    fn learn(&mut self, hash: Hash, learn: impl FnOnce(&mut Disposition)) {
        learn(self.hashes.entry(hash).or_default());
    }
}

/// A package on this machine, as it is hashed.
#[derive(Debug)]
pub(super) enum Local<'a> {
    /// An archive, with its digest and size.
    Archive { file: &'a File, name: String, digest: [u8; 32], size: u64 },
    /// A directory.
    Directory(&'a Path),
}

impl Local<'_> {
    /// The hash over its files.
    pub(super) fn files_hash(&self) -> Result<Hash, String> {
        let text = match self {
            Self::Archive { file, .. } => groma_fetch::dirhash::h1_zip(*file),
            Self::Directory(path) => groma_fetch::dirhash::h1_directory(path),
        };
        text.map(Hash::computed).map_err(|error| error.to_string())
    }

    /// Whether it has one of some hashes. What is known already is looked at before anything is read.
    pub(super) fn has_any(&self, hashes: &[Hash]) -> Result<bool, String> {
        if let Self::Archive { digest, .. } = self
            && hashes.contains(&Hash::of_archive(digest))
        {
            return Ok(true);
        }
        Ok(!self.matching(hashes)?.is_empty())
    }

    /// Those of some hashes that it has. Each way of hashing is gone at most once.
    pub(super) fn matching(&self, hashes: &[Hash]) -> Result<Vec<Hash>, String> {
        let mut files = None;
        let mut found = Vec::new();
        for hash in hashes {
            let own = match (hash.scheme(), self) {
                (HashScheme::Files, _) => match &files {
                    Some(known) => Hash::clone(known),
                    None => files.insert(self.files_hash()?).clone(),
                },
                (HashScheme::Archive, Self::Archive { digest, .. }) => Hash::of_archive(digest),
                _ => continue,
            };
            if own == *hash {
                found.push(own);
            }
        }
        Ok(found)
    }
}

impl Authentication {
    /// Checks a package that is on this machine now.
    pub(super) fn check(
        &self,
        meta: &PackageMeta,
        local: &Local<'_>,
    ) -> Result<Option<AuthenticationResult>, AuthenticationError> {
        match self {
            Self::None => Ok(None),
            Self::Hashes { hashes, trusted } => check_hashes(hashes, *trusted, &meta.platform, local).map(Some),
            Self::Registry(registry) => registry.check(meta, local).map(Some),
        }
    }
}

fn check_hashes(
    hashes: &[Hash],
    trusted: bool,
    platform: &Platform,
    local: &Local<'_>,
) -> Result<AuthenticationResult, AuthenticationError> {
    let usable = Hash::usable(hashes);
    let matching = local.matching(&usable).map_err(AuthenticationError::Read)?;
    match usable.as_slice() {
        [] => return Err(AuthenticationError::NoUsableHash),
        [only] if matching.is_empty() => return Err(AuthenticationError::Hash(only.to_string())),
        _ if matching.is_empty() => return Err(AuthenticationError::AnyHash),
        _ => {}
    }
    let mut result = AuthenticationResult::default();
    for hash in matching {
        result.learn(hash, |known| {
            known.verified = true;
            known.platform = Some(platform.clone());
        });
    }
    for hash in usable.into_iter().filter(|_| trusted) {
        result.learn(hash, |known| known.from_trusted_mirror |= !known.verified);
    }
    Ok(result)
}

impl RegistryAuthentication {
    fn check(&self, meta: &PackageMeta, local: &Local<'_>) -> Result<AuthenticationResult, AuthenticationError> {
        let Local::Archive { digest, size, name, .. } = local else {
            return Err(AuthenticationError::NotAnArchive(meta.location.to_string()));
        };
        let mut result = AuthenticationResult::default();
        self.check_packages(&meta.platform, *size, &mut result)?;
        self.check_list(&meta.filename)?;
        if *digest != self.digest {
            tracing::debug!(archive = %name, "the digest of an archive differs");
            return Err(AuthenticationError::Archive {
                actual: Hash::of_archive(digest).to_string(),
                expected: Hash::of_archive(&self.digest).to_string(),
            });
        }
        result.learn(Hash::of_archive(digest), |known| {
            known.verified = true;
            known.platform = Some(meta.platform.clone());
        });
        self.check_signature(&meta.provider, &mut result)?;
        Ok(result)
    }

    /// What the registry says about the packages must agree with what arrived.
    fn check_packages(
        &self,
        platform: &Platform,
        size: u64,
        result: &mut AuthenticationResult,
    ) -> Result<(), AuthenticationError> {
        if self.packages.is_empty() {
            return Ok(());
        }
        let wrong = |reason: String| Err(AuthenticationError::Registry(reason));
        let Some(own) = self.packages.get(platform) else {
            return wrong(format!("missing package with platform \"{platform}\""));
        };
        if own.size <= 0 {
            return wrong(format!("has invalid package size {}", own.size));
        }
        if u64::try_from(own.size) != Ok(size) {
            return wrong(format!("indicates a package of size {}, but received a package of size {size}", own.size));
        }
        let expected = Hash::of_archive(&self.digest);
        let mut archives = own.hashes.iter().filter(|hash| hash.scheme() == HashScheme::Archive).peekable();
        if archives.peek().is_none() {
            return wrong("does not contain matching sha256sum package entry and is invalid".to_owned());
        }
        if let Some(other) = archives.find(|hash| **hash != expected) {
            return wrong(format!(
                "expected sha256sum is {:?}, which does not match the platform's value of {:?}",
                expected.value(),
                other.value()
            ));
        }
        for (platform, package) in &self.packages {
            for hash in Hash::usable(&package.hashes) {
                result.learn(hash, |known| {
                    known.from_registry = true;
                    known.platform = Some(platform.clone());
                });
            }
        }
        Ok(())
    }

    /// The signed list must say the same as the registry: otherwise the signature proves nothing about the archive.
    fn check_list(&self, filename: &str) -> Result<(), AuthenticationError> {
        let text = String::from_utf8_lossy(&self.checksums);
        let listed = text.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let digest = words.next()?;
            (words.next()? == filename).then(|| digest.to_owned())
        });
        let Some(listed) = listed else { return Err(AuthenticationError::NotListed(filename.to_owned())) };
        let Some(digest) = parse_digest(&listed) else { return Err(AuthenticationError::BadList(listed)) };
        if digest != self.digest {
            let expected = hex::encode(self.digest);
            return Err(AuthenticationError::ListDiffers { listed: hex::encode(digest), expected });
        }
        Ok(())
    }

    fn check_signature(
        &self,
        provider: &Provider,
        result: &mut AuthenticationResult,
    ) -> Result<(), AuthenticationError> {
        let mut signed_by = BTreeSet::new();
        if !self.keys.is_empty() || is_signature_required(provider, self.policy) {
            let signer = signature::verify(&self.checksums, &self.signature, &self.keys, self.policy)
                .map_err(|error| AuthenticationError::Signature(error.to_string()))?;
            result.key_expired = signer.expired;
            signed_by.insert(signer.key_id);
        } else {
            tracing::warn!(%provider, "the registry has no keys for this provider: its signature is not checked");
        }
        for hash in listed_hashes(&self.checksums) {
            result.learn(hash, |known| {
                known.from_registry = true;
                known.signed_by.extend(signed_by.iter().cloned());
            });
        }
        Ok(())
    }
}

/// Whether packages of a provider must be signed even if its registry has no keys for it. The public registry does not
/// know the keys of all authors, so it is excepted, unless the user is strict.
pub(super) fn is_signature_required(provider: &Provider, policy: SignaturePolicy) -> bool {
    provider.host.as_str() != DEFAULT_HOST || policy.enforce
}

/// The hashes of all archives in a list of checksums. A list with something else in it has none.
fn listed_hashes(checksums: &[u8]) -> Vec<Hash> {
    let text = String::from_utf8_lossy(checksums);
    let hash = |line: &str| {
        let mut words = line.split_whitespace();
        let digest = parse_digest(words.next()?)?;
        words.next().map(|_| Hash::of_archive(&digest))
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(hash).collect::<Option<Vec<Hash>>>().unwrap_or_default()
}

/// A SHA-256 digest in hexadecimal.
pub(super) fn parse_digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    hex::decode_to_slice(text, &mut digest).ok()?;
    Some(digest)
}
