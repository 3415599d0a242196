//! `random_shuffle`: strings in any order.

use async_trait::async_trait;
use groma_model::diag::Diagnostic;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::go_rand::GoRand;
use super::{amount, drawn, kept};
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
        let seed = "Arbitrary string with which to seed the random number generator, in order to produce less-volatile \
                    permutations of the list.\n\n**Important:** Even with an identical seed, it is not guaranteed that \
                    the same permutation will be produced across different versions of Terraform. This argument causes \
                    the result to be *less volatile*, but not fixed for all time.";
        let count = "The number of results to return. Defaults to the number of items in the `input` list. If fewer \
                     items are requested, some elements will be excluded from the result. If more items are requested, \
                     items will be repeated in the result but not more frequently than the number of items in the \
                     input list.";
        let internal = "A static value used internally by Terraform, this should not be referenced in configurations.";
        kept()
            .doc(
                "The resource `random_shuffle` generates a random permutation of a list of strings given as an \
                 argument.",
            )
            .attr("seed", optional(Type::String).doc(seed).replace())
            .attr("input", required(Type::list(Type::String)).doc("The list of strings to shuffle.").replace())
            .attr("result_count", optional(Type::Number).doc(count).replace())
            .attr(
                "result",
                computed(Type::list(Type::String))
                    .doc("Random permutation of the list of strings given in `input`.")
                    .keep(),
            )
            .attr("id", drawn(internal))
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
