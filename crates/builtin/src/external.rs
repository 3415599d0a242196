//! The `external` provider: a data source whose values a program gives.

use async_trait::async_trait;
use groma_model::address::{DEFAULT_HOST, DEFAULT_NAMESPACE};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::Effects;

use crate::exec::{self, ExecError, Finished, Program, shown_status};
use crate::kit::Builtin;
use crate::kit::checks::size_at_least;
use crate::kit::outside::Outside;
use crate::kit::spec::{computed, optional, required};
use crate::kit::{Call, DataSource, InProcess, Object, Spec};

#[cfg(test)]
mod tests;

/// What it is in the registry.
pub(crate) const BUILTIN: Builtin = Builtin {
    name: "external",
    namespace: DEFAULT_NAMESPACE,
    host: DEFAULT_HOST,
    version: Some("2.4.2"),
    effects: Effects::Outside,
    make,
};

fn make(outside: &Outside) -> InProcess {
    InProcess::new(BUILTIN.address().to_string()).data_source(External(outside.clone()))
}

/// The data source.
struct External(Outside);

#[async_trait]
impl DataSource for External {
    fn type_name(&self) -> &'static str {
        "external"
    }

    fn spec(&self) -> Spec {
        let program = "The program and its arguments. No shell is involved, so nothing needs quotes.";
        let query = "What the program gets to read, as a JSON object of texts.";
        Spec::new()
            .doc("Values that a program gives: it reads a JSON object of texts and writes one.")
            .attr("program", required(Type::list(Type::String)).check(size_at_least(1)).doc(program))
            .attr("working_dir", optional(Type::String).doc("Where the program runs: by default, where groma runs."))
            .attr("query", optional(Type::map(Type::String)).doc(query))
            .attr("result", computed(Type::map(Type::String)).doc("What the program wrote."))
            .attr("id", computed(Type::String).doc("Always `-`."))
    }

    async fn read(&self, mut config: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        let words = config.texts("program").unwrap_or_default();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let Some((name, arguments)) = words.split_first() else {
            let detail = "The data source was configured without a program to execute. Verify the configuration \
                          contains at least one non-empty value.";
            return Err(failed("External Program Missing", detail.to_owned()).into());
        };
        let program = Program { name, arguments, directory: config.text("working_dir"), input: Some(&query(&config)) };
        let done = exec::run(&program, &self.0, call).await.map_err(|error| not_run(name, &error))?;
        let result = result(name, &done)?;
        config.set("result", result);
        config.set("id", Value::string("-"));
        Ok(config)
    }
}

fn failed(summary: &str, detail: String) -> Diagnostic {
    Diagnostic::error(summary, detail).at_path(Path::root().attr("program"))
}

fn not_run(name: &str, error: &ExecError) -> Diagnostic {
    let (summary, doing) = match error {
        ExecError::NotFound(..) => ("External Program Lookup Failed", "find"),
        _ => ("External Program Execution Failed", "execute"),
    };
    let detail = format!(
        "The data source received an unexpected error while attempting to {doing} the program.\n\n\
         Program: {name}\nError: {error}"
    );
    failed(summary, detail)
}

/// Values that are null are empty texts to the program.
fn query(config: &Object) -> Vec<u8> {
    let given = config.get("query");
    let entries = given.as_entries().into_iter().flat_map(groma_model::value::Entries::iter);
    let object: serde_json::Map<String, serde_json::Value> =
        entries.map(|(name, value)| (name.to_string(), value.as_str().unwrap_or_default().into())).collect();
    serde_json::Value::Object(object).to_string().into_bytes()
}

fn result(name: &str, done: &Finished) -> Result<Value, Diagnostic> {
    if !done.status.success() {
        let said = if done.stderr.is_empty() {
            "\n\nThe program was executed, however it returned no additional error messaging.".to_owned()
        } else {
            format!("\n\nError Message: {}", String::from_utf8_lossy(&done.stderr))
        };
        let detail = format!(
            "The data source received an unexpected error while attempting to execute the program.{said}\n\n\
             Program: {name}\nState: {}",
            shown_status(done.status)
        );
        return Err(failed("External Program Execution Failed", detail));
    }
    let parsed: Result<std::collections::BTreeMap<String, Option<String>>, _> = serde_json::from_slice(&done.stdout);
    let parsed = parsed.map_err(|error| {
        let detail = format!(
            "The data source received unexpected results after executing the program.\n\n\
             Program output must be a JSON encoded map of string keys and string values.\n\n\
             Program: {name}\nResult Error: {error}"
        );
        failed("Unexpected External Program Results", detail)
    })?;
    let entries = parsed.into_iter().map(|(key, text)| (key, Value::string(text.unwrap_or_default()))).collect();
    Ok(Value::map(Type::String, entries))
}
