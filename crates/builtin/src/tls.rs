//! The `tls` provider: private keys, certificates and requests for them, made here without anybody's help.

mod certificate;
mod common;
mod curve;
mod der;
mod fetch;
mod issue;
mod key;
mod locally_signed;
mod name;
mod pem;
mod private_key;
mod public_key;
mod random;
mod request;
mod self_signed;
mod settings;
mod ssh;
mod subject;
mod usage;
mod x509;

#[cfg(test)]
mod tests;

use groma_provider::api::Effects;
use std::sync::Arc;

use crate::kit::Builtin;
use crate::kit::InProcess;
use crate::kit::outside::Outside;

/// What it is in the registry.
pub(crate) const BUILTIN: Builtin = Builtin {
    name: "tls",
    namespace: groma_model::address::DEFAULT_NAMESPACE,
    host: groma_model::address::DEFAULT_HOST,
    version: Some("4.5.0"),
    effects: Effects::Repeatable,
    make: provider,
};

/// The provider.
fn provider(outside: &Outside) -> InProcess {
    let settings = Arc::new(settings::Settings::new(outside));
    let randomness = &outside.randomness;
    InProcess::new(BUILTIN.address().to_string())
        .configured_by(settings::TlsProvider(settings.clone()))
        .resource(private_key::PrivateKeyResource(randomness.clone()))
        .resource(request::CertRequest)
        .resource(self_signed::SelfSignedCert(outside.clone()))
        .resource(locally_signed::LocallySignedCert(outside.clone()))
        .data_source(public_key::PublicKeyData)
        .data_source(certificate::CertificateData(settings))
        .ephemeral(private_key::PrivateKeyEphemeral(randomness.clone()))
        .ephemeral(public_key::PublicKeyEphemeral)
}
