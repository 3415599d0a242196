//! Which providers are part of the program, and when these are used instead of installed ones.

use groma_model::address::Provider;
use groma_model::version::Version;

/// A provider that runs inside the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuiltIn {
    /// It has no versions of its own, like `terraform.io/builtin/terraform`.
    Unversioned,
    /// It exists only here, in this version.
    Own(Version),
    /// It does what a published version of this provider does, which could be installed as well.
    Mirrors(Version),
}

/// Knows which providers run inside the program.
pub trait Builtins: Send + Sync {
    /// What this provider is, if it is one of them.
    fn find(&self, provider: &Provider) -> Option<BuiltIn>;
}

/// There are none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBuiltins;

impl Builtins for NoBuiltins {
    fn find(&self, _provider: &Provider) -> Option<BuiltIn> {
        None
    }
}

/// When a provider that could be installed as well is taken from the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BuiltInUse {
    /// Unless the lock file has an entry for it.
    #[default]
    UnlessLocked,
    /// Always; an entry in the lock file is dropped.
    Always,
    /// Never.
    Never,
}
