//! Every environment variable that people know from Terraform and OpenTofu, and what groma makes of it. Nothing that somebody set
//! on purpose is passed over in silence.

use std::collections::BTreeMap;

use groma_model::diag::{Diagnostic, Diagnostics};

/// What groma makes of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// It does what it is known for.
    Works,
    /// It changes nothing, and there is nothing to say about that: why.
    NothingToDo(&'static str),
    /// It changes nothing, which is said: why.
    Ignored(&'static str),
    /// Results would be other than expected, so nothing is done: why.
    Refused(&'static str),
}

/// All of them, by name; `*` stands for the rest of a name.
pub(crate) const KNOWN: [(&str, Use); 37] = [
    ("NO_COLOR", Use::Works),
    (
        "OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION",
        Use::Ignored("The two public registries are the same to groma."),
    ),
    ("OTEL_TRACES_EXPORTER", Use::NothingToDo("groma sends no traces.")),
    ("TF_ACC", Use::NothingToDo("It is for the tests of providers, which get it.")),
    ("TF_APPEND_USER_AGENT", Use::Works),
    ("TF_CLI_ARGS", Use::Works),
    ("TF_CLI_ARGS_*", Use::Works),
    ("TF_CLI_CONFIG_FILE", Use::Works),
    ("TF_CLOUD_HOSTNAME", Use::NothingToDo("It completes a cloud block, which is refused.")),
    ("TF_CLOUD_ORGANIZATION", Use::NothingToDo("It completes a cloud block, which is refused.")),
    ("TF_CLOUD_PROJECT", Use::NothingToDo("It completes a cloud block, which is refused.")),
    ("TF_DATA_DIR", Use::Works),
    ("TF_DISABLE_PLUGIN_TLS", Use::NothingToDo("There is no TLS unless GROMA_PLUGIN_TLS is set.")),
    ("TF_ENCRYPTION", Use::Works),
    ("TF_FORCE_LOCAL_BACKEND", Use::NothingToDo("It is for remote operations, and all operations are local.")),
    ("TF_IGNORE", Use::Ignored("It is for remote operations, and all operations are local.")),
    ("TF_INPUT", Use::Works),
    ("TF_IN_AUTOMATION", Use::Works),
    ("TF_LOG", Use::Works),
    ("TF_LOG_CORE", Use::Works),
    ("TF_LOG_PATH", Use::Works),
    ("TF_LOG_PROVIDER", Use::Works),
    ("TF_PLUGIN_CACHE_DIR", Use::Works),
    ("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE", Use::Works),
    ("TF_PROVIDER_DOWNLOAD_RETRY", Use::Works),
    ("TF_REATTACH_PROVIDERS", Use::Works),
    ("TF_REGISTRY_CLIENT_TIMEOUT", Use::Works),
    ("TF_REGISTRY_DISCOVERY_RETRY", Use::Works),
    ("TF_STATE_PERSIST_INTERVAL", Use::Works),
    ("TF_TEMPLATE_RECURSION_DEPTH", Use::Works),
    ("TF_TOKEN_*", Use::Works),
    ("TF_VAR_*", Use::Works),
    ("TF_WARN_OUTPUT_ERRORS", Use::Refused("Errors in outputs are errors.")),
    ("TF_WORKSPACE", Use::Works),
    ("TOFU_CPU_PROFILE", Use::Ignored("groma writes no profiles.")),
    ("TOFU_EXPERIMENTAL_CLI_ENABLED", Use::Ignored("There is nothing like that here.")),
    ("TOFU_X_EXPERIMENTAL_RUNTIME", Use::Ignored("There is nothing like that here.")),
];

/// States are stored at least this often in any case, in seconds.
const LONGEST_INTERVAL: u64 = 20;

/// What there is to say about the environment.
pub(super) fn problems(all: &BTreeMap<String, String>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for (name, of) in KNOWN {
        if all.get(name).is_none_or(String::is_empty) {
            continue;
        }
        match of {
            Use::Works | Use::NothingToDo(_) => {}
            Use::Ignored(why) => {
                let detail = format!("{why} Unset {name} to be rid of this warning.");
                diagnostics.push(Diagnostic::warning(format!("{name} has no effect"), detail));
            }
            Use::Refused(why) => {
                let detail = format!("{why} Unset {name} to go on without it.");
                diagnostics.push(Diagnostic::error(format!("{name} is not supported"), detail));
            }
        }
    }
    diagnostics.extend(all.get("TF_STATE_PERSIST_INTERVAL").and_then(|text| interval(text)));
    diagnostics.extend(all.get("TF_TEMPLATE_RECURSION_DEPTH").and_then(|text| depth(text)));
    diagnostics
}

/// A number that is no interval is a mistake; what it may be is always kept.
fn interval(text: &str) -> Option<Diagnostic> {
    if text.parse().is_ok_and(|seconds: u64| seconds >= LONGEST_INTERVAL) {
        return None;
    }
    let detail = format!(
        "TF_STATE_PERSIST_INTERVAL is the number of seconds after which the state is stored while it changes, at least \
         {LONGEST_INTERVAL}, not {text:?}."
    );
    Some(Diagnostic::error("Invalid TF_STATE_PERSIST_INTERVAL", detail))
}

fn depth(text: &str) -> Option<Diagnostic> {
    if text.is_empty() || text.parse::<usize>().is_ok() {
        return None;
    }
    let detail = format!("TF_TEMPLATE_RECURSION_DEPTH is how deep templates may call each other, not {text:?}.");
    Some(Diagnostic::error("Invalid TF_TEMPLATE_RECURSION_DEPTH", detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pairs: &[(&str, &str)]) -> Vec<String> {
        let all = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        problems(&all).iter().map(|found| found.summary.clone()).collect()
    }

    #[test]
    fn what_is_set_is_never_passed_over() {
        assert_eq!(found(&[("TF_WARN_OUTPUT_ERRORS", "1")]), ["TF_WARN_OUTPUT_ERRORS is not supported"]);
        assert_eq!(found(&[("TOFU_CPU_PROFILE", "x")]), ["TOFU_CPU_PROFILE has no effect"]);
        assert_eq!(found(&[("TF_WARN_OUTPUT_ERRORS", ""), ("TF_LOG", "trace")]), Vec::<String>::new());
    }

    #[test]
    fn all_of_them_are_documented() {
        let page = include_str!("../../../../docs/book/src/settings.md");
        for (name, _) in KNOWN {
            assert!(page.contains(name.trim_end_matches('*')), "{name} is not on the page about settings");
        }
    }

    #[test]
    fn intervals_are_numbers_of_seconds() {
        for wrong in ["", "x", "1", "19", "-20"] {
            assert_eq!(
                found(&[("TF_STATE_PERSIST_INTERVAL", wrong)]),
                ["Invalid TF_STATE_PERSIST_INTERVAL"],
                "{wrong}"
            );
        }
        assert!(found(&[("TF_STATE_PERSIST_INTERVAL", "20")]).is_empty());
    }
}
