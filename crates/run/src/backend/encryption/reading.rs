//! From an `encryption` block to methods and key providers. Everything is evaluated early: from variables, locals and functions, before
//! there is a state.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use groma_lang::config::{Encryption as Block, EncryptionPart, EncryptionTarget, Module};
use groma_lang::load::{ModuleChain, StaticEvaluator as _};
use groma_lang::static_eval::StaticScope;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::number::Number;
use groma_model::schema::{Attribute, Block as Schema};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};
use groma_state::encryption::{EncryptionError, HashFunction, Key, Passphrase};
use groma_syntax::ast::{Expr, ExprKind, Step};
use groma_syntax::body::{Body, BodySchema};

use super::keys::{KeySource, Secret};
use super::method::{Choice, Method, MethodKind, Programs};
use super::programs::Program;
use super::target::Target;
use super::{Encryption, RemoteEncryption};

/// The method that does nothing.
const UNENCRYPTED: &str = "unencrypted";

/// An `encryption` block, and what its expressions may refer to.
pub(super) struct Reading<'r> {
    pub(super) scope: StaticScope<'r>,
    pub(super) root: &'r Module,
    pub(super) block: &'r Block,
    /// Where programs are run.
    pub(super) working_dir: &'r Path,
    /// Programs are not started, and how that could be allowed.
    pub(super) no_programs: Option<&'r str>,
}

impl Reading<'_> {
    /// A program that is to be asked.
    fn program(&self, part: &EncryptionPart, words: Vec<String>) -> Result<Program, Diagnostics> {
        if let Some(advice) = self.no_programs {
            let detail = format!("Programs may not be started here. {advice}");
            return Err(Diagnostic::error("External program refused", detail).at(part.header).into());
        }
        Ok(Program::new(words, self.working_dir))
    }

    /// All targets.
    pub(super) fn read(&self) -> Result<Encryption, Diagnostics> {
        let Block { state, plan, remote_default, remote, methods, header, .. } = self.block;
        let mut diagnostics = Diagnostics::new();
        let mut target = |name: String, target: Option<&EncryptionTarget>| {
            let made = target.map(|target| self.target(name, target)).transpose();
            diagnostics.take(made).flatten().map(Arc::new)
        };
        let mut encryption = Encryption {
            state: target("state".to_owned(), state.as_ref()),
            plan: target("plan".to_owned(), plan.as_ref()),
            remote: RemoteEncryption {
                default: target("remote.default".to_owned(), remote_default.as_ref()),
                by_name: BTreeMap::new(),
            },
            warnings: Diagnostics::new(),
        };
        for (name, declared) in remote {
            let made = target(format!("remote.remote_state_datasource.{name}"), Some(declared));
            encryption.remote.by_name.extend(made.map(|made| (name.clone(), made)));
        }
        if methods.iter().any(|method| method.kind == *UNENCRYPTED) {
            let detail = "Method unencrypted is present in configuration. This is a security risk and should only be enabled \
                          during migrations.";
            encryption.warnings.push(Diagnostic::warning("Unencrypted method configured", detail).at(*header));
        }
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(encryption) }
    }

    /// The ways to read a file, the one to write it by first.
    fn target(&self, name: String, target: &EncryptionTarget) -> Result<Target, Diagnostics> {
        let mut parts = Vec::new();
        let mut diagnostics = Diagnostics::new();
        let mut at = Some(target);
        while let Some(target) = at {
            parts.extend(diagnostics.take(self.declared_method(target)));
            at = target.fallback.as_deref();
        }
        if target.enforced && parts.iter().any(|part| part.kind == *UNENCRYPTED) {
            let detail = "Unable to use unencrypted method since the enforced flag is set.";
            diagnostics.push(Diagnostic::error("Unencrypted method is forbidden", detail).at(self.block.header));
        }
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let mut choices = Vec::new();
        for part in parts {
            let choice = match self.choice(part) {
                // What is only to be read with matters when there is something to read.
                Err(problems) if !choices.is_empty() => Choice::Broken(broken(part, &problems)),
                choice => choice?,
            };
            choices.push(choice);
        }
        Ok(Target::new(name, choices))
    }

    fn declared_method(&self, target: &EncryptionTarget) -> Result<&EncryptionPart, Diagnostics> {
        let Some(expr) = &target.method else {
            let detail = "The argument \"method\" is required, but no definition was found.";
            return Err(Diagnostic::error("Missing required argument", detail).at(self.block.header).into());
        };
        let traversal = expr.as_traversal()?;
        let (kind, name) = match traversal.steps.as_slice() {
            [Step::Attr { name: kind, .. }, Step::Attr { name, .. }] if traversal.root.name == *"method" => {
                (kind, name)
            }
            _ => {
                let detail = "Expected method of form method.<type>.<name>";
                return Err(Diagnostic::error("Invalid encryption method identifier", detail).at(expr.span).into());
            }
        };
        find(&self.block.methods, kind, name).ok_or_else(|| {
            let detail = format!(
                "There is no method {:?} {:?} block declared in the encryption block.",
                kind.as_str(),
                name.as_str()
            );
            Diagnostic::error("Reference to undeclared encryption method", detail).at(expr.span).into()
        })
    }

    fn choice(&self, part: &EncryptionPart) -> Result<Choice, Diagnostics> {
        let name = format!("method.{}.{}", part.kind, part.name);
        match part.kind.as_str() {
            UNENCRYPTED => Ok(Choice::Unencrypted),
            "aes_gcm" => {
                let (keys, rest) = self.keys_of(part, "keys", &mut Vec::new())?;
                let keys = keys.ok_or_else(|| missing("keys", part))?;
                check_length(&keys, part)?;
                let kind = MethodKind::AesGcm { aad: self.aad(part, &rest)? };
                Ok(Choice::Encrypted(Method { name, keys: Some(keys), kind }))
            }
            "external" => {
                let (keys, rest) = self.keys_of(part, "keys", &mut Vec::new())?;
                let known = ["encrypt_command", "decrypt_command"].map(|name| (name, Type::list(Type::String)));
                let settings = self.settings("method", part, &rest, &known)?;
                let program = |name: &str| {
                    let words = words(&settings, name).ok_or_else(|| Diagnostics::from(missing(name, part)))?;
                    let is_empty = words.first().is_none_or(String::is_empty);
                    if is_empty {
                        let detail = format!("invalid method configuration: {name} must begin with a program.");
                        return Err(Diagnostic::error("Invalid method configuration", detail).at(part.header).into());
                    }
                    self.program(part, words)
                };
                let (encrypt, decrypt) = (program("encrypt_command")?, program("decrypt_command")?);
                let kind = MethodKind::External(Arc::new(Programs { encrypt, decrypt }));
                Ok(Choice::Encrypted(Method { name, keys, kind }))
            }
            kind => {
                let detail = format!(
                    "Encryption method with ID {kind} not found. There are \"aes_gcm\", \"external\" and \"unencrypted\"."
                );
                Err(Diagnostic::error(format!("Error fetching encryption method {kind:?}"), detail)
                    .at(part.header)
                    .into())
            }
        }
    }

    fn aad(&self, part: &EncryptionPart, body: &Body) -> Result<Vec<u8>, Diagnostics> {
        let settings = self.settings("method", part, body, &[("aad", Type::list(Type::Number))])?;
        let Some(value) = settings.get("aad") else { return Ok(Vec::new()) };
        bytes(value).ok_or_else(|| {
            let detail = "Each element of \"aad\" must be a whole number from 0 to 255.";
            Diagnostic::error("Invalid method configuration", detail).at(part.header).into()
        })
    }

    /// The keys that an argument names, and the other arguments.
    fn keys_of(
        &self,
        part: &EncryptionPart,
        argument: &str,
        on_the_way: &mut Vec<String>,
    ) -> Result<(Option<KeySource>, Body), Diagnostics> {
        let (content, rest, found) = part.config.partial_content(&BodySchema::new().optional(argument));
        if found.has_errors() {
            return Err(found);
        }
        let Some(attribute) = content.attr(argument) else { return Ok((None, rest)) };
        let expr = &attribute.expr;
        let source = match reference(expr) {
            Some((kind, name)) => self.key_provider(&kind, &name, expr, on_the_way)?,
            None => self.given_keys(expr, on_the_way)?,
        };
        let mut names = source.names();
        names.sort_unstable();
        if let Some([twice, ..]) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let detail = format!(
                "The metadata key {twice} is duplicated across multiple key providers for the same method; use the \
                 encrypted_metadata_alias option to give each a name of its own."
            );
            return Err(Diagnostic::error("Duplicate metadata key", detail).at(expr.span).into());
        }
        Ok((Some(source), rest))
    }

    /// Keys that stand in the configuration themselves, or the name of a key provider in quotes.
    fn given_keys(&self, expr: &Expr, on_the_way: &mut Vec<String>) -> Result<KeySource, Diagnostics> {
        let chain = ModuleChain { module: self.root, caller: None };
        let (value, found) = self.scope.evaluate(&chain, expr, "encryption");
        if found.has_errors() {
            return Err(found);
        }
        let value = value.unmark_deep().0;
        let named = value.as_str().and_then(|text| {
            let mut parts = text.strip_prefix("key_provider.")?.split('.');
            Some((parts.next()?, parts.next()?)).filter(|_| parts.next().is_none())
        });
        if let Some((kind, name)) = named {
            return self.key_provider(kind, name, expr, on_the_way);
        }
        let Some(entries) = value.as_entries() else {
            let detail = "Expected a key_provider compatible value.";
            return Err(Diagnostic::error("Expected key_provider value", detail).at(expr.span).into());
        };
        let key = |name: &str| entries.get(name).and_then(bytes).filter(|key| !key.is_empty()).map(Key::new);
        let encryption = key("encryption_key").ok_or_else(|| {
            let detail = "An encryption_key value is required in the key_provider compatible object at this location.";
            Diagnostic::error("Missing encryption_key value", detail).at(expr.span)
        })?;
        Ok(KeySource::Given { encryption, decryption: key("decryption_key") })
    }

    fn key_provider(
        &self,
        kind: &str,
        name: &str,
        expr: &Expr,
        on_the_way: &mut Vec<String>,
    ) -> Result<KeySource, Diagnostics> {
        let part = find(&self.block.key_providers, kind, name).ok_or_else(|| {
            let detail = format!("There is no key_provider {kind:?} {name:?} block declared in the encryption block.");
            Diagnostic::error("Reference to undeclared key provider", detail).at(expr.span)
        })?;
        let address = format!("key_provider.{kind}.{name}");
        if on_the_way.contains(&address) {
            on_the_way.push(address.clone());
            let detail = format!(
                "Cannot load {address} due to circular reference between key providers. Stack trace {}",
                on_the_way.join(" -> ")
            );
            return Err(Diagnostic::error("Circular reference detected", detail).at(expr.span).into());
        }
        on_the_way.push(address.clone());
        let meta = part.metadata_alias.as_ref().map_or(address, ToString::to_string);
        match kind {
            "pbkdf2" => self.passphrase(part, meta, on_the_way),
            "external" => {
                let known = [("command", Type::list(Type::String))];
                let settings = self.settings("key_provider", part, &part.config, &known)?;
                let words = words(&settings, "command").ok_or_else(|| missing("command", part))?;
                if words.is_empty() {
                    return Err(unbuilt(&meta, "the command option is required"));
                }
                Ok(KeySource::External { meta, program: self.program(part, words)? })
            }
            _ => Err(no_such_provider(part)),
        }
    }

    fn passphrase(
        &self,
        part: &EncryptionPart,
        meta: String,
        on_the_way: &mut Vec<String>,
    ) -> Result<KeySource, Diagnostics> {
        let (chain, rest) = self.keys_of(part, "chain", on_the_way)?;
        let numbers = ["key_length", "iterations", "salt_length"].map(|name| (name, Type::Number));
        let texts = ["passphrase", "hash_function"].map(|name| (name, Type::String));
        let known: Vec<(&str, Type)> = numbers.into_iter().chain(texts).collect();
        let settings = self.settings("key_provider", part, &rest, &known)?;
        let refused = |why: &dyn std::fmt::Display| unbuilt(&meta, &why.to_string());
        let text = |name: &str| settings.get(name).and_then(|value| value.as_str().map(str::to_owned));
        let secret = match (chain, text("passphrase").filter(|text| !text.is_empty())) {
            (Some(chain), None) => Secret::Chained(Box::new(chain)),
            (None, Some(passphrase)) => Secret::Text(passphrase),
            (None, None) => return Err(refused(&"no passphrase provided and no chained provider defined")),
            (Some(_), Some(_)) => return Err(refused(&"passphrase and chain are mutually exclusive")),
        };
        // What is wrong with a passphrase of one's own is said now, not when it is needed.
        let first = match &secret {
            Secret::Text(text) => text.clone().into_bytes(),
            Secret::Chained(_) => vec![0; 32],
        };
        let mut shape = Passphrase::new(first).map_err(|error| refused(&error))?;
        let whole = |name: &str| match settings.get(name) {
            None => Ok(None),
            Some(value) => match value.as_number().and_then(Number::to_usize) {
                Some(number) if number > 0 => Ok(Some(number)),
                _ => Err(refused(&format!("{name} must be a whole number larger than zero"))),
            },
        };
        shape.key_length = whole("key_length")?.unwrap_or(shape.key_length);
        shape.salt_length = whole("salt_length")?.unwrap_or(shape.salt_length);
        if let Some(iterations) = whole("iterations")? {
            shape.iterations = u32::try_from(iterations).map_err(|_| refused(&"there are too many iterations"))?;
        }
        if let Some(name) = text("hash_function") {
            shape.hash = HashFunction::parse(&name).map_err(|error| refused(&error))?;
        }
        shape.new_meta(&mut |_| ()).map_err(|error| refused(&error))?;
        Ok(KeySource::Passphrase { meta, secret, shape })
    }

    /// The arguments of a block, by name. Secrets are allowed here, and go nowhere else.
    fn settings(
        &self,
        block: &str,
        part: &EncryptionPart,
        body: &Body,
        known: &[(&str, Type)],
    ) -> Result<BTreeMap<Str, Value>, Diagnostics> {
        let attribute = |ty: &Type| Attribute { optional: true, ..Attribute::of_type(ty.clone()) };
        let attributes = known.iter().map(|(name, ty)| (Str::from(*name), attribute(ty))).collect();
        let schema = Schema { attributes, ..Schema::default() };
        let chain = ModuleChain { module: self.root, caller: None };
        let subject = format!("encryption.{block}.{}.{}", part.kind, part.name);
        let (value, diagnostics) = self.scope.decode(&chain, body, &schema, &subject);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let value = value.unmark_deep().0;
        let entries = value.as_entries().into_iter().flat_map(Entries::iter);
        let given = entries.filter(|(_, value)| !value.is_null() && value.is_wholly_known());
        Ok(given.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

fn find<'p>(parts: &'p [EncryptionPart], kind: &str, name: &str) -> Option<&'p EncryptionPart> {
    parts.iter().find(|part| part.kind == *kind && part.name == *name)
}

/// The key provider that an expression names: `key_provider.pbkdf2.mine`, or the same in quotes where that is the syntax.
fn reference(expr: &Expr) -> Option<(Str, Str)> {
    let expr = match &expr.kind {
        ExprKind::TemplateWrap(inner) | ExprKind::Parens(inner) => inner,
        _ => expr,
    };
    let traversal = expr.as_traversal().ok().filter(|found| found.root.name == *"key_provider")?;
    match traversal.steps.as_slice() {
        [Step::Attr { name: kind, .. }, Step::Attr { name, .. }] => Some((kind.clone(), name.clone())),
        _ => None,
    }
}

fn words(settings: &BTreeMap<Str, Value>, name: &str) -> Option<Vec<String>> {
    let elements = settings.get(name)?.as_elements()?;
    Some(elements.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect())
}

/// Numbers as bytes. None if any is none.
fn bytes(value: &Value) -> Option<Vec<u8>> {
    let byte = |value: &Value| value.as_number().and_then(Number::to_usize).and_then(|it| u8::try_from(it).ok());
    value.as_elements()?.iter().map(byte).collect()
}

fn missing(name: &str, part: &EncryptionPart) -> Diagnostic {
    let detail = format!("The argument {name:?} is required, but no definition was found.");
    Diagnostic::error("Missing required argument", detail).at(part.header)
}

/// Without its text: a passphrase may stand in the same line.
fn unbuilt(meta: &str, why: &str) -> Diagnostics {
    Diagnostic::error("Unable to build encryption key data", format!("{meta} failed with error: {why}.")).into()
}

/// Keys of a length that is known are complained about at once.
fn check_length(keys: &KeySource, part: &EncryptionPart) -> Result<(), Diagnostics> {
    match keys.key_length() {
        None | Some(16 | 24 | 32) => Ok(()),
        Some(length) => {
            let detail = format!("invalid method configuration: {}.", EncryptionError::KeyLength(length));
            Err(Diagnostic::error("Invalid method configuration", detail).at(part.header).into())
        }
    }
}

fn no_such_provider(part: &EncryptionPart) -> Diagnostics {
    let kind = part.kind.as_str();
    let instead = match kind {
        "aws_kms" | "gcp_kms" | "azure_vault" | "openbao" => {
            "groma does not speak to this service itself: use a key provider \"external\" with a program that does, or \"pbkdf2\" \
             with a passphrase that is kept there"
        }
        _ => "There are \"pbkdf2\" and \"external\"",
    };
    let detail = format!("Key provider with ID {kind} not found. {instead}.");
    Diagnostic::error(format!("Error fetching key_provider {kind:?}"), detail).at(part.header).into()
}

/// Why a method cannot be read with.
fn broken(part: &EncryptionPart, problems: &Diagnostics) -> EncryptionError {
    let said: Vec<String> = problems
        .iter()
        .map(|problem| format!("{}: {}", problem.summary, problem.detail.trim_end_matches('.')))
        .collect();
    EncryptionError::Method { why: format!("method.{}.{}: {}", part.kind, part.name, said.join("; ")) }
}
