//! `random_shuffle`: strings in any order.

use async_trait::async_trait;
use groma_model::diag::Diagnostic;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::go_rand::GoRand;
use super::{FIXED_ID_DOC, amount, drawn, kept};
use crate::chance::Chance;
use crate::kit::spec::{computed, optional, required};
use crate::kit::{Call, Failed, Object, Resource, Spec};

pub(super) struct Shuffle(pub(super) Chance);

#[async_trait]
impl Resource for Shuffle {
    fn type_name(&self) -> &'static str {
        "random_shuffle"
    }

    fn spec(&self) -> Spec {
        let seed = "The same seed puts the same strings into the same order. Other programs, and other versions of \
                    this one, may give another order.";
        let count = "How many strings there are in the result; by default as many as in `input`. Fewer leave some \
                     out. More begin again with all of them when all are used up.";
        kept()
            .doc("Strings of a list in any order.")
            .attr("seed", optional(Type::String).doc(seed).replace())
            .attr("input", required(Type::list(Type::String)).doc("The strings.").replace())
            .attr("result_count", optional(Type::Number).doc(count).replace())
            .attr("result", computed(Type::list(Type::String)).doc("The strings in the order that was drawn.").keep())
            .attr("id", drawn(FIXED_ID_DOC))
    }

    async fn create(&self, mut planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        let input = planned.get("input");
        let input = input.as_elements().unwrap_or_default();
        let wanted = match amount(planned.int("result_count"), "result_count")? {
            0 => input.len(),
            wanted => wanted,
        };
        let mut go = planned.text("seed").filter(|seed| !seed.is_empty()).map(GoRand::seeded);
        let mut result: Vec<Value> = Vec::new();
        while result.len() < wanted && !input.is_empty() {
            let order = self.order(go.as_mut(), input.len())?;
            let missing = wanted - result.len();
            result.extend(order.into_iter().take(missing).filter_map(|at| input.get(at).cloned()));
        }
        planned.set("result", Value::list(Type::String, result));
        planned.set("id", "-");
        Ok(planned)
    }
}

impl Shuffle {
    fn order(&self, go: Option<&mut GoRand>, count: usize) -> Result<Vec<usize>, Diagnostic> {
        if let Some(go) = go {
            return Ok(go.permutation(count));
        }
        let mut order: Vec<usize> = (0..count).collect();
        self.0.shuffle(&mut order)?;
        Ok(order)
    }
}
