//! The CLI configuration: files in the user's home and environment variables that say where providers and modules come
//! from, and who we are there. What a configuration of infrastructure says is elsewhere.

mod decode;
mod hcl1;
mod installation;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use groma_fetch::credentials::{Token, tokens_from_variables};
use groma_fetch::host::Host;
use groma_model::diag::{Diagnostic, Diagnostics};

use decode::FileConfig;
pub use installation::{Location, Method, ProviderInstallation};

/// What the environment says about it. The caller reads it.
#[derive(Debug, Clone, Default)]
pub struct CliEnvironment {
    /// Where we are; relative paths of the environment start here.
    pub working_dir: PathBuf,
    /// `HOME`
    pub home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`
    pub config_home: Option<PathBuf>,
    /// `XDG_DATA_HOME`
    pub data_home: Option<PathBuf>,
    /// All variables, for those named by hosts and those that paths refer to.
    pub variables: BTreeMap<String, String>,
}

impl CliEnvironment {
    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.variable(name)?.parse().ok().filter(|number| *number > 0)
    }
}

/// All settings.
#[derive(Debug, Clone)]
pub struct CliConfig {
    /// Where unpacked providers are shared between working directories.
    pub plugin_cache_dir: Option<PathBuf>,
    /// Whether a cached provider may be used that the lock file knows no hash of.
    pub may_break_lock_file: bool,
    /// Services of hosts that are not asked for them.
    pub hosts: BTreeMap<Host, serde_json::Map<String, serde_json::Value>>,
    /// The file that tokens are kept in by whoever logs in; there may be none yet.
    pub credentials_file: Option<PathBuf>,
    /// Tokens that are written down in files.
    pub credentials: BTreeMap<Host, Token>,
    /// Tokens from `TF_TOKEN_…`. They come first.
    pub environment_credentials: BTreeMap<Host, Token>,
    /// A program that knows tokens.
    pub credentials_helper: Option<CredentialsHelper>,
    /// How many times a question to a registry is asked again.
    pub retries: u32,
    /// How many times a download of a provider is tried again.
    pub download_retries: u32,
    /// How long a registry may take to answer.
    pub request_timeout: Duration,
    /// Where providers come from. None means: where they usually do.
    pub installation: Option<ProviderInstallation>,
    /// Directories where programs and providers of the user may be, most important first.
    pub data_dirs: Vec<PathBuf>,
}

impl Default for CliConfig {
    fn default() -> Self {
        Self {
            plugin_cache_dir: None,
            may_break_lock_file: false,
            hosts: BTreeMap::new(),
            credentials_file: None,
            credentials: BTreeMap::new(),
            environment_credentials: BTreeMap::new(),
            credentials_helper: None,
            retries: 1,
            download_retries: 2,
            request_timeout: Duration::from_secs(10),
            installation: None,
            data_dirs: Vec::new(),
        }
    }
}

/// A program that knows tokens: `terraform-credentials-NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialsHelper {
    /// Its name.
    pub name: String,
    /// Arguments before those that say what is wanted.
    pub args: Vec<String>,
}

/// Reads everything.
pub fn load(environment: &CliEnvironment) -> (CliConfig, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut files = Vec::new();
    for path in files_to_read(environment, &mut diagnostics) {
        let name = path.display().to_string();
        match fs::read(&path) {
            Ok(bytes) => {
                let (found, problems) = decode::decode(&name, &String::from_utf8_lossy(&bytes));
                diagnostics.extend(problems);
                files.push(found);
            }
            Err(problem) => {
                let detail = format!("Error reading {name}: {problem}.");
                diagnostics.push(Diagnostic::error("Invalid CLI configuration", detail));
            }
        }
    }
    let config = merge(environment, files, &mut diagnostics);
    (config, diagnostics)
}

/// The main file, then those of the configuration directory by name. A file that the environment names stands alone.
fn files_to_read(environment: &CliEnvironment, diagnostics: &mut Diagnostics) -> Vec<PathBuf> {
    let given = environment.variable("TF_CLI_CONFIG_FILE").or_else(|| environment.variable("TERRAFORM_CONFIG"));
    if let Some(given) = given {
        let path = environment.working_dir.join(given);
        if path.exists() {
            return vec![path];
        }
        let detail = format!("The CLI configuration file at {given:?} does not exist.");
        diagnostics.push(Diagnostic::warning("Unable to open CLI configuration file", detail));
        return Vec::new();
    }
    let mut files: Vec<PathBuf> = main_file(environment).filter(|path| path.exists()).into_iter().collect();
    if let Some(dir) = config_dir(environment) {
        files.extend(config_files(&dir));
    }
    files
}

fn main_file(environment: &CliEnvironment) -> Option<PathBuf> {
    let home = environment.home.as_ref()?;
    let (own, legacy) = (home.join(".tofurc"), home.join(".terraformrc"));
    if own.exists() {
        return Some(own);
    }
    match &environment.config_home {
        Some(dir) if !legacy.exists() => Some(dir.join("opentofu").join("tofurc")),
        _ => Some(legacy),
    }
}

/// Where the user's configuration files and tokens are.
fn config_dir(environment: &CliEnvironment) -> Option<PathBuf> {
    let dir = environment.home.as_ref()?.join(".terraform.d");
    match &environment.config_home {
        Some(config_home) if !dir.exists() => Some(config_home.join("opentofu")),
        _ => Some(dir),
    }
}

fn config_files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let is_config = |name: &str| [".tfrc", ".tfrc.json"].iter().any(|ending| name.ends_with(ending));
    let mut files: Vec<PathBuf> =
        entries.filter(|entry| entry.file_name().to_str().is_some_and(is_config)).map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// For single settings the first file wins, for hosts the last one; the environment wins over all.
fn merge(environment: &CliEnvironment, files: Vec<FileConfig>, diagnostics: &mut Diagnostics) -> CliConfig {
    let credentials_file = config_dir(environment).map(|dir| dir.join("credentials.tfrc.json"));
    let mut config = CliConfig { data_dirs: data_dirs(environment), credentials_file, ..CliConfig::default() };
    let mut cache_dir = environment.variable("TF_PLUGIN_CACHE_DIR").map(str::to_owned);
    let mut retries = environment.number("TF_REGISTRY_DISCOVERY_RETRY");
    let mut timeout = environment.number("TF_REGISTRY_CLIENT_TIMEOUT");
    let may_break = environment.variable("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE");
    config.may_break_lock_file = may_break.is_some_and(|value| value != "0");
    let mut helpers: BTreeMap<String, CredentialsHelper> = BTreeMap::new();
    let mut installations = Vec::new();
    for file in files {
        let expand = |dir: String| expand_variables(&dir, &environment.variables);
        cache_dir = cache_dir.or_else(|| file.plugin_cache_dir.filter(|dir| !dir.is_empty()).map(expand));
        config.may_break_lock_file |= file.may_break_lock_file;
        config.hosts.extend(file.hosts);
        config.credentials.extend(file.credentials);
        helpers.extend(file.helpers.into_iter().map(|helper| (helper.name.clone(), helper)));
        retries = retries.or(file.retries);
        timeout = timeout.or(file.timeout_seconds);
        installations.extend(file.installations);
    }
    for (count, name) in [(helpers.len(), "credentials_helper"), (installations.len(), "provider_installation")] {
        if count > 1 {
            let detail = format!("No more than one {name} block may be specified.");
            diagnostics.push(Diagnostic::error("Invalid CLI configuration", detail));
        }
    }
    config.credentials_helper = helpers.into_values().next();
    config.installation = installations.into_iter().next();
    config.environment_credentials = tokens_from_variables(&environment.variables);
    config.retries = retries.unwrap_or(config.retries);
    config.request_timeout = timeout.map_or(config.request_timeout, |seconds| Duration::from_secs(seconds.into()));
    config.download_retries = environment.number("TF_PROVIDER_DOWNLOAD_RETRY").unwrap_or(config.download_retries);
    config.plugin_cache_dir = cache_dir.map(|dir| environment.working_dir.join(dir));
    if let Some(dir) = &config.plugin_cache_dir {
        diagnostics.extend(check_cache_dir(dir).err());
    }
    config
}

fn check_cache_dir(dir: &Path) -> Result<(), Diagnostic> {
    let problem = match fs::metadata(dir) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => io::Error::from(io::ErrorKind::NotADirectory),
        Err(problem) => problem,
    };
    let detail = format!("The specified plugin cache dir {} cannot be opened: {problem}.", dir.display());
    Err(Diagnostic::error("Invalid CLI configuration", detail))
}

fn data_dirs(environment: &CliEnvironment) -> Vec<PathBuf> {
    let home = environment.home.iter().map(|home| home.join(".terraform.d"));
    home.chain(environment.data_home.iter().map(|dir| dir.join("opentofu"))).collect()
}

/// `$NAME` and `${NAME}` stand for variables, for nothing if these are not set.
fn expand_variables(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        expanded.push_str(before);
        let braced = behind.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, after) = braced.unwrap_or_else(|| {
            let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(behind.len());
            behind.split_at(end)
        });
        if name.is_empty() {
            expanded.push('$');
        }
        expanded.push_str(variables.get(name).map_or("", String::as_str));
        rest = after;
    }
    expanded.push_str(rest);
    expanded
}

#[cfg(test)]
mod tests;
