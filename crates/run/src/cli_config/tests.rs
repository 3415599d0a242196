//! Files and variables, and what becomes of them.

use super::*;

struct Home(tempfile::TempDir);

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(dir)
    }

    fn environment(&self, variables: &[(&str, &str)]) -> CliEnvironment {
        CliEnvironment {
            working_dir: self.0.path().to_owned(),
            home: Some(self.0.path().to_owned()),
            variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..CliEnvironment::default()
        }
    }

    fn load(&self, variables: &[(&str, &str)]) -> (CliConfig, Vec<String>) {
        let (config, diagnostics) = load(&self.environment(variables));
        let base = format!("{}/", self.0.path().display());
        let shown = |found: &Diagnostic| format!("{}: {}", found.summary, found.detail).replace(&base, "");
        (config, diagnostics.iter().map(shown).collect())
    }
}

fn host(name: &str) -> Host {
    Host::parse(name).unwrap()
}

#[test]
fn all_settings_are_read() {
    let home = Home::new(&[
        (
            ".tofurc",
            r#"
plugin_cache_dir = "$HOME/cache"
plugin_cache_may_break_dependency_lock_file = true
disable_checkpoint = true
host "example.com" { services = { "providers.v1" = "http://127.0.0.1/p/" } }
credentials "example.com" { token = "t1" }
credentials_helper "thing" { args = ["--x"] }
registry_protocols {
  retry_count = 3
  request_timeout_seconds = 20
}
provider_installation {
  dev_overrides { "hashicorp/time" = "/opt/time" }
  filesystem_mirror {
    path    = "/mirror"
    include = ["example.com/*/*"]
  }
  network_mirror {
    url = "https://mirror.example.com/"
    trust_all_hashes = true
  }
  direct { exclude = ["a/b"] }
}
"#,
        ),
        (".terraform.d/credentials.tfrc.json", r#"{"credentials": {"other.example.com": {"token": "t2"}}}"#),
        ("cache/x", ""),
    ]);
    let root = home.0.path().to_str().unwrap().to_owned();
    let (config, problems) = home.load(&[("HOME", &root), ("TF_TOKEN_env_example_com", "t3")]);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(config.plugin_cache_dir.unwrap(), home.0.path().join("cache"));
    assert!(config.may_break_lock_file);
    assert_eq!(config.hosts[&host("example.com")]["providers.v1"], "http://127.0.0.1/p/");
    assert_eq!(config.credentials[&host("example.com")].reveal(), "t1");
    assert_eq!(config.credentials[&host("other.example.com")].reveal(), "t2");
    assert_eq!(config.environment_credentials[&host("env.example.com")].reveal(), "t3");
    assert_eq!(config.credentials_helper.unwrap().args, ["--x"]);
    assert_eq!((config.retries, config.request_timeout), (3, Duration::from_secs(20)));
    let installation = config.installation.unwrap();
    assert_eq!(installation.dev_overrides.len(), 1);
    assert_eq!(installation.methods.len(), 3);
    assert_eq!(installation.methods[0].location, Location::FilesystemMirror("/mirror".into()));
    assert!(installation.methods[1].trust_all_hashes);
    assert_eq!(installation.methods[2].exclude, ["a/b"]);
}

#[test]
fn the_environment_wins() {
    let home = Home::new(&[(".terraformrc", "plugin_cache_dir = \"nowhere\""), ("c/x", "")]);
    let (config, problems) = home.load(&[("TF_PLUGIN_CACHE_DIR", "c"), ("TF_REGISTRY_CLIENT_TIMEOUT", "7")]);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(config.plugin_cache_dir.unwrap(), home.0.path().join("c"));
    assert_eq!(config.request_timeout, Duration::from_secs(7));
}

#[test]
fn a_named_file_stands_alone() {
    let home = Home::new(&[
        (".tofurc", "nonsense = {{"),
        (".terraform.d/x.tfrc", "nonsense = {{"),
        ("given", "credentials \"a.b\" { token = \"x\" }"),
    ]);
    let (config, problems) = home.load(&[("TF_CLI_CONFIG_FILE", "given")]);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(config.credentials.len(), 1);
    let (_, problems) = home.load(&[("TF_CLI_CONFIG_FILE", "missing")]);
    assert_eq!(
        problems,
        ["Unable to open CLI configuration file: The CLI configuration file at \"missing\" does not exist."]
    );
}

#[test]
fn mistakes_are_told_with_their_place_and_never_show_secrets() {
    let home = Home::new(&[(
        ".tofurc",
        "plugin_cach_dir = \"x\"\nprovider_installation {\n  magic {}\n  filesystem_mirror {}\n  direct {}\n  dev_overrides {}\n}\n\
         credentials \"bad..host\" { token = \"hush\" }\nregistry_protocols {\n  retry_count = \"many\"\n}\n",
    )]);
    let (_, problems) = home.load(&[]);
    assert_eq!(
        problems,
        [
            "Unknown setting in the CLI configuration: In .tofurc at 1:1: the CLI configuration has no setting \"plugin_cach_dir\".",
            "Invalid provider_installation method block: In .tofurc at 3:3: unknown provider installation method \"magic\".",
            "Invalid provider_installation method block: In .tofurc at 4:3: filesystem_mirror needs the argument \"path\".",
            "Invalid provider_installation method block: In .tofurc at 6:3: dev_overrides must appear before all other installation methods, because development overrides always have the highest priority.",
            "Invalid CLI configuration: In .tofurc at 8:1: the credentials \"bad..host\" block has an invalid hostname: hostname contains empty label (two consecutive periods).",
            "Invalid CLI configuration: In .tofurc at 10:17: \"retry_count\" must be a whole number.",
        ]
    );
    let home = Home::new(&[(".tofurc", "credentials \"a.b\" {\n  token = \"hush\n}\n")]);
    let (_, problems) = home.load(&[]);
    assert_eq!(problems, ["Invalid CLI configuration: Error parsing .tofurc: at 2:11: the quotes are not closed."]);
}

#[test]
fn variables_in_paths() {
    let variables = BTreeMap::from([("A".to_owned(), "1".to_owned()), ("B_C".to_owned(), "2".to_owned())]);
    assert_eq!(expand_variables("$A/${B_C}/$B_C.x/$/$NONE/${open", &variables), "1/2/2.x/$//${open");
}
