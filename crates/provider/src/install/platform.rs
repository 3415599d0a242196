//! Platforms: an operating system and an architecture, in Go's words.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// What a package runs on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    /// The operating system, such as `linux`.
    pub os: String,
    /// The architecture, such as `amd64`.
    pub arch: String,
}

/// Why a text is no platform.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlatformError {
    /// Not two words.
    #[error("must be two words separated by an underscore")]
    Words,
    /// A word that is none.
    #[error("{0} portion must contain only letters and digits")]
    Word(&'static str),
}

impl Platform {
    /// The one that this program was built for.
    pub fn current() -> Self {
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "x86" => "386",
            "aarch64" => "arm64",
            "powerpc64" if cfg!(target_endian = "little") => "ppc64le",
            other => other,
        };
        Self { os: os.to_owned(), arch: arch.to_owned() }
    }
}

impl FromStr for Platform {
    type Err = PlatformError;

    fn from_str(text: &str) -> Result<Self, PlatformError> {
        let (os, arch) = text.split_once('_').ok_or(PlatformError::Words)?;
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if arch.contains('_') {
            return Err(PlatformError::Words);
        }
        if !is_word(os) {
            return Err(PlatformError::Word("OS"));
        }
        if !is_word(arch) {
            return Err(PlatformError::Word("architecture"));
        }
        Ok(Self { os: os.to_owned(), arch: arch.to_owned() })
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.os, self.arch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_two_words() {
        let linux: Platform = "linux_amd64".parse().unwrap();
        assert_eq!((linux.os.as_str(), linux.arch.as_str()), ("linux", "amd64"));
        assert_eq!(linux.to_string(), "linux_amd64");
        for bad in ["", "linux", "linux_", "_amd64", "linux_amd64_x", "../x_y", "linux_a/b"] {
            assert!(bad.parse::<Platform>().is_err(), "{bad}");
        }
        assert_eq!(Platform::current().to_string().parse(), Ok(Platform::current()));
    }
}
