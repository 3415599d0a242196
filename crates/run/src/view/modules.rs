//! Resources sorted into the modules that they belong to, as the values of plans and states list them.

use std::collections::BTreeMap;

use groma_model::address::ModuleInstance;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Resources by module.
pub(super) struct Modules<R> {
    nodes: BTreeMap<ModuleInstance, Node<R>>,
}

struct Node<R> {
    resources: Vec<R>,
    children: Vec<ModuleInstance>,
}

impl<R> Default for Node<R> {
    fn default() -> Self {
        Self { resources: Vec::new(), children: Vec::new() }
    }
}

impl<R> Modules<R> {
    /// Sorts them in. Within a module they keep their order.
    pub(super) fn new(resources: impl IntoIterator<Item = (ModuleInstance, R)>) -> Self {
        let mut modules = Self { nodes: BTreeMap::from([(ModuleInstance::root(), Node::default())]) };
        for (module, resource) in resources {
            if !modules.nodes.contains_key(&module) {
                modules.add(&module);
            }
            if let Some(node) = modules.nodes.get_mut(&module) {
                node.resources.push(resource);
            }
        }
        for node in modules.nodes.values_mut() {
            node.children.sort_by_cached_key(ToString::to_string);
        }
        modules
    }

    /// Orders the resources of every module.
    pub(super) fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&R) -> K) {
        for node in self.nodes.values_mut() {
            node.resources.sort_by_cached_key(&key);
        }
    }

    /// Adds a module, and those around it that are not there yet.
    fn add(&mut self, module: &ModuleInstance) {
        let mut missing = module.clone();
        self.nodes.insert(missing.clone(), Node::default());
        while let Some((parent, _)) = missing.parent() {
            let is_there = self.nodes.contains_key(&parent);
            self.nodes.entry(parent.clone()).or_default().children.push(missing);
            if is_there {
                break;
            }
            missing = parent;
        }
    }
}

impl<R: Serialize> Serialize for Modules<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ModuleJson { modules: self, address: &ModuleInstance::root() }.serialize(serializer)
    }
}

struct ModuleJson<'m, R> {
    modules: &'m Modules<R>,
    address: &'m ModuleInstance,
}

impl<R: Serialize> Serialize for ModuleJson<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let Some(node) = self.modules.nodes.get(self.address) else { return map.end() };
        if !node.resources.is_empty() {
            map.serialize_entry("resources", &node.resources)?;
        }
        if !self.address.is_root() {
            map.serialize_entry("address", &self.address.to_string())?;
        }
        if !node.children.is_empty() {
            let children = node.children.iter().map(|address| ModuleJson { modules: self.modules, address });
            map.serialize_entry("child_modules", &children.collect::<Vec<_>>())?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn modules_without_resources_are_there_for_those_inside() {
        let resources = [("", 1), ("module.b.module.c[1]", 2), ("module.a", 3), ("module.b.module.c[1]", 4)];
        let parsed = |text: &str| if text.is_empty() { ModuleInstance::root() } else { text.parse().unwrap() };
        let modules = Modules::new(resources.map(|(module, number)| (parsed(module), number)));
        let expected = json!({
            "resources": [1],
            "child_modules": [
                {"resources": [3], "address": "module.a"},
                {"address": "module.b", "child_modules": [{"resources": [2, 4], "address": "module.b.module.c[1]"}]},
            ],
        });
        assert_eq!(serde_json::to_value(&modules).unwrap(), expected);
    }
}
