//! `tls_cert_request`: a request for a certificate.

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::common::{PEM, id_of};
use super::issue::{check_key_choice, given_key, with_private_key};
use super::subject;
use super::x509;
use crate::kit::spec::computed;
use crate::kit::{Call, Failed, Object, Resource, Spec};

/// The resource.
pub(super) struct CertRequest;

#[async_trait]
impl Resource for CertRequest {
    fn type_name(&self) -> &'static str {
        "tls_cert_request"
    }

    fn spec(&self) -> Spec {
        let spec = Spec::new()
            .markdown(&format!("A certificate signing request (CSR) in {PEM} format, to be given to an authority."))
            .attr("key_algorithm", computed(Type::String).keep().doc("Algorithm of the private key."))
            .attr(
                "cert_request_pem",
                computed(Type::String).keep().doc(&format!("The request in {PEM} format; it ends in a newline.")),
            )
            .attr("id", computed(Type::String).keep().doc("Hexadecimal SHA1 hash of the request."));
        subject::with_subject(with_private_key(spec, ""))
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        check_key_choice(config, "")
    }

    async fn create(&self, mut planned: Object, config: &Object, _: &mut Call) -> Result<Object, Failed> {
        let key = given_key(&planned, config, "")?;
        let names = subject::alternative_names(&planned)?;
        let request = x509::new_request(&subject::name(&planned), &names, &key)
            .map_err(|why| Diagnostic::error("Error creating certificate request", why))?;
        planned.set("key_algorithm", Value::string(key.algorithm().name()));
        planned.set("cert_request_pem", Value::string(super::pem::encode("CERTIFICATE REQUEST", &request)));
        planned.set("id", Value::string(id_of(&request)));
        Ok(planned)
    }

    fn mend(&self, object: &mut Object) {
        subject::mend_old(object);
    }
}
