//! `yamlencode` and `yamldecode`. Reading is in [`read`] (with a look at [`layout`]), what scalars mean in [`resolve`], writing in [`mod@write`].

mod layout;
mod read;
mod resolve;
mod write;

use groma_model::ty::Type;
use groma_model::value::Value;

use super::super::support::{Outcome, any_param, text, text_param};
use super::super::{CallContext, Function, FunctionError};

/// How deep collections may nest.
const MAX_DEPTH: usize = 500;
/// How many values a document may stand for, counting what aliases repeat as often as they do.
const MAX_NODES: u64 = 5_000_000;

pub(super) fn functions() -> [Function; 2] {
    [
        Function::new(
            "yamlencode",
            "Writes a value as YAML 1.2, in block style.",
            vec![any_param("value").null().dynamic().about("The value to write.")],
            Type::String,
            encode,
        )
        .or_null(),
        Function::new(
            "yamldecode",
            "Reads a YAML document.",
            vec![text_param("src").about("The document.")],
            Type::Dynamic,
            decode,
        )
        // The type follows from the document, but so does the result.
        .typed(|_| Ok(Type::Dynamic))
        .or_null(),
    ]
}

fn encode(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    if !args[0].is_wholly_known() {
        return Ok(Value::unknown(Type::String));
    }
    if args[0].depth() as usize > MAX_DEPTH {
        return Err(FunctionError::new(format!("nested too deeply: more than {MAX_DEPTH} levels")));
    }
    Ok(Value::string(write::document(&args[0])))
}

fn decode(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    read::document(text(args, 0))
}
