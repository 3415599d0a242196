//! `random_pet`: names that people can say. The words are our own.

use async_trait::async_trait;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::words::{ADJECTIVES, ADVERBS, ANIMALS};
use super::{amount, drawn, kept};
use crate::chance::Chance;
use crate::kit::spec::{optional, optional_computed};
use crate::kit::{Call, Failed, Object, Resource, Spec};

pub(super) struct Pet(pub(super) Chance);

#[async_trait]
impl Resource for Pet {
    fn type_name(&self) -> &'static str {
        "random_pet"
    }

    fn spec(&self) -> Spec {
        kept()
            .doc(
                "The resource `random_pet` generates random pet names that are intended to be used as unique \
                 identifiers for other resources.\n\nThis resource can be used in conjunction with resources that have \
                 the `create_before_destroy` lifecycle flag set, to avoid conflicts with unique names during the brief \
                 period where both the old and new resources exist concurrently.",
            )
            .attr(
                "length",
                optional_computed(Type::Number)
                    .doc("The length (in words) of the pet name. Defaults to 2")
                    .default(Value::from(2))
                    .replace(),
            )
            .attr("prefix", optional(Type::String).doc("A string to prefix the name with.").replace())
            .attr(
                "separator",
                optional_computed(Type::String)
                    .doc("The character to separate words in the pet name. Defaults to \"-\"")
                    .default("-")
                    .replace(),
            )
            .attr("id", drawn("The random pet name."))
    }

    async fn create(&self, mut planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        let length = amount(planned.int("length"), "length")?;
        let mut words: Vec<&str> = Vec::new();
        words.extend(planned.text("prefix").filter(|prefix| !prefix.is_empty()));
        let mut draw = |list: &'static [&'static str]| {
            self.0.one_of(list).map(|word| words.push(word.copied().unwrap_or_default()))
        };
        for _ in 2..length {
            draw(&ADVERBS)?;
        }
        if length != 1 {
            draw(&ADJECTIVES)?;
        }
        draw(&ANIMALS)?;
        let name = words.join(planned.text("separator").unwrap_or_default());
        planned.set("id", name);
        Ok(planned)
    }
}
