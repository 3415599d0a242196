//! What the language asks providers while a configuration is checked: schemas, functions, and their own opinion. Plugins are
//! started when the first of them is asked something, all at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use groma_lang::builtin_schema::BuiltinSchemas;
use groma_lang::config::{ProviderSource, ResourceMode};
use groma_lang::func::{ExternalFunction, ExternalParam, FunctionError};
use groma_lang::oracle::SchemaSource;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::{FunctionSignature, Parameter, Schema};
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::{Answer, CallFunctionRequest, LazySchema, Provider};

use super::book::{ProviderAccess, ProviderBook};
use crate::online::wait_on;

/// Asks the providers of a book.
pub(crate) struct BookOracle<'a> {
    book: &'a ProviderBook,
    access: Option<&'a ProviderAccess>,
    started: OnceLock<Started>,
    /// What is wrong with providers themselves, each thing once.
    problems: Mutex<Diagnostics>,
}

type Started = BTreeMap<ProviderSource, Arc<dyn Provider>>;

impl<'a> BookOracle<'a> {
    /// Without access there are schemas only.
    pub(crate) fn new(book: &'a ProviderBook, access: Option<&'a ProviderAccess>) -> Self {
        Self { book, access, started: OnceLock::new(), problems: Mutex::default() }
    }

    /// Ends what was started, and tells what was wrong with it.
    pub(crate) fn finish(mut self) -> Diagnostics {
        self.started.take();
        if let Some(access) = self.access {
            self.book.close(&access.online);
        }
        self.take_problems()
    }

    /// What was wrong with providers themselves so far.
    pub(crate) fn take_problems(&self) -> Diagnostics {
        std::mem::take(&mut *self.problems.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn report(&self, found: Diagnostics) {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
    }

    fn decoded(&self, provider: &ProviderSource, schema: &LazySchema) -> Option<Arc<Schema>> {
        match schema.get() {
            Ok(schema) => Some(Arc::clone(schema)),
            Err(problem) => {
                let detail = format!("{}: {problem}.", provider.for_display());
                self.report(Diagnostic::error("Provider has an invalid schema", detail).into());
                None
            }
        }
    }

    /// The provider itself.
    fn provider(&self, address: &ProviderSource) -> Option<Arc<dyn Provider>> {
        let access = self.access?;
        let started = self.started.get_or_init(|| match access.online.wait(self.book.start_all()) {
            Ok((started, problems)) => {
                self.report(problems);
                started
            }
            Err(problem) => {
                self.report(problem.into());
                Started::new()
            }
        });
        started.get(address).cloned()
    }

    /// Asks a provider, if it runs. That it gives no answer is an answer, too.
    fn ask<F>(&self, address: &ProviderSource, question: impl FnOnce(Arc<dyn Provider>) -> F) -> Diagnostics
    where
        F: Future<Output = Answer<Diagnostics>>,
    {
        let (Some(provider), Some(access)) = (self.provider(address), self.access) else { return Diagnostics::new() };
        match access.online.wait(question(provider)) {
            Ok(Ok(found)) => found,
            Ok(Err(problem)) => problem.diagnostic().into(),
            Err(problem) => problem.into(),
        }
    }
}

impl SchemaSource for BookOracle<'_> {
    fn provider(&self, provider: &ProviderSource) -> Option<Arc<Schema>> {
        BuiltinSchemas.provider(provider).or_else(|| self.decoded(provider, &self.book.schema(provider)?.provider))
    }

    fn resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        if BuiltinSchemas.provider(provider).is_some() {
            return BuiltinSchemas.resource(provider, mode, kind);
        }
        let all = self.book.schema(provider)?;
        let schemas = match mode {
            ResourceMode::Managed => &all.resources,
            ResourceMode::Data => &all.data_sources,
            ResourceMode::Ephemeral => &all.ephemerals,
        };
        self.decoded(provider, schemas.get(kind)?)
    }

    fn function(&self, provider: &ProviderSource, name: &str) -> Option<Arc<ExternalFunction>> {
        let signature = self.book.schema(provider)?.functions.get(name)?;
        let running = BookOracle::provider(self, provider)?;
        let handle = self.access?.online.runtime().ok()?.handle().clone();
        Some(Arc::new(external(signature, Str::from(name), running, handle)))
    }

    fn check_resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str, config: &Value) -> Diagnostics {
        let (kind, config) = (kind.to_owned(), config.clone());
        self.ask(provider, |running| async move {
            match mode {
                ResourceMode::Managed => running.validate_resource(&kind, config).await,
                ResourceMode::Data => running.validate_data_source(&kind, config).await,
                ResourceMode::Ephemeral => running.validate_ephemeral(&kind, config).await,
            }
        })
    }

    fn check_provider(&self, provider: &ProviderSource, config: &Value) -> Diagnostics {
        let config = config.clone();
        self.ask(provider, |running| async move { running.validate_provider(config).await })
    }
}

/// A function of a provider, as expressions call it.
fn external(
    signature: &FunctionSignature,
    name: Str,
    provider: Arc<dyn Provider>,
    handle: tokio::runtime::Handle,
) -> ExternalFunction {
    let param = |parameter: &Parameter| ExternalParam {
        name: parameter.name.to_string(),
        ty: parameter.ty.clone(),
        allow_null: parameter.allow_null,
        allow_unknown: parameter.allow_unknown,
    };
    ExternalFunction {
        params: signature.parameters.iter().map(param).collect(),
        variadic: signature.variadic.as_ref().map(param),
        returns: signature.returns.clone(),
        call: Box::new(move |arguments| {
            let request = CallFunctionRequest { name: name.clone(), arguments: arguments.to_vec() };
            match wait_on(&handle, provider.call_function(request)) {
                Err(problem) => Err(FunctionError::new(problem.to_string())),
                Ok(response) => response.result.map_err(|problem| match problem.argument {
                    Some(at) => FunctionError::arg(at, problem.text),
                    None => FunctionError::new(problem.text),
                }),
            }
        }),
    }
}
