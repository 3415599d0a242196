//! A small world of providers and modules: a registry, archives, a repository, and a CLI configuration that leads there.

use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, RwLock};

use anyhow::Result;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;

use super::server::{self, Answer, Answers};
use crate::conformance::{platform, scratch};
use crate::process;

/// The hosts of the registry. Only packages from the public one need no signature.
const HOSTS: [&str; 2] = ["registry.opentofu.org", "registry.example.com"];

/// Where the programs look.
pub(super) struct World {
    /// The CLI configuration.
    pub(super) config: PathBuf,
    /// `127.0.0.1:12345`
    address: String,
    /// The directory of the repository.
    repository: PathBuf,
}

impl World {
    /// Makes everything and starts serving it.
    pub(super) fn start() -> Result<Self> {
        let answers: Answers = Arc::new(RwLock::new(BTreeMap::new()));
        let address = server::start(Arc::clone(&answers))?;
        let made = all_answers(&address)?;
        *answers.write().unwrap_or_else(std::sync::PoisonError::into_inner) = made;
        let dir = scratch::empty("init", "world", "files")?;
        let repository = dir.join("repository");
        make_repository(&repository)?;
        let mirror = dir.join("mirror");
        let package = mirror.join("mirror.example.com/acme/plain/0.3.0").join(platform());
        std::fs::create_dir_all(&package)?;
        std::fs::write(package.join("terraform-provider-plain_v0.3.0"), "not a program")?;
        let config = dir.join("tfrc");
        std::fs::write(&config, cli_config(&address, &mirror))?;
        Ok(Self { config, address, repository })
    }

    /// A text with the places that are known only now.
    pub(super) fn filled(&self, text: &str) -> String {
        text.replace("@HTTP@", &self.address).replace("@REPOSITORY@", &self.repository.display().to_string())
    }

    /// A text without them.
    pub(super) fn neutral(&self, text: &str) -> String {
        text.replace(&self.address, "@HTTP@").replace(&self.repository.display().to_string(), "@REPOSITORY@")
    }
}

fn cli_config(address: &str, mirror: &Path) -> String {
    let services = format!(
        "  services = {{\n    \"providers.v1\" = \"http://{address}/providers/\"\n    \"modules.v1\" = \
         \"http://{address}/modules/\"\n  }}\n"
    );
    let hosts = HOSTS.map(|host| format!("host {host:?} {{\n{services}}}\n")).concat();
    format!(
        "{hosts}provider_installation {{\n  filesystem_mirror {{\n    path    = {:?}\n    include = \
         [\"mirror.example.com/*/*\"]\n  }}\n  direct {{\n    exclude = [\"mirror.example.com/*/*\"]\n  }}\n}}\n",
        mirror.display()
    )
}

fn all_answers(address: &str) -> Result<BTreeMap<String, Answer>> {
    let mut answers = BTreeMap::new();
    for (name, versions) in [("one", ["1.0.0", "1.2.0", "2.0.0-beta1"]), ("two", ["0.1.0", "0.2.0", "0.2.1"])] {
        provider(&mut answers, address, name, &versions)?;
    }
    for version in ["1.0.0", "1.1.0", "2.0.0"] {
        let archive = archive(&[
            (
                "main.tf",
                &format!(
                    "output \"version\" {{\n  value = {version:?}\n}}\nmodule \"inner\" {{\n  source = \"./inner\"\n}}\n"
                ),
            ),
            (
                "inner/main.tf",
                "terraform {\n  required_providers {\n    one = {\n      source  = \"acme/one\"\n      version = \"< 2.0.0\"\n    }\n  }\n}\n",
            ),
            ("extra/main.tf", "output \"extra\" {\n  value = true\n}\n"),
        ])?;
        file(&mut answers, &format!("/archives/net-{version}.zip"), "application/zip", archive);
        let location = format!("http://{address}/archives/net-{version}.zip");
        let path = format!("/modules/acme/net/test/{version}/download");
        let body = json!({ "location": location }).to_string().into_bytes();
        file(&mut answers, &path, "application/json", body);
    }
    let versions: Vec<_> = ["1.0.0", "2.0.0", "1.1.0"].map(|version| json!({ "version": version })).into();
    let body = json!({ "modules": [{ "versions": versions }] }).to_string().into_bytes();
    file(&mut answers, "/modules/acme/net/test/versions", "application/json", body);
    Ok(answers)
}

fn file(answers: &mut BTreeMap<String, Answer>, path: &str, kind: &str, body: Vec<u8>) {
    let headers = vec![("Content-Type", kind.to_owned())];
    answers.insert(path.to_owned(), Answer { headers, body });
}

/// All that a registry says about a provider. It has no keys, so nothing is signed.
fn provider(answers: &mut BTreeMap<String, Answer>, address: &str, name: &str, versions: &[&str]) -> Result<()> {
    let (os, arch) = platform().split_once('_').map(|(os, arch)| (os.to_owned(), arch.to_owned())).unwrap_or_default();
    let platforms = [(os.as_str(), arch.as_str()), ("plan9", "arm")];
    let base = format!("/providers/acme/{name}");
    let mut listed = Vec::new();
    for version in versions {
        let mut sums = Vec::new();
        let mut packages = Vec::new();
        for (os, arch) in platforms {
            let filename = format!("terraform-provider-{name}_{version}_{os}_{arch}.zip");
            let program = format!("terraform-provider-{name}_v{version}");
            let text = format!("{name} {version} for {os} on {arch}");
            let archive = archive(&[(&program, &text), ("LICENSE", "as you like it")])?;
            let sum: Vec<String> = Sha256::digest(&archive).iter().map(|byte| format!("{byte:02x}")).collect();
            let sum = sum.concat();
            sums.push(format!("{sum}  {filename}\n"));
            file(answers, &format!("/archives/{filename}"), "application/zip", archive);
            packages.push((os, arch, filename, sum));
        }
        let sums_path = format!("/archives/terraform-provider-{name}_{version}_SHA256SUMS");
        file(answers, &sums_path, "text/plain", sums.concat().into_bytes());
        file(answers, &format!("{sums_path}.sig"), "application/octet-stream", b"nobody's".to_vec());
        for (os, arch, filename, sum) in packages {
            let body = json!({
                "protocols": ["5.0"], "os": os, "arch": arch, "filename": filename,
                "download_url": format!("http://{address}/archives/{filename}"),
                "shasum": sum,
                "shasums_url": format!("http://{address}{sums_path}"),
                "shasums_signature_url": format!("http://{address}{sums_path}.sig"),
                "signing_keys": { "gpg_public_keys": [] },
            });
            let path = format!("{base}/{version}/download/{os}/{arch}");
            file(answers, &path, "application/json", body.to_string().into_bytes());
        }
        let platforms: Vec<_> = platforms.iter().map(|(os, arch)| json!({ "os": os, "arch": arch })).collect();
        listed.push(json!({ "version": version, "protocols": ["5.0"], "platforms": platforms }));
    }
    let body = json!({ "versions": listed }).to_string().into_bytes();
    file(answers, &format!("{base}/versions"), "application/json", body);
    Ok(())
}

/// A zip archive of files that may be run.
fn archive(files: &[(&str, &str)]) -> Result<Vec<u8>> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().unix_permissions(0o755);
    for (name, text) in files {
        writer.start_file(*name, options)?;
        writer.write_all(text.as_bytes())?;
    }
    Ok(writer.finish()?.into_inner())
}

/// A repository with two tagged versions of a module.
fn make_repository(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir.join("nested"))?;
    let git = |arguments: &[&str]| {
        let who = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"];
        process::capture(Command::new("git").current_dir(dir).args(who).args(arguments))
    };
    git(&["init", "--quiet", "--initial-branch=main"])?;
    for version in ["v1", "v2"] {
        std::fs::write(dir.join("main.tf"), format!("output \"version\" {{\n  value = {version:?}\n}}\n"))?;
        std::fs::write(dir.join("nested/main.tf"), format!("# nested {version}\n"))?;
        git(&["add", "."])?;
        git(&["commit", "--quiet", "-m", version])?;
        git(&["tag", version])?;
    }
    Ok(())
}
