//! The results of `output -json`, `output -json NAME` and `output -raw NAME`.

use std::collections::BTreeMap;
use std::io::Write;

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_state::OutputState;

use super::text::{ViewError, write_indented, write_line};
use super::value::{Plain, type_value};

/// The outputs of a root module, as a state has them.
pub type Outputs = BTreeMap<Str, OutputState>;

#[derive(serde::Serialize)]
struct OutputJson<'a> {
    sensitive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<&'a str>,
    #[serde(rename = "type")]
    ty: serde_json::Value,
    value: Plain<'a>,
}

/// Writes all outputs, secrets too: whoever asks for JSON wants them.
pub fn write_all<W: Write>(outputs: &Outputs, to: W) -> Result<(), ViewError> {
    let shown = outputs.iter().map(|(name, output)| {
        let json = OutputJson {
            sensitive: output.sensitive,
            deprecated: output.deprecated.as_deref().filter(|text| !text.is_empty()),
            ty: type_value(&output.value.ty()),
            value: Plain(&output.value),
        };
        (name.as_str(), json)
    });
    write_indented(&shown.collect::<BTreeMap<_, _>>(), to)
}

/// Writes the value of one output as JSON.
pub fn write_value<W: Write>(output: &OutputState, to: W) -> Result<(), ViewError> {
    write_line(&Plain(&output.value), to)
}

/// The text of an output, for scripts. Only strings, numbers and bools have one.
pub fn raw(name: &str, output: &OutputState) -> Result<String, Diagnostics> {
    let unsupported = |problem: &str| {
        let detail = format!("-raw prints strings, numbers and bools as text, and output {name:?} {problem}.");
        Diagnostics::from(Diagnostic::error("Unsupported value for raw output", detail))
    };
    let Ok(text) = convert(&output.value, &Type::String) else {
        let ty = output.value.friendly_type_name();
        return Err(unsupported(&format!("is {ty}; -json prints values of any type")));
    };
    match text.as_str() {
        Some(text) => Ok(text.to_owned()),
        None if text.is_null() => Err(unsupported("is null")),
        None => Err(unsupported("is not known before the next successful apply")),
    }
}

/// What to say if there is no such output.
pub fn missing(name: &str) -> Diagnostic {
    let detail = "The state has no output of this name. An output that was added to the configuration gets there with the \
                  next \"groma apply\".";
    Diagnostic::error(format!("Output {name:?} not found"), detail)
}

/// What to say if there are no outputs at all.
pub fn none() -> Diagnostic {
    let detail = "The state has no outputs: none are declared, or all of them are null. Declare one with an \"output\" block, \
                  then run \"groma apply\" (or \"groma refresh\") to have its value stored. \"groma console\" shows what an \
                  expression is worth.";
    Diagnostic::warning("No outputs found", detail)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use groma_model::value::Value;

    use super::*;

    fn output(value: Value) -> OutputState {
        OutputState { value, sensitive: false, deprecated: None }
    }

    fn text(write: impl FnOnce(&mut Vec<u8>) -> Result<(), ViewError>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn all_outputs_with_their_types() {
        let secret = OutputState { sensitive: true, deprecated: Some("use b".into()), ..output("<a>".into()) };
        let list = output(Value::list(Type::Number, vec![1.into(), 2.into()]));
        let outputs = BTreeMap::from([
            ("b".into(), list),
            ("a".into(), secret),
            ("c".into(), output(Value::null(Type::Dynamic))),
        ]);
        expect![[r#"
            {
              "a": {
                "sensitive": true,
                "deprecated": "use b",
                "type": "string",
                "value": "\u003ca\u003e"
              },
              "b": {
                "sensitive": false,
                "type": [
                  "list",
                  "number"
                ],
                "value": [
                  1,
                  2
                ]
              },
              "c": {
                "sensitive": false,
                "type": "dynamic",
                "value": null
              }
            }
        "#]]
        .assert_eq(&text(|out| write_all(&outputs, out)));
        assert_eq!(text(|out| write_all(&BTreeMap::new(), out)), "{}\n");
    }

    #[test]
    fn one_output_is_a_bare_value() {
        let object = Value::object([("a", Value::from(true)), ("b", Value::tuple(vec![1.into()]))]);
        assert_eq!(text(|out| write_value(&output(object), out)), "{\"a\":true,\"b\":[1]}\n");
    }

    #[test]
    fn scripts_get_text_where_there_is_one() {
        assert_eq!(raw("a", &output("x".into())).unwrap(), "x");
        assert_eq!(raw("a", &output(true.into())).unwrap(), "true");
        assert_eq!(raw("a", &output(17.into())).unwrap(), "17");
        let detail = |value: Value| raw("a", &output(value)).unwrap_err().iter().next().unwrap().detail.clone();
        assert!(detail(Value::empty_object()).contains("\"a\" is object"));
        assert!(detail(Value::null(Type::String)).contains("is null"));
    }
}
