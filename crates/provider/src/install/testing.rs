//! A provider registry and mirror on the loopback interface, for tests of this and of other crates: real sockets, real
//! TLS, real signatures, and any fault that is asked for.

mod server;
mod signer;

use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

pub use server::{Loopback, Reply, Seen};
pub use signer::TestKey;

/// A registry (and a mirror) with packages of our own making.
pub struct TestRegistry {
    server: Loopback,
    key: TestKey,
    published: std::sync::Mutex<BTreeMap<(String, String), Vec<Published>>>,
}

/// What is said about a published version.
#[derive(Debug, Clone)]
pub struct Release {
    /// The namespace.
    pub namespace: String,
    /// The type.
    pub ty: String,
    /// The version.
    pub version: String,
    /// The platforms, as `os_arch`.
    pub platforms: Vec<String>,
    /// The plugin protocols.
    pub protocols: Vec<String>,
    /// Whether the registry gives its public key.
    pub with_keys: bool,
    /// The program in the package.
    pub program: Vec<u8>,
}

#[derive(Debug, Clone)]
struct Published {
    release: Release,
}

impl Release {
    /// A version of `acme/<type>` for Linux on two architectures.
    pub fn new(ty: &str, version: &str) -> Self {
        Self {
            namespace: "acme".to_owned(),
            ty: ty.to_owned(),
            version: version.to_owned(),
            platforms: vec!["linux_amd64".to_owned(), "linux_arm64".to_owned()],
            protocols: vec!["5.0".to_owned(), "6.0".to_owned()],
            with_keys: true,
            program: format!("#!/bin/sh\necho {ty} {version}\n").into_bytes(),
        }
    }

    /// The name of an archive.
    pub fn archive_name(&self, platform: &str) -> String {
        format!("terraform-provider-{}_{}_{platform}.zip", self.ty, self.version)
    }

    /// The archive for a platform.
    pub fn archive(&self, platform: &str) -> Vec<u8> {
        let mut program = self.program.clone();
        program.extend_from_slice(format!("# {platform}\n").as_bytes());
        let name = format!("terraform-provider-{}_v{}", self.ty, self.version);
        zip_of(&[(&name, &program), ("README.md", b"A package for tests.\n")])
    }

    /// Where files are: the list of checksums, its signature, and archives.
    pub fn file_path(&self, name: &str) -> String {
        format!("/files/{}/{}/{}/{name}", self.namespace, self.ty, self.version)
    }

    /// Where the registry answers about versions.
    pub fn versions_path(&self) -> String {
        format!("/v1/providers/{}/{}/versions", self.namespace, self.ty)
    }

    /// Where the registry answers about a package.
    pub fn download_path(&self, platform: &str) -> String {
        let (os, arch) = platform.split_once('_').unwrap_or((platform, ""));
        format!("/v1/providers/{}/{}/{}/download/{os}/{arch}", self.namespace, self.ty, self.version)
    }

    fn checksums(&self) -> String {
        let line = |platform: &String| {
            let name = self.archive_name(platform);
            format!("{}  {name}\n", hex::encode(Sha256::digest(self.archive(platform))))
        };
        self.platforms.iter().map(line).collect()
    }
}

impl TestRegistry {
    /// A registry without encryption.
    pub fn start() -> std::io::Result<Self> {
        Ok(Self::on(Loopback::start()?))
    }

    /// A registry with TLS; see [`Loopback::certificate`].
    pub fn start_tls() -> std::io::Result<Self> {
        Ok(Self::on(Loopback::start_tls()?))
    }

    fn on(server: Loopback) -> Self {
        Self { server, key: TestKey::new(7), published: std::sync::Mutex::default() }
    }

    /// The server below.
    pub fn server(&self) -> &Loopback {
        &self.server
    }

    /// The key that it signs with.
    pub fn key(&self) -> &TestKey {
        &self.key
    }

    /// The address of the service `providers.v1`.
    pub fn providers_url(&self) -> String {
        self.server.url("/v1/providers/")
    }

    /// The address of the mirror.
    pub fn mirror_url(&self) -> String {
        self.server.url("/mirror/")
    }

    /// Publishes a version, in the registry and in the mirror (there for a host).
    pub fn publish(&self, release: &Release, mirror_host: &str) {
        self.publish_files(release);
        let mut published = self.published.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let all = published.entry((release.namespace.clone(), release.ty.clone())).or_default();
        all.push(Published { release: release.clone() });
        let versions: Vec<Value> = all.iter().map(|published| version_json(&published.release)).collect();
        self.server.set(&release.versions_path(), Reply::json(&json!({ "versions": versions })));
        let base = format!("/mirror/{mirror_host}/{}/{}", release.namespace, release.ty);
        let index: Map<String, Value> =
            all.iter().map(|published| (published.release.version.clone(), json!({}))).collect();
        self.server.set(&format!("{base}/index.json"), Reply::json(&json!({ "versions": index })));
        let archives: Map<String, Value> = release
            .platforms
            .iter()
            .map(|platform| {
                let archive = release.archive(platform);
                let hash = groma_fetch::dirhash::h1_zip(Cursor::new(&archive)).unwrap_or_default();
                let zh = format!("zh:{}", hex::encode(Sha256::digest(&archive)));
                let url = self.server.url(&release.file_path(&release.archive_name(platform)));
                (platform.clone(), json!({ "url": url, "hashes": [hash, zh] }))
            })
            .collect();
        self.server.set(&format!("{base}/{}.json", release.version), Reply::json(&json!({ "archives": archives })));
    }

    fn publish_files(&self, release: &Release) {
        let checksums = release.checksums();
        let signature = self.key.sign(checksums.as_bytes());
        let sums = format!("terraform-provider-{}_{}_SHA256SUMS", release.ty, release.version);
        for platform in &release.platforms {
            let name = release.archive_name(platform);
            let archive = release.archive(platform);
            let answer = self.download_json(release, platform, &sums);
            self.server.set(&release.download_path(platform), Reply::json(&answer));
            self.server.set(&release.file_path(&name), Reply::ok("application/zip", archive));
        }
        self.server.set(&release.file_path(&sums), Reply::ok("text/plain", checksums.into_bytes()));
        self.server.set(&release.file_path(&format!("{sums}.sig")), Reply::ok("application/octet-stream", signature));
    }

    /// What the registry says about a package. Tests change it and set it again.
    pub fn download_json(&self, release: &Release, platform: &str, sums: &str) -> Value {
        let (os, arch) = platform.split_once('_').unwrap_or((platform, ""));
        let name = release.archive_name(platform);
        let keys = if release.with_keys {
            vec![json!({ "key_id": self.key.id(), "ascii_armor": self.key.armor() })]
        } else {
            Vec::new()
        };
        json!({
            "protocols": release.protocols,
            "os": os,
            "arch": arch,
            "filename": name,
            "download_url": release.file_path(&name),
            "shasum": hex::encode(Sha256::digest(release.archive(platform))),
            "shasums_url": release.file_path(sums),
            "shasums_signature_url": release.file_path(&format!("{sums}.sig")),
            "signing_keys": { "gpg_public_keys": keys },
        })
    }
}

fn version_json(release: &Release) -> Value {
    let platforms: Vec<Value> = release
        .platforms
        .iter()
        .filter_map(|platform| platform.split_once('_'))
        .map(|(os, arch)| json!({ "os": os, "arch": arch }))
        .collect();
    json!({ "version": release.version, "protocols": release.protocols, "platforms": platforms })
}

/// A zip archive of some files that can be executed, the same bytes each time.
pub fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::default())
        .unix_permissions(0o755);
    for (name, content) in files {
        let written = writer.start_file(*name, options).map_err(std::io::Error::other);
        if let Err(error) = written.and_then(|()| writer.write_all(content)) {
            tracing::error!(%error, name, "cannot write an archive");
        }
    }
    writer.finish().map(Cursor::into_inner).unwrap_or_default()
}
