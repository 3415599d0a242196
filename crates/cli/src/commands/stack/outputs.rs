//! `groma stack outputs`: what the configuration of a Stack gives.

use std::collections::BTreeMap;
use std::process::ExitCode;

use groma_operator::api::names;
use groma_operator::api::stack::{OutputTarget, Stack};
use groma_operator::objects::{Kind, Place, data_of};
use kube::api::DynamicObject;
use serde_json::{Value as Json, json};

use super::reach::{Desk, ReachArgs, StackName};
use super::table::table;
use super::trouble::Trouble;
use crate::commands::Context;

/// What stands for a value that is not shown.
const HIDDEN: &str = "(sensitive value)";
/// The type of a value stands beside it under such a key.
const TYPE: &str = "__type";

/// Show the outputs of a Stack, from where it writes them.
///
/// Values that are sensitive are not shown unless they are asked for. Of a Secret that does not say which are, that is all of them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which Stack: NAME or NAMESPACE/NAME.
    name: StackName,

    /// Print the value of this output alone, as it is.
    #[arg(long, value_name = "OUTPUT", conflicts_with = "json")]
    raw: Option<String>,

    /// Say everything as JSON.
    #[arg(long)]
    json: bool,

    /// Show the values of what is sensitive.
    #[arg(long)]
    show_sensitive: bool,

    #[command(flatten)]
    reach: ReachArgs,
}

/// An output, as it was found.
#[derive(Debug, PartialEq)]
struct Found {
    value: Json,
    sensitive: bool,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let stack = desk.stack(&args.name)?;
    let found = collect(&desk, &stack)?;
    if let Some(name) = &args.raw {
        desk.ui.out(&raw(&found, name, &stack)?)?;
    } else if args.json {
        desk.ui.line(&as_json(&found, args.show_sensitive).to_string())?;
    } else if found.is_empty() {
        desk.ui.message(&nothing(&stack));
    } else {
        let rows: Vec<_> =
            found.iter().map(|(name, found)| vec![name.clone(), shown(found, args.show_sensitive)]).collect();
        desk.show(&table(&["NAME", "VALUE"], &rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// From the Secret, then from where nothing is hidden.
fn collect(desk: &Desk, stack: &Stack) -> Result<BTreeMap<String, Found>, Trouble> {
    let wanted = &stack.spec.outputs;
    let mut found = BTreeMap::new();
    let named = [(&wanted.secret, Kind::secret()), (&wanted.config_map, Kind::config_map())];
    for (target, kind) in named {
        let Some(OutputTarget { name, .. }) = target else { continue };
        let place = Place::new(kind, stack.metadata.namespace.as_deref().unwrap_or_default(), name);
        if let Some(object) = desk.wait(desk.store.get(&place))? {
            let with_mark = |(name, value): (String, Json)| {
                let sensitive = is_sensitive(&object, &name);
                (name, Found { value, sensitive })
            };
            found.extend(values(&data_of(&object)).into_iter().map(with_mark));
        }
    }
    let public = stack.status.iter().flat_map(|status| &status.outputs);
    found.extend(public.map(|(name, value)| (name.clone(), Found { value: value.0.clone(), sensitive: false })));
    Ok(found)
}

/// Whether a value must not be shown. Of what is in a Secret, that is everything, unless whoever wrote it says which.
fn is_sensitive(object: &DynamicObject, key: &str) -> bool {
    let is_secret = object.types.as_ref().is_some_and(|types| types.kind == "Secret");
    let told = object.metadata.annotations.as_ref().and_then(|annotations| annotations.get(names::SENSITIVE_KEYS));
    is_secret && told.is_none_or(|keys| keys.split(',').any(|sensitive| sensitive == key))
}

/// Texts are as they are; what has its type beside it is JSON.
fn values(data: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Json> {
    let is_type = |key: &str| key.strip_suffix(TYPE).is_some_and(|key| data.contains_key(key));
    let value = |(key, bytes): (&String, &Vec<u8>)| {
        let text = String::from_utf8_lossy(bytes);
        let typed = data.contains_key(&format!("{key}{TYPE}"));
        let value = if typed { serde_json::from_str(&text).ok() } else { None };
        (key.clone(), value.unwrap_or_else(|| json!(text)))
    };
    data.iter().filter(|(key, _)| !is_type(key)).map(value).collect()
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn shown(found: &Found, show_sensitive: bool) -> String {
    if found.sensitive && !show_sensitive { HIDDEN.to_owned() } else { plain(&found.value) }
}

/// Who asks for one value by its name wants to have it.
fn raw(found: &BTreeMap<String, Found>, name: &str, stack: &Stack) -> Result<String, Trouble> {
    let missing = || {
        let known = found.keys().cloned().collect::<Vec<_>>().join(", ");
        let told = format!("There is no output {name:?}. There are: {known}.");
        Trouble::Refused("No such output", if found.is_empty() { nothing(stack) } else { told })
    };
    found.get(name).map(|found| plain(&found.value)).ok_or_else(missing)
}

fn as_json(found: &BTreeMap<String, Found>, show_sensitive: bool) -> Json {
    let written = |(name, found): (&String, &Found)| {
        let mut written = json!({"sensitive": found.sensitive});
        if show_sensitive || !found.sensitive {
            written["value"] = found.value.clone();
        }
        (name.clone(), written)
    };
    found.iter().map(written).collect::<serde_json::Map<_, _>>().into()
}

fn nothing(stack: &Stack) -> String {
    let wanted = &stack.spec.outputs;
    let names = stack.status.as_ref().map(|status| status.available_outputs.join(", ")).unwrap_or_default();
    let is_kept = wanted.secret.is_some() || wanted.config_map.is_some() || wanted.status;
    match (is_kept, names.is_empty()) {
        (_, true) => "There are no outputs.\n".to_owned(),
        (true, false) => format!("There are outputs ({names}), and their values are not written yet.\n"),
        (false, false) => format!(
            "There are outputs ({names}), and the Stack does not say where their values go: set spec.outputs.secret, \
             spec.outputs.configMap or spec.outputs.status.\n"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_types_that_stand_beside_them() {
        let data = [("ports", "[80]"), ("ports__type", "[\"list\",\"number\"]"), ("text", "[1]"), ("alone__type", "x")];
        let data = data.map(|(key, text)| (key.to_owned(), text.as_bytes().to_vec()));
        let expected = json!({"alone__type": "x", "ports": [80], "text": "[1]"});
        assert_eq!(json!(values(&data.into())), expected);
    }

    #[test]
    fn what_is_sensitive_is_shown_to_who_asks_for_it() {
        let found = BTreeMap::from([
            ("a".to_owned(), Found { value: json!("x"), sensitive: true }),
            ("b".to_owned(), Found { value: json!([1]), sensitive: false }),
        ]);
        assert_eq!(as_json(&found, false), json!({"a": {"sensitive": true}, "b": {"sensitive": false, "value": [1]}}));
        assert_eq!((shown(&found["a"], false), shown(&found["a"], true)), (HIDDEN.to_owned(), "x".to_owned()));
        let stack = Stack::new("s", serde_json::from_value(json!({"source": {"inline": {}}})).unwrap());
        assert_eq!(raw(&found, "a", &stack).unwrap(), "x");
        assert!(raw(&found, "c", &stack).unwrap_err().to_string().contains("There are: a, b."));
    }
}
