//! `tls_self_signed_cert`: a certificate that signs itself.

use async_trait::async_trait;
use groma_model::diag::Diagnostics;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::common::PEM;
use super::issue::{self, Parties};
use super::subject;
use crate::kit::outside::Outside;
use crate::kit::spec::{computed, optional_computed};
use crate::kit::{Call, Failed, Object, Planned, Resource, Spec};

/// The resource.
pub(super) struct SelfSignedCert(pub(super) Outside);

#[async_trait]
impl Resource for SelfSignedCert {
    fn type_name(&self) -> &'static str {
        "tls_self_signed_cert"
    }

    fn spec(&self) -> Spec {
        let spec = Spec::new()
            .markdown(&format!("A **self-signed** certificate in {PEM} format."))
            .attr(
                "set_authority_key_id",
                optional_computed(Type::Bool)
                    .default(false)
                    .replace()
                    .doc("Whether the certificate has an authority key identifier (default: `false`)."),
            )
            .attr("key_algorithm", computed(Type::String).keep().doc("Algorithm of the private key."));
        subject::with_subject(issue::with_certificate(issue::with_private_key(spec, "")))
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        issue::check_key_choice(config, "")
    }

    async fn plan(&self, plan: &mut Planned, call: &mut Call) {
        call.diagnostics.extend(issue::plan_renewal(plan, self.0.clock.now()).err());
    }

    async fn create(&self, mut planned: Object, config: &Object, _: &mut Call) -> Result<Object, Failed> {
        let key = issue::given_key(&planned, config, "")?;
        planned.set("key_algorithm", Value::string(key.algorithm().name()));
        let names = subject::alternative_names(&planned)?;
        let parties = Parties {
            subject: &subject::name(&planned),
            names: &names,
            public_key: &key.public_key(),
            issuer: None,
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
        subject::mend_old(object);
        issue::mend_old(object, "");
    }
}
