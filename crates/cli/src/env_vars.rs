//! Every environment variable that groma reads, in one place. What becomes of those that it does not is in `known`.

mod known;

use std::collections::BTreeMap;
use std::path::PathBuf;

use groma_model::diag::Diagnostics;
use groma_run::providers::BuiltInUse;

/// What the environment says.
#[derive(Debug, Clone, Default)]
pub(crate) struct EnvVars {
    /// `NO_COLOR`: set and not empty turns colours off.
    pub(crate) no_color: bool,
    /// `LC_ALL`, `LC_CTYPE`, `LANG`: whether more than plain letters can be shown.
    pub(crate) shows_unicode: bool,
    /// `TERM`: a terminal that can do nothing but write.
    pub(crate) dumb_terminal: bool,
    /// `TF_DATA_DIR`: where the working data is instead of `.terraform`.
    pub(crate) data_dir: Option<PathBuf>,
    /// `TF_WORKSPACE`: the workspace, instead of the selected one.
    pub(crate) workspace: Option<String>,
    /// `TF_TEMPLATE_RECURSION_DEPTH`: how deep `templatefile` may call itself.
    pub(crate) template_recursion_limit: Option<usize>,
    /// `TF_VAR_name`: values of variables.
    pub(crate) variables: BTreeMap<String, String>,
    /// `TF_CLI_ARGS`: arguments put behind every command.
    pub(crate) cli_args: Option<String>,
    /// `TF_CLI_ARGS_command`: arguments put behind one command.
    pub(crate) cli_args_of: BTreeMap<String, String>,
    /// `HOME`: where `~` leads, and where the console keeps its history.
    pub(crate) home: Option<PathBuf>,
    /// `XDG_STATE_HOME`: where the console keeps its history, if set.
    pub(crate) state_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`: where the CLI configuration may be.
    pub(crate) config_home: Option<PathBuf>,
    /// `XDG_DATA_HOME`: where providers of the user may be.
    pub(crate) data_home: Option<PathBuf>,
    /// `XDG_CACHE_HOME`: where schemas of providers are kept.
    pub(crate) cache_home: Option<PathBuf>,
    /// `TF_INPUT`: whether values that are missing are asked for.
    pub(crate) input: bool,
    /// `TF_IN_AUTOMATION`: nobody needs to be told what to do next.
    pub(crate) in_automation: bool,
    /// `TF_REATTACH_PROVIDERS`: providers that run already.
    pub(crate) reattach: Option<String>,
    /// `GROMA_BUILTIN`: `always` uses the providers inside groma even if others are locked, `never` does not use those that
    /// are published as well.
    pub(crate) built_in_use: BuiltInUse,
    /// `GROMA_ENGINE_BINARY`: where the program of another engine is.
    pub(crate) engine_binary: Option<PathBuf>,
    /// `TF_LOG`, `TF_LOG_CORE`, `TF_LOG_PROVIDER`, `TF_LOG_PATH`.
    pub(crate) log: LogVars,
    /// All variables that are text: tokens are named after hosts, paths may refer to any, plugins get them all.
    pub(crate) all: BTreeMap<String, String>,
}

/// What is logged, and where to.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogVars {
    /// `TF_LOG`: a level for everything.
    pub(crate) all: Option<String>,
    /// `TF_LOG_CORE`: a level for groma itself.
    pub(crate) core: Option<String>,
    /// `TF_LOG_PROVIDER`: a level for providers.
    pub(crate) provider: Option<String>,
    /// `TF_LOG_PATH`: a file to append to, instead of standard error.
    pub(crate) path: Option<PathBuf>,
}

impl EnvVars {
    /// Reads them all.
    pub(crate) fn read() -> Self {
        let variables = std::env::vars_os();
        let text = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self::from_pairs(text)
    }

    /// What there is to say about variables that do not do what they are known for.
    pub(crate) fn problems(&self) -> Diagnostics {
        known::problems(&self.all)
    }

    fn from_pairs(pairs: impl Iterator<Item = (String, String)>) -> Self {
        let mut found = Self { input: true, ..Self::default() };
        for (name, value) in pairs {
            found.all.insert(name.clone(), value.clone());
            match name.as_str() {
                "NO_COLOR" => found.no_color = !value.is_empty(),
                "TF_DATA_DIR" if !value.is_empty() => found.data_dir = Some(value.into()),
                "TF_WORKSPACE" if !value.is_empty() => found.workspace = Some(value),
                "TF_TEMPLATE_RECURSION_DEPTH" => found.template_recursion_limit = value.parse().ok(),
                "TF_CLI_ARGS" => found.cli_args = Some(value),
                "HOME" => found.home = Some(value.into()),
                "XDG_STATE_HOME" if !value.is_empty() => found.state_home = Some(value.into()),
                "XDG_CONFIG_HOME" if !value.is_empty() => found.config_home = Some(value.into()),
                "XDG_DATA_HOME" if !value.is_empty() => found.data_home = Some(value.into()),
                "XDG_CACHE_HOME" if !value.is_empty() => found.cache_home = Some(value.into()),
                "TF_INPUT" => found.input = crate::commands::go_bool(&value).unwrap_or(true),
                "TF_IN_AUTOMATION" => found.in_automation = !value.is_empty(),
                "TF_REATTACH_PROVIDERS" if !value.is_empty() => found.reattach = Some(value),
                "GROMA_BUILTIN" => found.built_in_use = built_in_use(&value),
                "GROMA_ENGINE_BINARY" if !value.is_empty() => found.engine_binary = Some(value.into()),
                "TF_LOG" if !value.is_empty() => found.log.all = Some(value),
                "TF_LOG_CORE" if !value.is_empty() => found.log.core = Some(value),
                "TF_LOG_PROVIDER" if !value.is_empty() => found.log.provider = Some(value),
                "TF_LOG_PATH" if !value.is_empty() => found.log.path = Some(value.into()),
                _ => found.add_prefixed(&name, value),
            }
        }
        found.shows_unicode = shows_unicode(&found.all);
        found.dumb_terminal = found.all.get("TERM").is_some_and(|terminal| terminal == "dumb");
        found
    }

    fn add_prefixed(&mut self, name: &str, value: String) {
        if let Some(variable) = name.strip_prefix("TF_VAR_") {
            self.variables.insert(variable.to_owned(), value);
        } else if let Some(command) = name.strip_prefix("TF_CLI_ARGS_") {
            self.cli_args_of.insert(command.to_owned(), value);
        }
    }
}

/// Whether the locale is one of UTF-8. The first variable that is set counts; if none is, the locale is the plain one.
fn shows_unicode(all: &BTreeMap<String, String>) -> bool {
    if cfg!(windows) {
        return true;
    }
    let set = |name: &&str| all.get(*name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set);
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

fn built_in_use(text: &str) -> BuiltInUse {
    match text {
        "always" => BuiltInUse::Always,
        "never" => BuiltInUse::Never,
        _ => BuiltInUse::UnlessLocked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_told_apart_by_prefix() {
        let pairs = [("TF_VAR_a", "1"), ("TF_CLI_ARGS_fmt", "-check"), ("NO_COLOR", ""), ("TF_WORKSPACE", "w")];
        let found = EnvVars::from_pairs(pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(found.variables["a"], "1");
        assert_eq!(found.cli_args_of["fmt"], "-check");
        assert!(!found.no_color);
        assert_eq!(found.workspace.as_deref(), Some("w"));
    }

    #[cfg(unix)]
    #[test]
    fn the_first_variable_says_what_the_locale_is() {
        let shows = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            EnvVars::from_pairs(pairs).shows_unicode
        };
        assert!(shows(&[("LANG", "de_DE.UTF-8")]) && shows(&[("LC_ALL", "C.utf8"), ("LANG", "C")]));
        assert!(shows(&[("LC_ALL", ""), ("LC_CTYPE", "en_GB.UTF-8")]));
        assert!(!shows(&[]) && !shows(&[("LC_ALL", "POSIX"), ("LANG", "en_GB.UTF-8")]));
    }
}
