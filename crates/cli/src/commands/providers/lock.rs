//! `groma providers lock`: hashes for several platforms in the lock file, without installing anything.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use groma_model::address::Provider;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::providers::requirements;
use groma_run::providers::{AuthenticationResult, Event, LockChange, Mirror, Observer, Platform, Requirements, Trust};
use groma_run::session::Session;

use crate::announce::Announcer;
use crate::commands::Context;
use crate::commands::shared::{JsonArgs, VariableArgs, ViewArgs, announcer, online, session};
use crate::failure::Failure;

/// Write hashes of providers for other platforms to the lock file.
///
/// Without addresses, all providers of the configuration are locked, also those that are part of groma; what is locked
/// is installed from then on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which providers; all if none is named.
    #[arg(value_name = "ADDRESS")]
    providers: Vec<String>,

    /// For which platform, e.g. linux_amd64. Can be given several times.
    #[arg(long, value_name = "OS_ARCH")]
    platform: Vec<String>,

    /// Take packages from this directory instead of the registries.
    #[arg(long, value_name = "DIR", conflicts_with = "net_mirror")]
    fs_mirror: Option<PathBuf>,

    /// Take packages from this server instead of the registries.
    #[arg(long, value_name = "URL")]
    net_mirror: Option<String>,

    /// Take packages from this OCI repository. Refused: not supported yet.
    #[arg(long, value_name = "TEMPLATE", hide = true)]
    oci_mirror: Option<String>,

    #[command(flatten)]
    json: JsonArgs,

    #[command(flatten)]
    variables: VariableArgs,

    #[command(flatten)]
    view: ViewArgs,
}

/// The platforms that were named; the one that we run on if there are none.
pub(super) fn platforms(given: &[String], diagnostics: &mut Diagnostics) -> Vec<Platform> {
    if given.is_empty() {
        return vec![Platform::current()];
    }
    let mut platforms = Vec::new();
    for text in given {
        match text.parse() {
            Ok(platform) => platforms.push(platform),
            Err(problem) => {
                let detail = format!(
                    "The string {text:?} given in the -platform option is not a valid target platform: {problem}."
                );
                diagnostics.push(Diagnostic::error("Invalid target platform", detail));
            }
        }
    }
    platforms
}

/// What the configuration needs.
pub(super) fn needed(session: &mut Session, diagnostics: &mut Diagnostics) -> Requirements {
    let loaded = session.load();
    diagnostics.extend(loaded.diagnostics);
    let Some(tree) = loaded.tree else { return Requirements::new() };
    let (needed, problems) = requirements::of_tree(&tree);
    diagnostics.extend(problems);
    needed.all
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    if args.oci_mirror.is_some() {
        return Err(Failure::Usage("-oci-mirror is not supported yet; use -fs-mirror or -net-mirror".to_owned()));
    }
    let announcer = announcer(context, &args.view, &args.json)?;
    let mut session = session(context, PathBuf::from("."), args.variables);
    let Some(online) = online(context, &announcer, &session)? else { return Ok(ExitCode::FAILURE) };
    let mut diagnostics = Diagnostics::new();
    let platforms = platforms(&args.platform, &mut diagnostics);
    let mirror = match (args.fs_mirror, args.net_mirror) {
        (Some(dir), _) => Mirror::Directories(vec![dir]),
        (None, Some(url)) => Mirror::Network(url),
        (None, None) => Mirror::Registries,
    };
    let mut needed = needed(&mut session, &mut diagnostics);
    choose(&mut needed, &args.providers, &mut diagnostics);
    if !diagnostics.has_errors() {
        let lines = Arc::clone(&announcer);
        let observer =
            move |platform: &Platform| Arc::new(Lines(Arc::clone(&lines), platform.clone())) as Arc<dyn Observer>;
        match session.lock_providers(&online, &needed, &platforms, (&mirror, &observer)) {
            Ok((changes, warnings)) => {
                diagnostics.extend(warnings);
                let mut changed = false;
                for change in &changes {
                    changed |= change.change != LockChange::None;
                    tell(&announcer, &change.provider, &change.platform, change.change)?;
                }
                conclude(&announcer, changed)?;
            }
            Err(problems) => diagnostics.extend(problems),
        }
    }
    announcer.diagnostics(&diagnostics, session.sources())?;
    Ok(if diagnostics.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Keeps the providers that were named.
fn choose(needed: &mut Requirements, given: &[String], diagnostics: &mut Diagnostics) {
    if given.is_empty() {
        return;
    }
    let mut chosen = Requirements::new();
    for text in given {
        match Provider::parse_source(text) {
            Err(problem) => diagnostics.push(Diagnostic::error(problem.summary, problem.detail)),
            Ok(provider) => {
                if let Some(constraints) = needed.get(&provider) {
                    chosen.insert(provider, constraints.clone());
                } else {
                    let detail = format!("The provider {provider} is not required by the current configuration.");
                    diagnostics.push(Diagnostic::error("Invalid provider argument", detail));
                }
            }
        }
    }
    *needed = chosen;
}

fn tell(announcer: &Announcer, provider: &Provider, platform: &Platform, change: LockChange) -> Result<(), Failure> {
    let what = match change {
        LockChange::NewProvider => {
            "This was a new provider and the checksums for this platform are now tracked in the lock file"
        }
        LockChange::NewHashes => "Additional checksums for this platform are now tracked in the lock file",
        LockChange::None => "All checksums for this platform were already tracked in the lock file",
    };
    announcer.say(&format!("- Obtained {} checksums for {platform}; {what}", provider.for_display()))
}

fn conclude(announcer: &Announcer, changed: bool) -> Result<(), Failure> {
    let (good, rest) = if changed {
        (
            "Success! groma has updated the lock file.",
            "\n\nReview the changes in .terraform.lock.hcl and then commit to your\nversion control system to retain the new checksums.\n",
        )
    } else {
        ("Success! groma has validated the lock file and found no need for changes.", "")
    };
    let plain = format!("{good}{}", rest.replace('\n', " ")).trim_end().replace("  ", " ");
    announcer.say_both(&format!("\n{}{rest}", announcer.ui().good(good)), &plain)
}

/// What is fetched for a platform.
struct Lines(Arc<Announcer>, Platform);

impl Observer for Lines {
    fn observe(&self, event: Event) {
        let platform = &self.1;
        let line = match &event {
            Event::FetchBegin { provider, version, .. } => {
                format!("- Fetching {} {version} for {platform}...", provider.for_display())
            }
            Event::FetchSuccess { provider, version, authentication, .. } => {
                let trust = authentication.as_ref().map_or(Trust::Unauthenticated, AuthenticationResult::trust);
                let keys = match &trust {
                    Trust::Signed(keys) => format!(", key ID {}", keys.join(", ")),
                    _ => String::new(),
                };
                format!("- Retrieved {} {version} for {platform} ({trust}{keys})", provider.for_display())
            }
            _ => return,
        };
        // That nobody listens is found when the end is told.
        let _ = self.0.say(&line);
    }
}
