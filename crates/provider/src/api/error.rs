//! Why a call gave no answer at all. Errors that a provider reports itself are diagnostics.

use groma_model::diag::Diagnostic;
use groma_model::text::Str;

use super::SchemaError;

/// Why a call gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The provider process ended, or cannot be reached any more.
    #[error("{provider} is gone: {message}")]
    Gone {
        /// Which provider.
        provider: String,
        /// Which call it did not answer.
        call: &'static str,
        /// What was seen.
        message: String,
        /// What it printed last, a panic above all.
        last_output: Vec<String>,
    },
    /// It took longer than it may.
    #[error("{provider} did not answer {call} within {seconds} s")]
    Timeout {
        /// Which provider.
        provider: String,
        /// Which call.
        call: &'static str,
        /// How long we waited.
        seconds: u64,
        /// What it printed last.
        last_output: Vec<String>,
    },
    /// The call was given up because the run was.
    #[error("{call} of {provider} was cancelled")]
    Cancelled {
        /// Which provider.
        provider: String,
        /// Which call.
        call: &'static str,
    },
    /// It does not offer this.
    #[error("{provider} does not support {call} of {about}")]
    Unsupported {
        /// Which provider.
        provider: String,
        /// Which call.
        call: &'static str,
        /// For which resource type or function.
        about: Str,
    },
    /// What it speaks to was asked for something, and nobody knows what came of it.
    #[error("{message}")]
    Unanswered {
        /// Which provider.
        provider: String,
        /// What was asked, and what went wrong.
        message: String,
    },
    /// It refused the call with an error of the transport.
    #[error("{provider} refused {call}: {message}")]
    Refused {
        /// Which provider.
        provider: String,
        /// Which call.
        call: &'static str,
        /// What it said.
        message: String,
    },
    /// What was to be asked does not fit the provider's schema, so it was not asked.
    #[error("{provider} cannot be asked for {call}: {message}")]
    Unfit {
        /// Which provider.
        provider: String,
        /// Which call.
        call: &'static str,
        /// What does not fit.
        message: String,
    },
    /// The answer does not fit the provider's own schema.
    #[error("{provider} gave an answer to {call} that does not fit its schema: {message}")]
    Malformed {
        /// Which provider.
        provider: String,
        /// Which call.
        call: &'static str,
        /// What does not fit.
        message: String,
    },
    /// One of its schemas cannot be used.
    #[error("{provider}: {source}")]
    Schema {
        /// Which provider.
        provider: String,
        /// What is wrong.
        source: SchemaError,
    },
}

impl CallError {
    /// The error as people are told. Summaries are those that users of Terraform know.
    pub fn diagnostic(&self) -> Diagnostic {
        let detail = match self {
            Self::Gone { call, last_output, .. } => format!(
                "{self}\n\nThe plugin encountered an error, and failed to respond to the {call} call.{}",
                shown_output(last_output)
            ),
            Self::Timeout { last_output, .. } => format!("{self}.{}", shown_output(last_output)),
            Self::Unanswered { message, .. } => message.clone(),
            _ => format!("{self}."),
        };
        let summary = match self {
            Self::Gone { .. } | Self::Timeout { .. } => "Plugin did not respond",
            Self::Cancelled { .. } => "Request cancelled",
            Self::Unanswered { .. } => "Answer was lost",
            Self::Unsupported { .. } => "Unsupported plugin method",
            Self::Refused { .. } => "Plugin error",
            Self::Unfit { .. } => "Value does not fit the provider's schema",
            Self::Malformed { .. } => "Provider produced an invalid answer",
            Self::Schema { .. } => "Provider has an invalid schema",
        };
        Diagnostic::error(summary, detail)
    }
}

fn shown_output(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("\n\nIts last output was:\n{}", lines.join("\n"))
}
