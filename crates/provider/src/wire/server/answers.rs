//! What the handlers have in common: values in and out, and errors of the transport.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::value::Value;
use tonic::Status;

use super::offer::{Typed, Types};
use crate::api::CallError;
use crate::wire::convert::{self, ConvertError};
use crate::wire::generated::tfplugin as wire;

/// An answer, or why there is none.
pub(super) type Answered<T> = Result<T, Status>;

/// What a call that gave nothing looks like to a host.
pub(super) fn refused(error: CallError) -> Status {
    let message = error.to_string();
    match error {
        CallError::Unsupported { .. } => Status::unimplemented(message),
        CallError::Cancelled { .. } => Status::cancelled(message),
        _ => Status::internal(message),
    }
}

/// The request does not fit.
pub(super) fn unfit(error: ConvertError) -> Status {
    Status::invalid_argument(error.to_string())
}

/// The provider's own answer does not fit.
pub(super) fn malformed(error: ConvertError) -> Status {
    Status::internal(format!("the provider gave an answer that does not fit its own schema: {error}"))
}

/// The schema of a type that the host asks about.
pub(super) fn find<'a>(types: &'a Types, kind: &str, name: &str) -> Answered<&'a Typed> {
    types.get(name).ok_or_else(|| Status::invalid_argument(format!("this provider has no {kind} {name:?}")))
}

/// One error as diagnostics.
pub(super) fn error(summary: &str, detail: String) -> Vec<wire::Diagnostic> {
    let diagnostics: Diagnostics = std::iter::once(Diagnostic::error(summary, detail)).collect();
    convert::diagnostics_to_wire(&diagnostics)
}

impl Typed {
    /// A value that the host sent.
    pub(super) fn take(&self, value: Option<wire::DynamicValue>) -> Answered<Value> {
        convert::from_wire(value, &self.ty).map_err(unfit)
    }

    /// A value for the host.
    pub(super) fn give(&self, value: &Value) -> Answered<Option<wire::DynamicValue>> {
        let encoded = match &self.with_write_only {
            Some(block) => convert::to_wire(&convert::without_write_only(block, value), &self.ty),
            None => convert::to_wire(value, &self.ty),
        };
        encoded.map(Some).map_err(malformed)
    }

    /// An identity that the host sent.
    pub(super) fn take_identity(&self, identity: Option<wire::ResourceIdentityData>) -> Answered<Option<Value>> {
        match &self.identity {
            Some(ty) => convert::identity_from_wire(identity, ty).map_err(unfit),
            None => Ok(None),
        }
    }

    /// An identity for the host. One that is not known yet is not sent at all: OpenTofu cannot store it in its plan.
    pub(super) fn give_identity(&self, identity: Option<&Value>) -> Answered<Option<wire::ResourceIdentityData>> {
        match (&self.identity, identity) {
            (Some(ty), Some(identity)) if identity.is_wholly_known() => {
                convert::identity_to_wire(identity, ty).map(Some).map_err(malformed)
            }
            _ => Ok(None),
        }
    }
}
