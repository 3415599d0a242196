//! `tls_locally_signed_cert`: a certificate for a request, signed by an authority whose key is at hand.

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::common::{PEM, was_pem};
use super::issue::{self, Parties};
use super::pem;
use super::x509::{Certificate, Request};
use crate::kit::outside::Outside;
use crate::kit::spec::{Replace, computed, required};
use crate::kit::{Call, Failed, Object, Planned, Resource, Spec};

/// The resource.
pub(super) struct LocallySignedCert(pub(super) Outside);

#[async_trait]
impl Resource for LocallySignedCert {
    fn type_name(&self) -> &'static str {
        "tls_locally_signed_cert"
    }

    fn spec(&self) -> Spec {
        let block = |about: &str| {
            let doc = format!("{about} in {PEM} format.");
            required(Type::String).replace_when(Replace::If(was_pem)).doc(&doc)
        };
        let spec = Spec::new()
            .markdown(&format!(
                "A certificate in {PEM} format for a request (CSR), signed by a (local) authority (CA)."
            ))
            .attr("ca_cert_pem", block("The certificate of the authority (CA)"))
            .attr("cert_request_pem", block("The certificate request"))
            .attr(
                "ca_key_algorithm",
                computed(Type::String).keep().doc("Algorithm of the private key of the authority."),
            );
        issue::with_certificate(issue::with_private_key(spec, "ca_"))
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        issue::check_key_choice(config, "ca_")
    }

    async fn plan(&self, plan: &mut Planned, call: &mut Call) {
        call.diagnostics.extend(issue::plan_renewal(plan, self.0.clock.now()).err());
    }

    async fn create(&self, mut planned: Object, config: &Object, call: &mut Call) -> Result<Object, Failed> {
        let failed = |what: &str, why: String| Diagnostic::error(format!("Failed to parse {what} PEM"), why);
        let bytes = block(planned.text("cert_request_pem"), "CERTIFICATE REQUEST")
            .map_err(|why| failed("certificate request", why))?;
        let request = Request::read(&bytes)
            .map_err(|why| failed("certificate request", format!("failed to parse certificate request: {why}")))?;
        let key = issue::given_key(&planned, config, "ca_")?;
        planned.set("ca_key_algorithm", Value::string(key.algorithm().name()));
        let bytes = block(planned.text("ca_cert_pem"), "CERTIFICATE").map_err(|why| failed("CA certificate", why))?;
        let authority = Certificate::read(&bytes)
            .map_err(|why| failed("CA certificate", format!("failed to parse certificate: {why}")))?;
        if !authority.is_ca {
            call.diagnostics.push(Diagnostic::warning(
                "Potentially Invalid Certificate Authority",
                "Certificate provided as Authority does not appear to be a valid Certificate Authority. The resulting \
                 certificate might fail certificate validation.",
            ));
        }
        let parties = Parties {
            subject: &request.subject.without_others(),
            names: &request.names,
            public_key: &request.public_key,
            issuer: Some(&authority),
            key: &key,
        };
        issue::issue(&mut planned, &parties, &self.0)?;
        planned.set("ready_for_renewal", Value::bool(false));
        Ok(planned)
    }

    async fn read(&self, mut object: Object, _: &mut Call) -> Result<Option<Object>, Diagnostics> {
        issue::read_renewal(&mut object, self.0.clock.now())?;
        Ok(Some(object))
    }

    fn mend(&self, object: &mut Object) {
        issue::mend_old(object, "ca_");
    }
}

/// What is inside the first block of a text, which must be of one kind.
fn block(text: Option<&str>, label: &str) -> Result<Vec<u8>, String> {
    let found = pem::decode(text.unwrap_or_default());
    let found = found.ok_or_else(|| format!("failed to decode PEM of expected type {label:?} from bytes"))?;
    if found.label == label {
        Ok(found.bytes)
    } else {
        Err(format!("invalid PEM type - expected {label:?}, got {:?}", found.label))
    }
}
