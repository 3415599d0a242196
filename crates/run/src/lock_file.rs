//! The dependency lock file, `.terraform.lock.hcl`: its text. What is locked, and when, is decided by the installer.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use groma_lang::eval::{EmptyScope, evaluate};
use groma_model::address::Provider;
use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_model::ty::Type;
use groma_model::value::go_quote;
use groma_model::version::{Constraints, Version};
use groma_provider::install::{Hash, Locks, ProviderLock};
use groma_syntax::ast::Expr;
use groma_syntax::body::{Attribute, Block, Body, BodySchema};

/// The name of the file.
pub const FILE_NAME: &str = ".terraform.lock.hcl";

const HEADER: &str = "\
# This file is maintained automatically by \"tofu init\".
# Manual edits may be lost in future updates.
";

/// Reads the lock file of a working directory. Without one nothing is locked.
pub fn load(sources: &mut SourceMap, working_dir: &Path) -> (Locks, Diagnostics) {
    let bytes = match fs::read(working_dir.join(FILE_NAME)) {
        Ok(bytes) => bytes,
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Default::default(),
        Err(problem) => {
            let detail = format!("The file {FILE_NAME:?} could not be read: {problem}.");
            return (Locks::new(), Diagnostic::error("Failed to read file", detail).into());
        }
    };
    read(sources, FILE_NAME, &String::from_utf8_lossy(&bytes))
}

/// Reads the text of a lock file. What cannot be read is reported and left out.
pub fn read(sources: &mut SourceMap, name: &str, text: &str) -> (Locks, Diagnostics) {
    let file = sources.add(name, text);
    let parsed = groma_syntax::parse_native(sources, file);
    let mut reader = Reader { sources, diagnostics: parsed.diagnostics };
    let locks = reader.file(&parsed.value);
    (locks, reader.diagnostics)
}

/// The text for what is locked, to the byte as OpenTofu writes it.
pub fn text(locks: &Locks) -> String {
    let mut text = HEADER.to_owned();
    for lock in locks {
        let constraints = lock.constraints.canonical();
        let width = if constraints.is_empty() { "version".len() } else { "constraints".len() };
        // Writing to a string does not fail.
        let _ = writeln!(text, "\nprovider {} {{", go_quote(&lock.provider.to_string()));
        let _ = writeln!(text, "  {:width$} = {}", "version", go_quote(&lock.version.to_string()));
        if !constraints.is_empty() {
            let _ = writeln!(text, "  constraints = {}", go_quote(&constraints));
        }
        if !lock.hashes().is_empty() {
            text.push_str("  hashes = [\n");
            for hash in lock.hashes() {
                let _ = writeln!(text, "    {},", go_quote(hash.as_str()));
            }
            text.push_str("  ]\n");
        }
        text.push_str("}\n");
    }
    text
}

/// Writes what is locked, all or nothing. A file that says the same already is left alone.
pub fn save(working_dir: &Path, locks: &Locks) -> Result<(), Diagnostic> {
    let path = working_dir.join(FILE_NAME);
    let text = text(locks);
    if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(());
    }
    replace(&path, text.as_bytes()).map_err(|problem| {
        let detail = format!("Error while writing new dependency lock information to {FILE_NAME}: {problem}.");
        Diagnostic::error("Failed to update dependency lock file", detail)
    })
}

/// Replaces a file by a new one at once: readers see the old or the new text, never a part.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o644));
    }
    let mut file = builder.prefix(".groma-").tempfile_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

struct Reader<'a> {
    sources: &'a SourceMap,
    diagnostics: Diagnostics,
}

impl Reader<'_> {
    fn error(&mut self, summary: &str, detail: impl Into<String>, at: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(at));
    }

    fn file(&mut self, body: &Body) -> Locks {
        let schema = BodySchema::new().block("provider", &["source_addr"]).block("module", &["path"]);
        let (content, problems) = body.content(&schema);
        self.diagnostics.extend(problems);
        let mut locks = Locks::new();
        let mut seen: BTreeMap<Provider, Span> = BTreeMap::new();
        let mut seen_module = false;
        for block in &content.blocks {
            if block.kind.name.as_str() == "module" {
                if !seen_module {
                    self.diagnostics.push(modules_not_supported(block));
                }
                seen_module = true;
                continue;
            }
            let Some(lock) = self.provider(block) else { continue };
            if let Some(first) = seen.get(&lock.provider) {
                let place = self.sources.place(*first);
                let detail =
                    format!("This lockfile already declared a lock for provider {} at {place}.", lock.provider);
                self.error("Duplicate provider lock", detail, block.kind.span);
                continue;
            }
            seen.insert(lock.provider.clone(), block.kind.span);
            locks.set(lock);
        }
        locks
    }

    fn provider(&mut self, block: &Block) -> Option<ProviderLock> {
        let label = block.labels.first()?;
        let provider = match checked_address(&label.text) {
            Ok(provider) => provider,
            Err((summary, detail)) => {
                self.error(summary, detail, label.span);
                return None;
            }
        };
        let schema = BodySchema::new().required("version").optional("constraints").optional("hashes");
        let (content, problems) = block.body.content(&schema);
        let failed = problems.has_errors();
        self.diagnostics.extend(problems);
        let version = content.attr("version").and_then(|attribute| self.version(&provider, attribute));
        let constraints = content.attr("constraints").map(|attribute| self.constraints(&provider, attribute));
        let hashes = content.attr("hashes").map(|attribute| self.hashes(attribute));
        let version = version.filter(|_| !failed)?;
        Some(ProviderLock::new(provider, version, constraints.unwrap_or_default(), hashes.unwrap_or_default()))
    }

    fn version(&mut self, provider: &Provider, attribute: &Attribute) -> Option<Version> {
        let text = self.string(&attribute.expr)?;
        let detail = match Version::parse_release(&text) {
            Ok(version) if version.to_string() == text => return Some(version),
            Ok(version) => format!(
                "The selected version number for provider {provider} must be written in normalized form: {}.",
                go_quote(&version.to_string())
            ),
            Err(problem) => format!("The selected version number for provider {provider} is invalid: {problem}."),
        };
        self.error("Invalid provider version number", detail, attribute.expr.span);
        None
    }

    fn constraints(&mut self, provider: &Provider, attribute: &Attribute) -> Constraints {
        let Some(text) = self.string(&attribute.expr) else { return Constraints::default() };
        let detail = match Constraints::parse_provider(&text) {
            Ok(constraints) if constraints.canonical() == text => return constraints,
            Ok(constraints) => format!(
                "The recorded version constraints for provider {provider} must be written in normalized form: {}.",
                go_quote(&constraints.canonical())
            ),
            Err(problem) => format!("The recorded version constraints for provider {provider} are invalid: {problem}."),
        };
        self.error("Invalid provider version constraints", detail, attribute.expr.span);
        Constraints::default()
    }

    fn hashes(&mut self, attribute: &Attribute) -> Vec<Hash> {
        let expr = &attribute.expr;
        let elements = match expr.as_list() {
            Ok(elements) => elements,
            Err(problem) => {
                self.diagnostics.push(problem);
                return Vec::new();
            }
        };
        if elements.is_empty() {
            let detail = "The \"hashes\" argument must either be omitted or contain at least one hash value.";
            self.error("Invalid provider hash set", detail, expr.span);
        }
        let mut hashes = Vec::new();
        for element in elements {
            let Some(text) = self.string(element) else { continue };
            match Hash::parse(&text) {
                Ok(hash) => hashes.push(hash),
                Err(problem) => {
                    let detail = format!("Cannot interpret {} as a provider hash: {problem}.", go_quote(&text));
                    self.error("Invalid provider hash string", detail, expr.span);
                }
            }
        }
        hashes
    }

    /// A constant text.
    fn string(&mut self, expr: &Expr) -> Option<String> {
        let (value, problems) = evaluate(expr, &EmptyScope);
        let failed = problems.has_errors();
        self.diagnostics.extend(problems);
        if failed {
            return None;
        }
        let text = convert(&value, &Type::String).ok().and_then(|value| value.as_str().map(ToString::to_string));
        if text.is_none() {
            self.error("Unsuitable value type", "Unsuitable value: a string is required", expr.span);
        }
        text
    }
}

fn modules_not_supported(block: &Block) -> Diagnostic {
    let detail = "Only dependency locks for providers are supported, not for modules. This configuration may be intended \
                  for a later version that also supports dependency locks for modules.";
    Diagnostic::warning("Dependency locks for modules are not yet supported", detail).at(block.kind.span)
}

/// A whole address in its normal form, of something that can be locked.
fn checked_address(text: &str) -> Result<Provider, (&'static str, String)> {
    const INVALID: &str = "Invalid provider source address";
    let Ok(provider) = Provider::parse_source(text) else {
        let detail = "The provider source address for a provider lock must be a valid, fully-qualified address of the \
                      form \"hostname/namespace/type\".";
        return Err((INVALID, detail.to_owned()));
    };
    if provider.is_builtin() {
        let detail = format!(
            "Cannot lock a version for built-in provider {provider}. Built-in providers are part of the program itself, \
             so you can't select a version for them independently."
        );
        return Err((INVALID, detail));
    }
    if !Locks::is_lockable(&provider) {
        let detail = format!(
            "Provider source address {provider} is a special provider that is not eligible for dependency locking."
        );
        return Err((INVALID, detail));
    }
    let normal = provider.to_string();
    if normal != text {
        let detail = format!(
            "The provider source address for this provider lock must be written as {}, the fully-qualified and \
             normalized form.",
            go_quote(&normal)
        );
        return Err(("Non-normalized provider source address", detail));
    }
    Ok(provider)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "example.com/a/b" {
  version = "1.0.0-beta.1"
}

provider "registry.opentofu.org/hashicorp/null" {
  version     = "3.2.2"
  constraints = ">= 3.0.0, ~> 3.2"
  hashes = [
    "h1:abc=",
    "zh:00ff",
  ]
}
"#;

    fn problems(text: &str) -> Vec<String> {
        let mut sources = SourceMap::new();
        let (_, diagnostics) = read(&mut sources, "x.hcl", text);
        let line = |found: &Diagnostic| found.subject.map_or(0, |span| sources.start(span).line);
        diagnostics.iter().map(|found| format!("{} {}", line(found), found.summary)).collect()
    }

    #[test]
    fn what_is_read_is_written_again() {
        let (locks, diagnostics) = read(&mut SourceMap::new(), "x.hcl", WHOLE);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        assert_eq!(text(&locks), WHOLE);
        assert_eq!(text(&Locks::new()), HEADER);
    }

    #[test]
    fn an_unchanged_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (locks, _) = read(&mut SourceMap::new(), "x.hcl", WHOLE);
        save(dir.path(), &locks).unwrap();
        let path = dir.path().join(FILE_NAME);
        assert_eq!(fs::read_to_string(&path).unwrap(), WHOLE);
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        save(dir.path(), &locks).unwrap();
        assert!(fs::metadata(&path).unwrap().permissions().readonly());
        let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [FILE_NAME]);
    }

    #[test]
    fn mistakes_are_reported_where_they_are() {
        assert_eq!(
            problems("provider \"a/b\" {\n  version = \"1.0.0\"\n}\n"),
            ["1 Non-normalized provider source address"]
        );
        assert_eq!(problems("provider \"a/b/c/d\" {\n}\n"), ["1 Invalid provider source address"]);
        assert_eq!(problems("provider \"terraform.io/builtin/x\" {\n}\n"), ["1 Invalid provider source address"]);
        let with = |inside: &str| problems(&format!("provider \"e.com/a/b\" {{\n{inside}\n}}\n"));
        assert_eq!(with(""), ["1 Missing required argument"]);
        assert_eq!(with("version = \"1.0\""), ["2 Invalid provider version number"]);
        assert_eq!(with("version = 1.5"), ["2 Invalid provider version number"]);
        assert_eq!(with("version = \"1.0.0\"\nconstraints = \"~>1.0\""), ["3 Invalid provider version constraints"]);
        assert_eq!(with("version = \"1.0.0\"\nhashes = []"), ["3 Invalid provider hash set"]);
        assert_eq!(with("version = \"1.0.0\"\nhashes = [\"x\"]"), ["3 Invalid provider hash string"]);
        let twice = "provider \"e.com/a/b\" {\n  version = \"1.0.0\"\n}\n";
        assert_eq!(problems(&twice.repeat(2)), ["4 Duplicate provider lock"]);
        assert_eq!(
            problems("module \"x\" {}\nmodule \"y\" {}\n"),
            ["1 Dependency locks for modules are not yet supported"]
        );
        assert_eq!(problems("provider {\n"), ["1 Unclosed configuration block", "1 Missing source_addr for provider"]);
    }
}
