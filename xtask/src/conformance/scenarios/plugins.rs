//! How the programs find the same plugins: CLI configurations with development overrides, so that nothing is installed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::conformance::scratch;
use crate::peers;

/// The fixtures: always plugins.
const FIXTURES: [(&str, &str); 2] = [("groma/fixfw", "fixture-framework"), ("groma/fixsdk", "fixture-sdk")];

/// The plugins that groma has twins of.
const PUBLISHED: [(&str, &str); 6] = [
    ("hashicorp/external", "provider-external"),
    ("hashicorp/local", "provider-local-current"),
    ("hashicorp/null", "provider-null"),
    ("hashicorp/random", "provider-random-current"),
    ("hashicorp/time", "provider-time"),
    ("hashicorp/tls", "provider-tls-current"),
];

/// CLI configurations.
pub(super) struct Plugins {
    /// With every plugin.
    pub(super) all: PathBuf,
    /// With the fixtures only.
    pub(super) fixtures: PathBuf,
    /// Which programs these are: their paths carry versions or hashes.
    pub(super) identity: String,
}

impl Plugins {
    /// Finds the plugins, builds them if needed, and writes the configurations.
    pub(super) fn find() -> Result<Self> {
        let dir = scratch::empty("scenarios", "settings", "plugins")?;
        let mut overrides = String::new();
        let mut identity = String::new();
        let mut written = Vec::new();
        for (address, peer) in FIXTURES.into_iter().chain(PUBLISHED) {
            if address == PUBLISHED[0].0 {
                written.push(write(&dir, "fixtures.tfrc", &overrides)?);
            }
            let program = peers::find(peer)?;
            let name = address.rsplit('/').next().unwrap_or(address);
            let place = dir.join(name);
            std::fs::create_dir_all(&place)?;
            std::os::unix::fs::symlink(&program, place.join(format!("terraform-provider-{name}")))
                .with_context(|| format!("cannot link {}", program.display()))?;
            writeln!(overrides, "    {address:?} = {:?}", place.display().to_string())?;
            let version = program.parent().and_then(Path::file_name).unwrap_or_default();
            writeln!(identity, "{address} {}", version.to_string_lossy())?;
        }
        let all = write(&dir, "all.tfrc", &overrides)?;
        let fixtures = written.pop().context("the fixtures come first")?;
        Ok(Self { all, fixtures, identity })
    }
}

fn write(dir: &Path, name: &str, overrides: &str) -> Result<PathBuf> {
    let path = dir.join(name);
    let text = format!("provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n  direct {{}}\n}}\n");
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
