//! Modules from a repository on this machine: what is fetched, recorded, used again, and told.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::process::Command;

use groma_fetch::progress::{Progress, Silent};
use groma_model::diag::Diagnostic;
use groma_model::version::Version;

use super::{InstallSettings, ModuleObserver};
use crate::cli_config::CliConfig;
use crate::online::Online;
use crate::session::{Session, Start};

/// A configuration, and a repository with a module in two versions.
struct Place(tempfile::TempDir);

#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl ModuleObserver for Told {
    fn downloading(&self, key: &str, package: &str, _: Option<&Version>) {
        let scheme = package.split("//").next().unwrap_or_default();
        self.0.borrow_mut().push(format!("fetch {key} from {scheme}"));
    }

    fn installed(&self, key: &str, dir: &Path) {
        self.0.borrow_mut().push(format!("{key} in {}", dir.display()));
    }

    fn progress(&self) -> &dyn Progress {
        &Silent
    }
}

impl Place {
    fn new(config: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let repository = place.path("repository");
        fs::create_dir_all(repository.join("part")).unwrap();
        git(&repository, &["init", "--quiet"]);
        for version in ["v1", "v2"] {
            fs::write(repository.join("main.tf"), "module \"part\" {\n  source = \"./part\"\n}\n").unwrap();
            fs::write(repository.join("part/main.tf"), format!("locals {{\n  v = {version:?}\n}}\n")).unwrap();
            git(&repository, &["add", "."]);
            git(&repository, &["commit", "--quiet", "-m", version]);
            git(&repository, &["tag", version]);
        }
        place.configure(config);
        place
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    /// Writes the configuration; `@` stands for the repository.
    fn configure(&self, config: &str) {
        fs::create_dir_all(self.path("work")).unwrap();
        let repository = format!("git::file://{}", self.path("repository").display());
        fs::write(self.path("work/main.tf"), config.replace('@', &repository)).unwrap();
    }

    fn install(&self, upgrade: bool) -> (Vec<String>, Vec<String>) {
        let mut session = Session::new(Start::in_directory(self.path("work")));
        let online = Online::new(CliConfig::default(), std::env::vars().collect());
        let told = Told::default();
        let settings = InstallSettings { upgrade, only_installation_matters: false, test_dir: None };
        let diagnostics = session.install_modules(&online, settings, &told);
        let line = |found: &Diagnostic| found.subject.map_or(0, |span| session.sources().start(span).line);
        let problems = diagnostics.iter().map(|found| format!("{} {}", line(found), found.summary)).collect();
        (told.0.into_inner(), problems)
    }

    fn installed(&self, name: &str) -> String {
        fs::read_to_string(self.path("work/.terraform/modules").join(name)).unwrap_or_default()
    }
}

fn git(dir: &Path, arguments: &[&str]) {
    let who = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"];
    let status = Command::new("git").current_dir(dir).args(who).args(arguments).status().unwrap();
    assert!(status.success(), "git {arguments:?}");
}

#[test]
fn modules_are_fetched_once_and_used_again() {
    let place =
        Place::new("module \"a\" {\n  source = \"@?ref=v1\"\n}\n\nmodule \"b\" {\n  source = \"@//part?ref=v1\"\n}\n");
    let (told, problems) = place.install(false);
    assert_eq!(problems, Vec::<String>::new());
    let expected = [
        "fetch a from git::file:",
        "a in .terraform/modules/a",
        "a.part in .terraform/modules/a/part",
        "fetch b from git::file:",
        "b in .terraform/modules/b/part",
    ];
    assert_eq!(told, expected);
    assert!(place.installed("a/part/main.tf").contains("v1") && place.installed("b/part/main.tf").contains("v1"));
    assert!(!place.path("work/.terraform/modules/a/.git").exists(), "the repository is not kept");
    assert_eq!(place.install(false), (Vec::new(), Vec::new()));
    assert_eq!(place.install(true).0, expected);
}

#[test]
fn what_does_not_fit_any_more_is_fetched_again() {
    let place = Place::new("module \"a\" {\n  source = \"@?ref=v1\"\n}\n");
    place.install(false);
    place.configure("module \"a\" {\n  source = \"@?ref=v2\"\n}\n");
    let (told, problems) = place.install(false);
    assert_eq!((told.len(), problems.len()), (3, 0), "{told:?}");
    assert!(place.installed("a/part/main.tf").contains("v2"));
    place.configure("locals {\n}\n");
    assert_eq!(place.install(false), (Vec::new(), Vec::new()));
}

#[test]
fn what_cannot_be_installed_is_told_where_it_is_called() {
    let place = Place::new(
        "module \"a\" {\n  source = \"@?ref=v9\"\n}\n\nmodule \"b\" {\n  source = \"@//nowhere\"\n}\n\nmodule \"c\" {\n  source = \"@//part/..\"\n}\n",
    );
    let (_, mut problems) = place.install(false);
    problems.sort();
    assert_eq!(problems, ["1 Failed to download module", "5 Module subdirectory not found"]);
    assert!(place.installed("modules.json").contains("\"Key\":\"c\""), "the others are installed");
}

#[test]
fn a_module_cannot_lead_out_of_its_package() {
    let place = Place::new("module \"a\" {\n  source = \"@\"\n}\n");
    let inner = "module \"outside\" {\n  source = \"../../../../elsewhere\"\n}\n";
    fs::write(place.path("repository/main.tf"), inner).unwrap();
    git(&place.path("repository"), &["commit", "--quiet", "--all", "-m", "outside"]);
    let (_, problems) = place.install(false);
    assert_eq!(problems, ["1 Local module path escapes module package"]);
}
