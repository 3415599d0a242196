//! Hashes of packages as lock files have them: a scheme and a value. Computing them is elsewhere.

use std::fmt;

use thiserror::Error;

/// A hash with its scheme, such as `h1:…` or `zh:…`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(String);

/// Which way of hashing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashScheme {
    /// `h1:`, over the files of a package, packed or not.
    Files,
    /// `zh:`, over the bytes of the archive.
    Archive,
    /// One that is not known here. It is kept, and matches nothing.
    Unknown,
}

/// Why a text is no hash.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HashError {
    /// There is no colon.
    #[error("hash string must start with a scheme keyword followed by a colon")]
    NoScheme,
}

impl Hash {
    /// Reads `scheme:value`. Any scheme is accepted.
    pub fn parse(text: &str) -> Result<Self, HashError> {
        match text.split_once(':') {
            Some((scheme, _)) if !scheme.is_empty() => Ok(Self(text.to_owned())),
            _ => Err(HashError::NoScheme),
        }
    }

    /// `zh:` for a digest of an archive.
    pub fn of_archive(digest: &[u8; 32]) -> Self {
        Self(groma_fetch::dirhash::zh_of_digest(digest))
    }

    /// A hash that was just computed.
    pub(super) fn computed(text: String) -> Self {
        Self(text)
    }

    /// Its scheme.
    pub fn scheme(&self) -> HashScheme {
        match self.0.split_once(':') {
            Some(("h1", _)) => HashScheme::Files,
            Some(("zh", _)) => HashScheme::Archive,
            _ => HashScheme::Unknown,
        }
    }

    /// What is behind the scheme.
    pub fn value(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, value)| value)
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Those whose scheme is known here.
    pub fn usable(hashes: &[Hash]) -> Vec<Hash> {
        hashes.iter().filter(|hash| hash.scheme() != HashScheme::Unknown).cloned().collect()
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_have_a_scheme() {
        let hash = Hash::parse("h1:abc=").unwrap();
        assert_eq!((hash.scheme(), hash.value()), (HashScheme::Files, "abc="));
        assert_eq!(Hash::parse("zh:00").unwrap().scheme(), HashScheme::Archive);
        assert_eq!(Hash::parse("h9:x:y").unwrap().value(), "x:y");
        assert_eq!(Hash::parse("h9:x").unwrap().scheme(), HashScheme::Unknown);
        for bad in ["", "abc", ":abc"] {
            assert!(Hash::parse(bad).is_err(), "{bad}");
        }
    }
}
