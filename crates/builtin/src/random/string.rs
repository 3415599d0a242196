//! `random_string`.

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};

use super::{drawn, kept, text};
use crate::chance::Chance;
use crate::kit::{Call, Failed, JsonObject, Object, Planned, Resource, Spec};

pub(super) struct RandomString(pub(super) Chance);

#[async_trait]
impl Resource for RandomString {
    fn type_name(&self) -> &'static str {
        "random_string"
    }

    fn spec(&self) -> Spec {
        let about = "Characters at random, which are shown: secrets are for `random_password`. Nobody can guess them.";
        let spec = kept().version(2).doc(about);
        text::stored_wishes(spec).attr("result", drawn("The characters.")).attr("id", drawn("The characters."))
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        text::validate(config)
    }

    async fn plan(&self, plan: &mut Planned, call: &mut Call) {
        text::plan(plan, call);
    }

    async fn create(&self, mut planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        let text = text::draw(&self.0, &planned)?;
        planned.set("id", text.as_str());
        planned.set("result", text);
        Ok(planned)
    }

    async fn import(&self, id: &str, mut object: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        text::imported(&mut object, id);
        object.set("id", id);
        Ok(object)
    }

    fn upgrade(&self, _: i64, object: &mut JsonObject) -> Result<i64, Diagnostic> {
        text::complete(object);
        Ok(2)
    }
}
