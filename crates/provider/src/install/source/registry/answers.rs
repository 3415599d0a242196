//! The answers of a provider registry, as they come, and what is made of them.

use std::collections::BTreeMap;

use groma_model::version::Version;
use serde::{Deserialize, Deserializer};
use url::Url;

use super::is_known_protocol;
use crate::install::authentication::{RegistryPackage, parse_digest};
use crate::install::hash::Hash;
use crate::install::platform::Platform;

/// A field that may be null where it could be left out.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Debug, Deserialize)]
pub(super) struct VersionsAnswer {
    #[serde(default, deserialize_with = "or_default")]
    versions: Vec<VersionAnswer>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) warnings: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct VersionAnswer {
    version: String,
    #[serde(default, deserialize_with = "or_default")]
    protocols: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    platforms: Vec<PlatformAnswer>,
}

#[derive(Debug, Deserialize)]
struct PlatformAnswer {
    os: String,
    arch: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct DownloadAnswer {
    #[serde(default, deserialize_with = "or_default")]
    protocols: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    os: String,
    #[serde(default, deserialize_with = "or_default")]
    arch: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) filename: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) download_url: String,
    #[serde(default, deserialize_with = "or_default")]
    shasum: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) shasums_url: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) shasums_signature_url: String,
    #[serde(default, deserialize_with = "or_default")]
    signing_keys: SigningKeys,
    #[serde(default, deserialize_with = "or_default")]
    packages: BTreeMap<String, PackageAnswer>,
}

#[derive(Debug, Default, Deserialize)]
struct SigningKeys {
    #[serde(default, deserialize_with = "or_default")]
    gpg_public_keys: Vec<SigningKey>,
}

#[derive(Debug, Deserialize)]
struct SigningKey {
    #[serde(default, deserialize_with = "or_default")]
    ascii_armor: String,
}

#[derive(Debug, Deserialize)]
struct PackageAnswer {
    #[serde(default, deserialize_with = "or_default")]
    hashes: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    package_size: i64,
}

impl VersionsAnswer {
    pub(super) fn versions(&self) -> Result<Vec<Version>, String> {
        self.versions.iter().map(|answer| parse_version("version", &answer.version)).collect()
    }

    /// The versions that speak a known protocol, newest first.
    pub(super) fn compatible(&self) -> Result<Vec<Version>, String> {
        let mut found = Vec::new();
        for answer in &self.versions {
            let version = parse_version("version", &answer.version)?;
            for protocol in &answer.protocols {
                if is_known_protocol(&parse_version("protocol", protocol)?) {
                    found.push(version);
                    break;
                }
            }
        }
        found.sort_by(|a, b| b.cmp(a));
        Ok(found)
    }

    pub(super) fn platforms_of(&self, version: &Version) -> Vec<Platform> {
        let same = |answer: &&VersionAnswer| Version::parse_release(&answer.version).is_ok_and(|own| own == *version);
        let answer = self.versions.iter().find(same);
        let platform = |answer: &PlatformAnswer| format!("{}_{}", answer.os, answer.arch).parse().ok();
        let mut platforms: Vec<Platform> =
            answer.into_iter().flat_map(|answer| answer.platforms.iter().filter_map(platform)).collect();
        platforms.sort();
        platforms
    }
}

impl DownloadAnswer {
    pub(super) fn protocols(&self) -> Result<Vec<Version>, String> {
        let parsed = self.protocols.iter().map(|text| parse_version("version", text));
        let mut protocols = parsed.collect::<Result<Vec<_>, _>>()?;
        protocols.sort();
        Ok(protocols)
    }

    pub(super) fn check_platform(&self, wanted: &Platform) -> Result<(), String> {
        if self.os == wanted.os && self.arch == wanted.arch {
            return Ok(());
        }
        Err(format!("registry response to request for {wanted} archive has incorrect target {}_{}", self.os, self.arch))
    }

    /// An address in the answer, which may be relative to where the answer came from.
    pub(super) fn url(base: &Url, address: &str, what: &str) -> Result<Url, String> {
        let url = base.join(address).map_err(|error| format!("registry response includes invalid {what}: {error}"))?;
        if address.is_empty() {
            return Err(format!("registry response includes no {what}"));
        }
        if !["http", "https"].contains(&url.scheme()) {
            return Err(format!("registry response includes invalid {what}: must use http or https scheme"));
        }
        Ok(url)
    }

    pub(super) fn digest(&self) -> Result<[u8; 32], String> {
        parse_digest(&self.shasum)
            .ok_or_else(|| format!("registry response includes invalid SHA256 hash {:?}", self.shasum))
    }

    pub(super) fn keys(&self) -> Vec<String> {
        self.signing_keys.gpg_public_keys.iter().map(|key| key.ascii_armor.clone()).collect()
    }

    pub(super) fn packages(&self) -> Result<BTreeMap<Platform, RegistryPackage>, String> {
        let mut packages = BTreeMap::new();
        for (platform, answer) in &self.packages {
            let platform: Platform = platform.parse().map_err(|error| {
                format!("registry response includes invalid package platform {platform:?}: {error}")
            })?;
            let hash = |text: &String| {
                Hash::parse(text)
                    .map_err(|error| format!("registry response includes invalid package hash {text:?}: {error}"))
            };
            let hashes = answer.hashes.iter().map(hash).collect::<Result<Vec<_>, _>>()?;
            packages.insert(platform, RegistryPackage { hashes, size: answer.package_size });
        }
        Ok(packages)
    }
}

fn parse_version(what: &str, text: &str) -> Result<Version, String> {
    Version::parse_release(text)
        .map_err(|error| format!("registry response includes invalid {what} string {text:?}: {error}"))
}
