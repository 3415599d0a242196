//! The fixtures' objects: files in the folder `world`, edited to make drift.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::script::WorldEdit;

/// Does to the objects in a folder what a scenario says.
pub(super) fn edit(world: &Path, edit: &WorldEdit) -> Result<()> {
    match edit {
        WorldEdit::Put { kind, id, attributes } => {
            let attributes: Value = serde_json::from_str(attributes).context("the attributes are no JSON")?;
            let object = json!({ "id": id, "type": kind, "reads": 0, "ready_after": 0, "attributes": attributes });
            std::fs::create_dir_all(world)?;
            std::fs::write(world.join(format!("{kind}.{id}.json")), object.to_string())?;
        }
        WorldEdit::Delete { kind, name } => {
            for (path, _) in named(world, kind, name)? {
                std::fs::remove_file(path)?;
            }
        }
        WorldEdit::Set { kind, name, attribute, value } => {
            let value: Value = serde_json::from_str(value).with_context(|| format!("`{value}` is no JSON"))?;
            for (path, mut object) in named(world, kind, name)? {
                object["attributes"][attribute] = value.clone();
                std::fs::write(path, object.to_string())?;
            }
        }
    }
    Ok(())
}

/// The objects of a type that have a name. None is a mistake in the scenario.
fn named(world: &Path, kind: &str, name: &str) -> Result<Vec<(PathBuf, Value)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(world).with_context(|| format!("there is no {}", world.display()))? {
        let path = entry?.path();
        let is_kind = path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&format!("{kind}.")));
        if !is_kind {
            continue;
        }
        let object: Value = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
        if object["attributes"]["name"] == name {
            found.push((path, object));
        }
    }
    if found.is_empty() {
        bail!("there is no {kind} named `{name}`");
    }
    Ok(found)
}
