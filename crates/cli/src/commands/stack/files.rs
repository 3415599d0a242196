//! Objects in files, as kubectl reads them: Stacks, and Secrets and ConfigMaps that they refer to.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use groma_operator::api::GROUP;
use groma_operator::api::shared::HolderKind;
use groma_operator::api::stack::Stack;
use groma_operator::inputs::HolderRef;
use groma_operator::objects::{data_of, typed};
use kube::api::DynamicObject;
use serde_json::Value as Json;

use super::trouble::Trouble;
use crate::commands::Context;
use crate::failure::Failure;

/// What is in files.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// In the order in which they stand there.
    pub(super) stacks: Vec<Stack>,
    /// By namespace.
    holders: BTreeMap<(String, HolderRef), BTreeMap<String, Vec<u8>>>,
}

impl Given {
    /// The data of a Secret or ConfigMap, if it is in a file.
    pub(super) fn holder(&self, namespace: &str, holder: &HolderRef) -> Option<&BTreeMap<String, Vec<u8>>> {
        self.holders.get(&(namespace.to_owned(), holder.clone()))
    }
}

/// Reads files. What says nothing about its namespace is in `namespace`.
pub(super) fn read(context: &Context, paths: &[PathBuf], namespace: &str) -> Result<Given, Trouble> {
    let mut given = Given::default();
    for path in paths {
        let text = text_of(context, path).map_err(|source| Failure::Read { path: path.clone(), source })?;
        given.add(&text, namespace).map_err(|problem| {
            Trouble::Refused("Not objects of a cluster", format!("{}: {problem}", path.display()))
        })?;
    }
    if given.stacks.is_empty() {
        return Err(Trouble::Refused("No Stack", "There is no Stack in what was given.".to_owned()));
    }
    Ok(given)
}

fn text_of(context: &Context, path: &Path) -> std::io::Result<String> {
    if path != Path::new("-") {
        return std::fs::read_to_string(context.working_dir.join(path));
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

impl Given {
    fn add(&mut self, text: &str, namespace: &str) -> Result<(), String> {
        let documents: Vec<Json> = serde_saphyr::from_multiple(text).map_err(|problem| problem.to_string())?;
        for document in documents.into_iter().filter(|document| !document.is_null()) {
            self.add_document(document, namespace)?;
        }
        Ok(())
    }

    fn add_document(&mut self, document: Json, namespace: &str) -> Result<(), String> {
        if let (Some("List"), Some(items)) = (document["kind"].as_str(), document["items"].as_array()) {
            return items.iter().try_for_each(|item| self.add_document(item.clone(), namespace));
        }
        let mut object: DynamicObject = serde_json::from_value(document).map_err(|problem| problem.to_string())?;
        let types = object.types.clone().ok_or("a document has no apiVersion and kind")?;
        let own = object.metadata.namespace.get_or_insert_with(|| namespace.to_owned()).clone();
        let name = object.metadata.name.clone().ok_or_else(|| format!("a {} has no name", types.kind))?;
        let holder = match (types.api_version.as_str(), types.kind.as_str()) {
            ("v1", "Secret") => HolderKind::Secret,
            ("v1", "ConfigMap") => HolderKind::ConfigMap,
            (version, "Stack") if version.starts_with(&format!("{GROUP}/")) => {
                let stack: Stack = typed(&object).map_err(|problem| problem.to_string())?;
                self.stacks.push(stack);
                return Ok(());
            }
            // Others may stand there, too: they are not what is planned.
            _ => return Ok(()),
        };
        let mut data = data_of(&object);
        let texts = object.data.get("stringData").and_then(Json::as_object).into_iter().flatten();
        data.extend(texts.filter_map(|(key, text)| Some((key.clone(), text.as_str()?.as_bytes().to_vec()))));
        self.holders.insert((own, HolderRef { kind: holder, name }), data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> Result<Given, String> {
        let mut given = Given::default();
        given.add(text, "here").map(|()| given)
    }

    #[test]
    fn stacks_and_what_they_refer_to_are_read() {
        let text = "
apiVersion: groma.dev/v1alpha1
kind: Stack
metadata: {name: app}
spec: {source: {inline: {main.tf: ''}}}
---
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Secret
  metadata: {name: s, namespace: there}
  data: {a: eA==}
  stringData: {b: text}
- apiVersion: v1
  kind: Service
  metadata: {name: other}
";
        let given = given(text).unwrap();
        assert_eq!(given.stacks.len(), 1);
        assert_eq!(given.stacks[0].metadata.namespace.as_deref(), Some("here"));
        let secret = HolderRef { kind: HolderKind::Secret, name: "s".to_owned() };
        let data = given.holder("there", &secret).unwrap();
        assert_eq!((data["a"].as_slice(), data["b"].as_slice()), (&b"x"[..], &b"text"[..]));
        assert!(given.holder("here", &secret).is_none());
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert!(given("a: [").is_err());
        assert!(given("[1]").is_err());
        let unknown =
            "{apiVersion: groma.dev/v1alpha1, kind: Stack, metadata: {name: a}, spec: {source: {inline: {}}, nope: 1}}";
        assert!(given(unknown).unwrap_err().contains("nope"));
        assert!(given("{apiVersion: v1, kind: Secret, metadata: {}}").unwrap_err().contains("no name"));
    }
}
