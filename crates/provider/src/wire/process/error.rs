//! Why a plugin could not be started, in words for people.

use std::io;
use std::path::{Path, PathBuf};

use groma_model::diag::Diagnostic;

use super::program;
use crate::wire::handshake::HandshakeError;
use crate::wire::tls::TlsError;

/// Why a plugin could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program could not be run.
    #[error("could not run {}: {reason}", program.display())]
    Spawn {
        /// How the provider is named.
        name: String,
        /// The program.
        program: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It ended without a handshake.
    #[error("{} {status} before it was ready", program.display())]
    Ended {
        /// How the provider is named.
        name: String,
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: String,
        /// What it printed last.
        last_output: Vec<String>,
    },
    /// It did not get ready in time.
    #[error("{name} was not ready after {seconds} s")]
    Timeout {
        /// How the provider is named.
        name: String,
        /// How long we waited.
        seconds: u64,
        /// What it printed last.
        last_output: Vec<String>,
    },
    /// It printed something else.
    #[error("{name} is not a provider plugin that can be used: {source}")]
    Handshake {
        /// How the provider is named.
        name: String,
        /// What is wrong.
        source: HandshakeError,
        /// What it printed last.
        last_output: Vec<String>,
    },
    /// Certificates cannot be made or used.
    #[error("no secure connection to {name} can be made: {source}")]
    Tls {
        /// How the provider is named.
        name: String,
        /// Why.
        source: TlsError,
    },
    /// It cannot be reached.
    #[error("could not connect to {name}: {message}")]
    Connect {
        /// How the provider is named.
        name: String,
        /// Why.
        message: String,
        /// What it printed last.
        last_output: Vec<String>,
    },
}

impl StartError {
    pub(super) fn spawn(name: &str, program: &Path, source: io::Error) -> Self {
        let reason = program::diagnose(program, &source).unwrap_or_else(|| source.to_string());
        Self::Spawn { name: name.to_owned(), program: program.to_owned(), reason, source }
    }

    /// Which provider it is about.
    pub fn provider(&self) -> &str {
        match self {
            Self::Spawn { name, .. }
            | Self::Ended { name, .. }
            | Self::Timeout { name, .. }
            | Self::Handshake { name, .. }
            | Self::Tls { name, .. }
            | Self::Connect { name, .. } => name,
        }
    }

    /// What the plugin printed last.
    pub fn last_output(&self) -> &[String] {
        match self {
            Self::Ended { last_output, .. }
            | Self::Timeout { last_output, .. }
            | Self::Handshake { last_output, .. }
            | Self::Connect { last_output, .. } => last_output,
            Self::Spawn { .. } | Self::Tls { .. } => &[],
        }
    }

    /// The error as people are told.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut detail = format!("{self}.");
        if !self.last_output().is_empty() {
            detail.push_str("\n\nIts last output was:\n");
            detail.push_str(&self.last_output().join("\n"));
        }
        Diagnostic::error(format!("Failed to instantiate provider \"{}\"", self.provider()), detail)
    }
}
