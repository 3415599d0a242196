//! The data sources: objects that others made, and texts with many manifests taken apart.

mod kustomize;
mod object;
mod yaml;
mod yaml_scoped;
mod yaml_split;

pub(crate) use object::ObjectData;
pub(crate) use yaml_scoped::YamlScoped;
pub(crate) use yaml_split::YamlSplit;
