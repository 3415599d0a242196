//! The OCI layout of an image with one layer, as one tar file: what `ctr images import`, `skopeo copy oci-archive:…` and `podman load` read.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::tree::Tree;

/// An image.
pub(super) struct Image<'a> {
    /// The whole name with its tag, as a pod writes it.
    pub(super) name: String,
    /// What is started.
    pub(super) entrypoint: &'a str,
    /// `NAME=value` each.
    pub(super) environment: &'a [&'a str],
    /// As whom it runs; root unless given.
    pub(super) user: Option<u32>,
    /// Where it runs.
    pub(super) folder: &'a str,
    pub(super) layer: Tree,
}

/// A part of an image, which others name by its digest.
struct Blob {
    media_type: &'static str,
    digest: String,
    content: Vec<u8>,
}

impl Blob {
    fn new(media_type: &'static str, content: Vec<u8>) -> Self {
        Self { media_type, digest: digest(&content), content }
    }

    fn json(media_type: &'static str, content: &Value) -> Self {
        Self::new(media_type, content.to_string().into_bytes())
    }

    fn descriptor(&self) -> Value {
        json!({ "mediaType": self.media_type, "digest": self.digest, "size": self.content.len() })
    }
}

/// Writes an image and returns its digest.
pub(super) fn write(image: &Image<'_>, path: &Path) -> Result<String> {
    let (layer, uncompressed) = layer(&image.layer)?;
    let config = Blob::json("application/vnd.oci.image.config.v1+json", &config(image, &uncompressed)?);
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config.descriptor(),
        "layers": [layer.descriptor()],
    });
    let manifest = Blob::json("application/vnd.oci.image.manifest.v1+json", &manifest);
    let mut entry = manifest.descriptor();
    // containerd takes the whole name from the first, others the tag from the second.
    let tag = image.name.rsplit_once(':').map_or("latest", |(_, tag)| tag);
    entry["annotations"] = json!({ "io.containerd.image.name": image.name, "org.opencontainers.image.ref.name": tag });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [entry],
    });
    let mut files = Tree::default();
    files.add_file("oci-layout", 0o644, json!({ "imageLayoutVersion": "1.0.0" }).to_string().into_bytes());
    files.add_file("index.json", 0o644, index.to_string().into_bytes());
    let found = manifest.digest.clone();
    for blob in [layer, config, manifest] {
        files.add_file(&format!("blobs/{}", blob.digest.replace(':', "/")), 0o644, blob.content);
    }
    save(&files, path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(found)
}

/// Writes beside the final place and renames, so that half an image is never taken for one.
fn save(files: &Tree, path: &Path) -> Result<()> {
    std::fs::create_dir_all(path.parent().context("an image has a folder")?)?;
    let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
    files.write(BufWriter::new(std::fs::File::create(&unfinished)?))?;
    std::fs::rename(&unfinished, path)?;
    Ok(())
}

/// The layer as it is stored, and the digest of what it is once it is unpacked.
fn layer(tree: &Tree) -> Result<(Blob, String)> {
    // Neither a name nor a time goes into the header.
    let gzip = GzBuilder::new().write(Vec::new(), Compression::default());
    let mut seen = Seen { gzip, digest: Sha256::new() };
    tree.write(&mut seen)?;
    let compressed = seen.gzip.finish()?;
    let uncompressed = spelled(&seen.digest.finalize());
    Ok((Blob::new("application/vnd.oci.image.layer.v1.tar+gzip", compressed), uncompressed))
}

/// Compresses what it is given, and takes its digest before that.
struct Seen {
    gzip: GzEncoder<Vec<u8>>,
    digest: Sha256,
}

impl Write for Seen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.gzip.write(bytes)?;
        self.digest.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.gzip.flush()
    }
}

fn config(image: &Image<'_>, layer: &str) -> Result<Value> {
    let mut run = json!({ "Entrypoint": [image.entrypoint], "Env": image.environment, "WorkingDir": image.folder });
    if let Some(user) = image.user {
        run["User"] = format!("{user}:{user}").into();
    }
    Ok(json!({
        "architecture": architecture()?,
        "os": "linux",
        "config": run,
        "rootfs": { "type": "layers", "diff_ids": [layer] },
    }))
}

/// This machine, as images name it.
fn architecture() -> Result<&'static str> {
    Ok(match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => bail!("images for {other} are not known here"),
    })
}

fn digest(content: &[u8]) -> String {
    spelled(&Sha256::digest(content))
}

fn spelled(digest: &[u8]) -> String {
    digest.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read as _;

    use super::*;

    fn image() -> Image<'static> {
        let mut layer = Tree::default();
        layer.add_file("pod", 0o755, b"program".to_vec());
        let name = "groma.dev/pod:test".to_owned();
        Image { name, entrypoint: "/pod", environment: &["A=b"], user: Some(7), folder: "/", layer }
    }

    fn written() -> (String, BTreeMap<String, Vec<u8>>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image.tar");
        let digest = write(&image(), &path).unwrap();
        let mut archive = tar::Archive::new(std::fs::File::open(path).unwrap());
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            (entry.path().unwrap().display().to_string(), content)
        });
        (digest, entries.collect())
    }

    #[test]
    fn everything_is_found_from_the_index_by_its_digest() {
        let (digest, files) = written();
        let read = |name: &str| serde_json::from_slice::<Value>(&files[name]).unwrap();
        let blob = |descriptor: &Value| {
            let name = format!("blobs/{}", descriptor["digest"].as_str().unwrap().replace(':', "/"));
            assert_eq!(descriptor["size"], files[&name].len());
            assert_eq!(descriptor["digest"], super::digest(&files[&name]));
            name
        };
        let entry = &read("index.json")["manifests"][0];
        assert_eq!(entry["digest"], digest);
        assert_eq!(entry["annotations"]["io.containerd.image.name"], "groma.dev/pod:test");
        let manifest = read(&blob(entry));
        let config = read(&blob(&manifest["config"]));
        assert_eq!(config["config"]["Entrypoint"], json!(["/pod"]));
        assert_eq!(config["config"]["User"], "7:7");
        let mut layer = Vec::new();
        let packed = files[&blob(&manifest["layers"][0])].as_slice();
        flate2::read::GzDecoder::new(packed).read_to_end(&mut layer).unwrap();
        assert_eq!(config["rootfs"]["diff_ids"], json!([super::digest(&layer)]));
    }

    #[test]
    fn the_same_image_has_the_same_bytes() {
        assert_eq!(written(), written());
    }
}
