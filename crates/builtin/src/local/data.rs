//! The data sources `local_file` and `local_sensitive_file`: files that are read.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::content;
use crate::kit::outside::Outside;
use crate::kit::spec::{computed, required};
use crate::kit::{Call, DataSource, Object, Spec};

/// Both data sources: they differ in what must not be shown.
pub(super) struct FileData {
    /// Where files are.
    pub(super) outside: Outside,
    /// Whether the content must not be shown.
    pub(super) sensitive: bool,
}

#[async_trait]
impl DataSource for FileData {
    fn type_name(&self) -> &'static str {
        if self.sensitive { "local_sensitive_file" } else { "local_file" }
    }

    fn spec(&self) -> Spec {
        let text = |doc: &str| {
            let attr = computed(Type::String).doc(doc);
            if self.sensitive { attr.sensitive() } else { attr }
        };
        let about = if self.sensitive { "A file with content that must not be shown." } else { "A file." };
        let replaced = "Content of the file as text. What is not UTF-8 is replaced by the replacement character.";
        let spec = Spec::new()
            .doc(about)
            .attr("filename", required(Type::String).doc("Path of the file, which must exist."))
            .attr("content", text(replaced))
            .attr("content_base64", text("Content of the file in base64."));
        content::with_hashes(spec)
    }

    async fn read(&self, mut config: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        let name = config.text("filename").unwrap_or_default();
        let reading = async { tokio::fs::read(self.outside.readable(name)?).await };
        let content = reading.await.map_err(|error| {
            let detail = format!("The file at given path cannot be read.\n\nOriginal Error: open {name}: {error}");
            Diagnostic::error("Read local file data source error", detail)
        })?;
        config.set("content", Value::string(String::from_utf8_lossy(&content).into_owned()));
        config.set("content_base64", Value::string(STANDARD.encode(&content)));
        content::set_hashes(&mut config, &content);
        Ok(config)
    }
}
