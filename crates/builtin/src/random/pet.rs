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
        let length = optional_computed(Type::Number).doc("How many words to draw. Defaults to `2`.");
        let separator = optional_computed(Type::String).doc("Stands between the words. Defaults to `-`.");
        let prefix = optional(Type::String).doc("A word to begin with, which does not count.");
        kept()
            .doc("A name that people can say: an animal, with words before it that describe it.")
            .attr("length", length.default(Value::from(2)).replace())
            .attr("prefix", prefix.replace())
            .attr("separator", separator.default("-").replace())
            .attr("id", drawn("The name."))
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
