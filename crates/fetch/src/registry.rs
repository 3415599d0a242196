//! Registry protocols. The one for providers lives with the installation of providers.

pub mod modules;
