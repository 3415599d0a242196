//! Failures as people read them: summaries are the ones that OpenTofu prints.

use groma_model::address::{DEFAULT_HOST, Provider};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::version::{Constraints, Version};

use super::{Failure, InstallError, SourceError, Step};

impl InstallError {
    /// One diagnostic for each provider that failed, in the order of their addresses.
    pub fn diagnostics(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        match self {
            Self::Providers(failures) => {
                for (provider, (failure, constraints)) in failures {
                    diagnostics.push(failure.diagnostic(provider, constraints));
                }
            }
            Self::ReadOnly { missing, superfluous } => {
                let mut detail = "Changes to the required provider dependencies were detected, but the lock file is \
                                  read-only. To use and record these requirements, run \"groma init\" without the \
                                  \"-lockfile=readonly\" flag."
                    .to_owned();
                for (words, providers) in
                    [("required but not locked", missing), ("locked but not required", superfluous)]
                {
                    if !providers.is_empty() {
                        let names: Vec<String> = providers.iter().map(Provider::for_display).collect();
                        detail.extend(["\n\nThese are ", words, ": ", &names.join(", "), "."]);
                    }
                }
                diagnostics.push(Diagnostic::error("Provider dependency changes detected", detail));
            }
        }
        diagnostics
    }
}

impl Failure {
    /// The failure of a provider, for people. `constraints` is what the configuration says about it.
    pub fn diagnostic(&self, provider: &Provider, constraints: &Constraints) -> Diagnostic {
        let shown = provider.for_display();
        match self {
            Self::BuiltIn(reason) => {
                Diagnostic::error("Invalid dependency on built-in provider", format!("Cannot use {shown}: {reason}."))
            }
            Self::Query(error) => query_failed(provider, error),
            Self::NoMatch { newest, .. } if !newest.is_empty() => Diagnostic::error(
                "Failed to resolve provider packages",
                format!("Could not resolve provider {shown}: {self}\n\nThe newest versions are: {}.", join(newest)),
            ),
            Self::LockedVersion { .. } | Self::Unspecified | Self::Withdrawn(_) | Self::NoMatch { .. } => {
                Diagnostic::error(
                    "Failed to resolve provider packages",
                    format!("Could not resolve provider {shown}: {self}"),
                )
            }
            Self::Meta { version, error } => no_package(provider, version, constraints, error),
            Self::Package { version, step: Step::Link, error } => Diagnostic::error(
                "Failed to install provider from shared cache",
                format!("Error while importing {shown} v{version} from the shared cache directory: {error}."),
            ),
            Self::Package { version, error, .. } => Diagnostic::error(
                "Failed to install provider",
                format!("Error while installing {shown} v{version}: {error}"),
            ),
        }
    }
}

fn query_failed(provider: &Provider, error: &SourceError) -> Diagnostic {
    let shown = provider.for_display();
    let list = |more: String| {
        let detail = format!("Could not retrieve the list of available versions for provider {shown}: {error}{more}");
        Diagnostic::error("Failed to query available provider packages", detail)
    };
    match error {
        SourceError::NotFound { searched, .. } => {
            let places: Vec<String> = searched.iter().map(|place| format!("  - {place}")).collect();
            list(format!("\n\n{}", places.join("\n")))
        }
        SourceError::NotInRegistry(_) => {
            let mut more = format!(
                "\n\nAll modules should specify their required_providers so that external consumers will get the correct \
                 providers when using a module. To see which modules are currently depending on {shown}, run the \
                 following command:\n    groma providers"
            );
            if provider.host.as_str() == DEFAULT_HOST {
                more.push_str("\n\nIf you believe this provider is missing from the registry, tell those who run it.");
            }
            list(more)
        }
        SourceError::HostNoProviders { host, .. } if host == "github.com" => Diagnostic::error(
            "Invalid provider registry host",
            format!(
                "The given source address \"{provider}\" specifies a GitHub repository rather than a provider. Refer to \
                 the documentation of the provider to find the correct source address to use."
            ),
        ),
        SourceError::HostNoProviders { host, other_version } => {
            let more = if *other_version {
                " that is compatible with this version, but it may be compatible with another one."
            } else {
                "."
            };
            Diagnostic::error(
                "Invalid provider registry host",
                format!(
                    "The host \"{host}\" given in provider source address \"{provider}\" does not offer a provider \
                     registry{more}"
                ),
            )
        }
        _ => Diagnostic::error(
            "Failed to resolve provider packages",
            format!("Could not resolve provider {shown}: {error}"),
        ),
    }
}

fn no_package(provider: &Provider, version: &Version, constraints: &Constraints, error: &SourceError) -> Diagnostic {
    let summary = "Incompatible provider version";
    match error {
        SourceError::ProtocolNotSupported { compatible, .. } if compatible.is_empty() => {
            Diagnostic::error(summary, format!("No compatible versions of provider {provider} were found: {error}."))
        }
        SourceError::ProtocolNotSupported { compatible, .. } => {
            Diagnostic::error(summary, wrong_protocol(provider, version, constraints, compatible))
        }
        SourceError::PlatformNotSupported { platform, mirror, available, .. } => {
            let mut detail = match mirror {
                Some(mirror) => format!(
                    "Your chosen provider mirror at {mirror} does not have a {provider} v{version} package available for \
                     your current platform, {platform}.\n\nThe mirror may have only some of the packages that the origin \
                     registry, {}, has; or the provider does not support this platform.",
                    provider.host
                ),
                None => format!(
                    "Provider {provider} v{version} does not have a package available for your current platform, \
                     {platform}.\n\nProviders are released on their own, so not all are available for all platforms. \
                     Other versions of this provider may have different platforms supported."
                ),
            };
            if !available.is_empty() {
                let names: Vec<String> = available.iter().map(ToString::to_string).collect();
                detail.extend(["\n\nThere are packages for: ", &names.join(", "), "."]);
            }
            Diagnostic::error(summary, detail)
        }
        _ => Diagnostic::error(
            "Failed to install provider",
            format!("Error while installing {} v{version}: {error}", provider.for_display()),
        ),
    }
}

fn wrong_protocol(provider: &Provider, version: &Version, constraints: &Constraints, compatible: &[Version]) -> String {
    let shown = provider.for_display();
    let Some(closest) = compatible.first() else { return String::new() };
    let advice = if version.precedence(closest).is_gt() {
        format!("You need to downgrade to v{closest} or earlier.")
    } else {
        format!("Provider version {closest} is the latest compatible version.")
    };
    let asked = if constraints.is_empty() { "(any version)".to_owned() } else { constraints.canonical() };
    format!(
        "Provider \"{shown}\" v{version} is not compatible with this program: it speaks none of the plugin protocols 5 and \
         6.\n{advice} Select it with the following version constraint:\n\tversion = \"{closest}\"\n\nThe given constraint \
         is:\n\t{asked}\n\nCompatible versions, newest first: {}.",
        join(compatible)
    )
}

fn join(versions: &[Version]) -> String {
    const SHOWN: usize = 5;
    let mut names: Vec<String> = versions.iter().take(SHOWN).map(Version::to_string).collect();
    if versions.len() > SHOWN {
        names.push(format!("and {} more", versions.len() - SHOWN));
    }
    names.join(", ")
}
