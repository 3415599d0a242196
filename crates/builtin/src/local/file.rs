//! `local_file` and `local_sensitive_file`: files that are written.

use std::io::ErrorKind;
use std::path::Path as FilePath;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::content;
use crate::combinations::{Listed, exactly_one_of};
use crate::kit::confines::Writable;
use crate::kit::outside::Outside;
use crate::kit::spec::{Attr, optional, optional_computed, required};
use crate::kit::{Call, Failed, Object, Resource, Spec};

/// Both resources: they differ in what must not be shown, and in permissions.
pub(super) struct File {
    /// Where files are.
    pub(super) outside: Outside,
    /// Whether the content must not be shown.
    pub(super) sensitive: bool,
}

impl File {
    fn kind(&self) -> &'static str {
        if self.sensitive { "local sensitive file" } else { "local file" }
    }

    /// The arguments of which one gives the content.
    fn sources(&self) -> &'static [&'static str] {
        if self.sensitive {
            &["content", "content_base64", "source"]
        } else {
            &["content", "sensitive_content", "content_base64", "source"]
        }
    }

    fn failed(&self, doing: &str, what: &str, error: &dyn std::fmt::Display) -> Diagnostic {
        let detail = format!("An unexpected error occurred while {what}\n\nOriginal Error: {error}");
        Diagnostic::error(format!("{doing} {} error", self.kind()), detail)
    }

    async fn content(&self, object: &Object) -> Result<Vec<u8>, String> {
        if let Some(text) = object.text("sensitive_content") {
            return Ok(text.as_bytes().to_vec());
        }
        if let Some(text) = object.text("content_base64") {
            return STANDARD.decode(text).map_err(|error| error.to_string());
        }
        if let Some(path) = object.text("source") {
            let reading = async { tokio::fs::read(self.outside.readable(path)?).await };
            return reading.await.map_err(|error| format!("open {path}: {error}"));
        }
        Ok(object.text("content").unwrap_or_default().as_bytes().to_vec())
    }

    async fn write(&self, object: &Object, content: &[u8]) -> Result<(), Diagnostic> {
        let place = self.place(object.text("filename").unwrap_or_default());
        let place = place.map_err(|error| self.failed("Create", "writing the file", &error))?;
        if let Some(parent) = place.path.parent()
            && tokio::fs::metadata(parent).await.is_err()
        {
            let mode = mode(object, "directory_permission");
            make_directories(parent, mode).await.map_err(|e| self.failed("Create", "creating file directory", &e))?;
        }
        let mode = mode(object, "file_permission");
        let written = write_file(&place, content, mode).await;
        if written.is_err() && place.is_new {
            self.let_go(&place.path);
        }
        written.map_err(|error| self.failed("Create", "writing the file", &error))
    }

    /// Where a file is that may be written.
    fn place(&self, name: &str) -> std::io::Result<Writable> {
        let path = self.outside.directory.join(name);
        match &self.outside.files {
            None => Ok(Writable { path, is_new: false }),
            Some(files) => files.write(&path),
        }
    }

    fn let_go(&self, place: &FilePath) {
        if let Some(files) = &self.outside.files {
            files.let_go(place);
        }
    }
}

fn mode(object: &Object, name: &str) -> u32 {
    object.text(name).and_then(|text| u32::from_str_radix(text, 8).ok()).unwrap_or(0o777)
}

#[cfg(unix)]
async fn make_directories(path: &FilePath, mode: u32) -> std::io::Result<()> {
    tokio::fs::DirBuilder::new().recursive(true).mode(mode).create(path).await
}

#[cfg(not(unix))]
async fn make_directories(path: &FilePath, _: u32) -> std::io::Result<()> {
    tokio::fs::create_dir_all(path).await
}

/// Permissions count for files that are new only, before the umask.
async fn write_file(place: &Writable, content: &[u8], mode: u32) -> std::io::Result<()> {
    use tokio::io::AsyncWriteExt as _;

    let mut options = tokio::fs::OpenOptions::new();
    options.write(true).create(true).create_new(place.is_new).truncate(true);
    #[cfg(unix)]
    options.mode(mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = options.open(&place.path).await?;
    file.write_all(content).await?;
    file.flush().await
}

fn permission(text: &str, default: &str) -> Attr {
    let doc = format!("{text}, before the umask, in octal digits. Default value is `\"{default}\"`.");
    optional_computed(Type::String).default(default).check(is_permission).replace().doc(&doc)
}

fn is_permission(path: &Path, value: &Value) -> Option<Diagnostic> {
    let text = value.as_str()?;
    let detail = if !(3..=4).contains(&text.len()) {
        format!("bad mode permission: string length should be 3 or 4 digits: {text}")
    } else if u32::from_str_radix(text, 8).is_ok_and(|mode| mode <= 0o777) {
        return None;
    } else {
        format!("bad mode permission: string must be expressed in octal numeric notation: {text}")
    };
    Some(Diagnostic::error("Invalid File Permission String Value", detail).at_path(path.clone()))
}

#[async_trait]
impl Resource for File {
    fn type_name(&self) -> &'static str {
        if self.sensitive { "local_sensitive_file" } else { "local_file" }
    }

    fn spec(&self) -> Spec {
        let about = if self.sensitive { "A file with content that must not be shown." } else { "A file." };
        let default = if self.sensitive { "0700" } else { "0777" };
        let text = |doc: &str| {
            let attr = optional(Type::String).replace().doc(&format!("{doc} Exactly one source of content is needed."));
            if self.sensitive { attr.sensitive() } else { attr }
        };
        let source = "Path of a file whose content is taken. Exactly one source of content is needed.";
        let mut spec = Spec::new()
            .doc(about)
            .attr(
                "filename",
                required(Type::String)
                    .replace()
                    .doc("Path of the file. Directories that are missing are made; a file that exists is overwritten."),
            )
            .attr("content", text("Content of the file as text."))
            .attr("content_base64", text("Content of the file in base64."))
            .attr("source", optional(Type::String).replace().doc(source))
            .attr("file_permission", permission("Permissions of the file", default))
            .attr("directory_permission", permission("Permissions of directories that are made", default));
        if !self.sensitive {
            let sensitive =
                optional(Type::String).sensitive().replace().deprecated("Use `local_sensitive_file`.").doc(
                    "Content of the file as text that must not be shown. Exactly one source of content is needed.",
                );
            spec = spec.attr("sensitive_content", sensitive);
        }
        content::with_hashes(spec)
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        exactly_one_of(config, self.sources(), Listed::Others)
    }

    async fn create(&self, mut planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        let content = self.content(&planned).await;
        let content = content.map_err(|error| self.failed("Create", "parsing local file content", &error))?;
        self.write(&planned, &content).await?;
        content::set_hashes(&mut planned, &content);
        Ok(planned)
    }

    /// A file that is missing, or not what was written, is to be written again.
    async fn read(&self, object: Object, _: &mut Call) -> Result<Option<Object>, Diagnostics> {
        let name = object.text("filename").unwrap_or_default();
        let reading = async { tokio::fs::read(self.outside.readable(name)?).await };
        match reading.await {
            Ok(content) if Some(content::id(&content).as_str()) == object.text("id") => Ok(Some(object)),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("Read", "reading the file", &error).into()),
        }
    }

    /// What is already gone need not be deleted; the published plugin says nothing of what it cannot delete either, but
    /// then the file would stay without anybody knowing.
    async fn delete(&self, prior: &Object, call: &mut Call) -> Result<(), Diagnostics> {
        let path = self.outside.directory.join(prior.text("filename").unwrap_or_default());
        let deleting = async {
            let place = self.outside.readable(&path)?;
            tokio::fs::remove_file(&place).await?;
            self.let_go(&place);
            Ok::<_, std::io::Error>(())
        };
        match deleting.await {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let detail = format!("{} is no longer managed, but it could not be deleted: {error}.", path.display());
                call.diagnostics.push(Diagnostic::warning("File was not deleted", detail));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
