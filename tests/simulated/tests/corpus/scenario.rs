//! What is tried: the fixtures of the catalogue as configurations, and cases that were written without looking at it. Neither says what comes
//! of it.

use std::path::{Path, PathBuf};

use groma_model::ty::Type;
use groma_simulated::description::{Description, ResourceType};
use serde_json::{Map, Value as Json, json};

use crate::runner::cloud_file;

/// A change of a configuration that replaces something.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    /// The provider whose cloud it is about.
    pub(crate) provider: String,
    /// The row of the catalogue that it is a fixture of. None if it is held out.
    pub(crate) row: Option<String>,
    /// The resources whose order it is about.
    pub(crate) targets: Vec<String>,
    /// The name of the file with the configuration.
    pub(crate) file: &'static str,
    pub(crate) before: String,
    /// Afterwards, with and without `create_before_destroy`; several if it is not known before the apply which it is.
    pub(crate) after: Vec<[String; 2]>,
    /// Rules of the user.
    pub(crate) rules: Option<String>,
    /// Whether it is tried with `create_before_destroy` as well.
    pub(crate) both: bool,
}

pub(crate) fn all() -> Vec<Scenario> {
    fixtures().into_iter().chain(held_out()).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    found.sort();
    found
}

/// The fixtures of the catalogue. What they expect is not looked at.
pub(crate) fn fixtures() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/rules/src/replace/catalogue/fixtures");
    let mut scenarios = Vec::new();
    for path in files(&folder, "json") {
        let provider = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let cloud =
            Description::parse(&read(&cloud_file(&provider))).unwrap_or_else(|error| panic!("{provider}: {error}"));
        for fixture in serde_json::from_str::<Vec<Json>>(&read(&path)).unwrap() {
            scenarios.extend(of_fixture(&provider, &cloud, &fixture));
        }
    }
    scenarios
}

/// None for what cannot be brought about.
fn of_fixture(provider: &str, cloud: &Description, fixture: &Json) -> Option<Scenario> {
    let text = |name: &str| fixture[name].as_str().unwrap().to_owned();
    let ty = text("resource");
    let dependents: Vec<(&str, &str)> = fixture["dependents"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(address, action)| (address.as_str(), action.as_str().unwrap()))
        .collect();
    // Nothing that we plan is put off.
    if dependents.iter().any(|(_, action)| *action == "deferred") {
        return None;
    }
    let (old, new) = (&fixture["old"], &fixture["new"]);
    let before = config(cloud, &ty, &configured(old, new, &Json::Null, old), &dependents, Phase::Before);
    let is_open = new.to_string().contains("(known after apply)");
    let turns_out = if is_open { vec![false, true] } else { vec![false] };
    let after = turns_out.into_iter().map(|differs| {
        let open = json!("${terraform_data.later.output}");
        let mut configs = [false, true].map(|first| {
            let object = configured(new, new, &open, old);
            config(cloud, &ty, &object, &dependents, Phase::After { first })
        });
        if is_open {
            for config in &mut configs {
                let value = opened(new, old).map_or(Json::Null, |value| if differs { other(&value) } else { value });
                config["resource"]["terraform_data"] = json!({"later": {"input": value}});
            }
        }
        configs.map(|config| config.to_string())
    });
    Some(Scenario {
        name: format!("{}: {}", text("row"), text("about")),
        provider: provider.to_owned(),
        row: Some(text("row")),
        targets: vec![format!("{ty}.x")],
        file: "main.tf.json",
        before: before.to_string(),
        after: after.collect(),
        rules: None,
        both: true,
    })
}

/// What is configured of an object: not what the cloud makes up afterwards.
fn configured(object: &Json, new: &Json, open: &Json, old: &Json) -> Json {
    match (object, new) {
        (Json::String(text), _) if text == "(known after apply)" => open.clone(),
        (Json::Object(fields), _) => {
            let mut result = Map::new();
            for (name, value) in fields {
                if new.get(name).and_then(Json::as_str) == Some("(generated)") || value == "(generated)" {
                    continue;
                }
                result.insert(name.clone(), configured(value, &new[name], open, &old[name]));
            }
            Json::Object(result)
        }
        (Json::Array(items), _) => {
            let part = |(at, item): (usize, &Json)| configured(item, &new[at], open, &old[at]);
            Json::Array(items.iter().enumerate().map(part).collect())
        }
        _ => object.clone(),
    }
}

/// The old value of what is not known in the new object.
fn opened(new: &Json, old: &Json) -> Option<Json> {
    match new {
        Json::String(text) if text == "(known after apply)" => Some(old.clone()),
        Json::Object(fields) => fields.iter().find_map(|(name, value)| opened(value, &old[name])),
        Json::Array(items) => items.iter().enumerate().find_map(|(at, item)| opened(item, &old[at])),
        _ => None,
    }
}

/// Something else of the same type.
fn other(value: &Json) -> Json {
    match value {
        Json::Number(number) => json!(number.as_i64().unwrap() + 1),
        Json::Array(items) => items.iter().map(other).collect(),
        Json::String(text) => json!(format!("{text}-2")),
        value => value.clone(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Before,
    After { first: bool },
}

fn config(cloud: &Description, ty: &str, object: &Json, dependents: &[(&str, &str)], phase: Phase) -> Json {
    let mut config = json!({"resource": {ty: {"x": object}}});
    if phase == (Phase::After { first: true }) {
        config["resource"][ty]["x"]["lifecycle"] = json!({"create_before_destroy": true});
    }
    for (address, action) in dependents {
        let (kind, name) = address.split_once('.').unwrap();
        if *action == "delete" && phase != Phase::Before {
            continue;
        }
        let own = cloud.resource(kind).unwrap_or_else(|| panic!("{kind} is not described"));
        let (field, value) = reference(own, ty).unwrap_or_else(|| panic!("{kind} does not refer to {ty}"));
        let mut body = json!({field: value});
        if *action == "replace" && phase != Phase::Before {
            body["lifecycle"] = json!({"replace_triggered_by": [format!("{ty}.x")]});
        }
        config["resource"][kind][name] = body;
    }
    config
}

/// How an object of a type refers to one of another type.
fn reference(own: &ResourceType, ty: &str) -> Option<(String, Json)> {
    let all = own.uses.iter().chain(&own.needs).chain(&own.follows);
    let (field, attribute) = all.into_iter().find_map(|(field, names)| {
        names.all().find(|(named, _)| *named == ty).map(|(_, attribute)| (field, attribute))
    })?;
    let value = json!(format!("${{{ty}.x.{attribute}}}"));
    let several = matches!(own.fields.attributes.get(field)?.ty, Type::List(_) | Type::Set(_));
    Some((field.clone(), if several { json!([value]) } else { value }))
}

/// Cases in files. What changes stands in `⟨before|after⟩`, and `ORDER` is where `create_before_destroy` is set or not.
pub(crate) fn held_out() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    files(&folder, "tf").iter().map(|path| of_file(path)).collect()
}

fn of_file(path: &Path) -> Scenario {
    let text = read(path);
    let said = |what: &str| -> Vec<String> {
        let prefix = format!("#: {what}: ");
        text.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect()
    };
    let rules = path.with_extension("groma.hcl");
    let first = "lifecycle {\n    create_before_destroy = true\n  }";
    let after = [text.replace("ORDER", ""), text.replace("ORDER", first)].map(|text| chosen(&text, 1));
    Scenario {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        provider: said("provider").pop().unwrap_or_else(|| panic!("{} names no provider", path.display())),
        row: None,
        targets: said("target"),
        file: "main.tf",
        before: chosen(&text.replace("ORDER", ""), 0),
        both: text.contains("ORDER"),
        after: vec![after],
        rules: rules.exists().then(|| read(&rules)),
    }
}

fn chosen(text: &str, which: usize) -> String {
    let mut parts = text.split('⟨');
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (choice, rest) = part.split_once('⟩').unwrap_or_else(|| panic!("⟨{part} has no end"));
        let (before, after) = choice.split_once('|').unwrap_or_else(|| panic!("⟨{choice}⟩ has one side"));
        result.push_str([before, after][which]);
        result.push_str(rest);
    }
    result
}
