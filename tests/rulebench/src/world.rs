//! Configurations of many objects, with a state in which some of them have another name, and rules about that.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use groma_engine::change::Action;
use groma_engine::events::Silence;
use groma_engine::interrupt::Interrupt;
use groma_engine::plan::{self, Options, Plan};
use groma_engine::replacement::{ModeSource, ReplaceOptions};
use groma_lang::environment::{Environment, FileKind};
use groma_lang::load::{ModuleRequest, ModuleTree, SourceTree, load_module, load_tree};
use groma_lang::oracle::NothingExists;
use groma_lang::static_eval::StaticScope;
use groma_lang::walk::{Purpose, Settings};
use groma_model::address::{ConfigResource, InstanceKey, Module, ModuleInstance, Provider, ProviderConfig, Resource};
use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;
use groma_rules::Rules;
use groma_rules::replace::rule::Mode;
use groma_state::{Attributes, InstanceState, ObjectState, ResourceState, State};

use crate::stub::{BOX, Stub};

/// How many instances a resource has.
const INSTANCES: usize = 10;

/// How many rules there are, and of which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// As if there were no such thing as rules.
    None,
    /// The catalogue, in which there is nothing about the type.
    CatalogueNoMatch,
    /// One rule, which is obeyed.
    Rules1,
    /// The same, with seven others whose conditions do not hold.
    Rules8,
    /// One about a single resource, for which who holds what must be known.
    Attached,
    /// The same, for which it need not be known.
    NotAttached,
}

impl Variant {
    /// As it is called in figures.
    pub fn name(self) -> &'static str {
        match self {
            Variant::None => "none",
            Variant::CatalogueNoMatch => "catalogue_no_match",
            Variant::Rules1 => "rules_1",
            Variant::Rules8 => "rules_8",
            Variant::Attached => "attached",
            Variant::NotAttached => "not_attached",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Variant::None,
            Variant::CatalogueNoMatch,
            Variant::Rules1,
            Variant::Rules8,
            Variant::Attached,
            Variant::NotAttached,
        ];
        all.into_iter().find(|variant| variant.name() == name)
    }

    fn rules(self) -> Option<String> {
        match self {
            Variant::None => None,
            Variant::CatalogueNoMatch => Some(String::new()),
            Variant::Rules1 => Some(OBEYED.to_owned()),
            Variant::Rules8 => Some(format!("{OBEYED}{OTHERS}")),
            Variant::Attached => Some(one_resource(
                "predicate \"has_attached_resources\" {\n    resource_types = [\"stub_box\"]\n    minimum_count = 1\n  }",
            )),
            Variant::NotAttached => Some(one_resource("predicate \"field_changed\" {\n    field = \"name\"\n  }")),
        }
    }
}

const OBEYED: &str = r#"
replace_rule "obeyed" {
  resource = "stub_box"
  field    = "name"
  order    = "create_first"
  behavior = "auto"
  predicate "field_changed" "renamed" {
    field       = "name"
    description = "The name is another one"
  }
  reasoning = "Names are not unique, so there is no need to be without"
}
"#;

/// None of these conditions holds, and each has to be asked for.
const OTHERS: &str = r#"
replace_rule "same-zone" {
  resource = "stub_box"
  field    = "name"
  predicate "field_equals" {
    field  = "zone"
    values = ["us-1", "us-2"]
  }
}
replace_rule "production" {
  resource = "stub_box"
  field    = "name"
  predicate "field_matches" {
    field   = "name"
    pattern = "^(prod|live)-"
  }
}
replace_rule "many" {
  resource = "stub_box"
  field    = "name"
  predicate "resource_count" {
    via      = "siblings"
    operator = ">"
    count    = 100
  }
}
replace_rule "large" {
  resource = "stub_box"
  field    = "name"
  predicate "state_check" {
    condition = old.size > 1000 && old.tier == "gold"
  }
}
replace_rule "image" {
  resource = "stub_box"
  field    = "name"
  predicate "field_changed" {
    field = "image"
  }
}
replace_rule "ports" {
  resource = "stub_box"
  field    = "name"
  predicate "field_changed" {
    field        = "ports"
    ignore_order = true
  }
}
replace_rule "joined" {
  resource = "stub_box"
  field    = "name"
  expr     = "(A OR B) AND NOT C"
  predicate "field_equals" {
    field = "tier"
    value = "gold"
  }
  predicate "field_matches" {
    field = "owner"
    glob  = "root*"
  }
  predicate "field_changed" {
    field = "disk"
  }
}
"#;

/// A rule about the first resource.
fn one_resource(predicate: &str) -> String {
    format!(
        "replace_rule \"one\" {{\n  resource = \"stub_box\"\n  target   = [\"stub_box.r0\"]\n  order    = \"create_first\"\n  \
         behavior = \"auto\"\n  {predicate}\n}}\n"
    )
}

/// Of which kind a world is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// With which rules.
    pub variant: Variant,
    /// How many objects there are.
    pub objects: usize,
    /// Every so-many-th resource is replaced.
    pub one_in: usize,
}

/// What is planned.
pub struct World {
    sources: SourceMap,
    tree: ModuleTree,
    rules: Rules,
    state: State,
    options: Options,
    stub: Stub,
    files: Files,
}

/// Which of the resources an object refers to: few, and not far behind one another.
fn needs(at: usize) -> BTreeSet<usize> {
    if at == 0 { BTreeSet::new() } else { [at / 2, at / 3, at / 5].into_iter().collect() }
}

fn all_needs(at: usize) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    let mut open = vec![at];
    while let Some(next) = open.pop() {
        open.extend(needs(next).into_iter().filter(|need| all.insert(*need)));
    }
    all
}

/// A name before and after.
fn name(resource: usize, version: usize) -> String {
    format!("box-{resource}-v{version}")
}

const SETTINGS: [(&str, &str); 6] = [
    ("region", "eu"),
    ("backup", "daily"),
    ("class", "standard"),
    ("network", "default"),
    ("dns", "on"),
    ("log", "off"),
];

fn declaration(at: usize, version: usize) -> String {
    let links: Vec<String> = needs(at).iter().map(|need| format!("{BOX}.r{need}[count.index].id")).collect();
    let settings: Vec<String> = SETTINGS.iter().map(|(key, value)| format!("{key} = \"{value}\"")).collect();
    format!(
        "resource \"{BOX}\" \"r{at}\" {{\n  count = {INSTANCES}\n  name = \"{}-${{count.index}}\"\n  zone = \"eu-{}\"\n  image = \"linux-{}\"\n  \
         description = \"What this one is for: ${{count.index}}\"\n  owner = \"team-{}\"\n  tier = \"silver\"\n  size = {}\n  disk = 40\n  \
         enabled = true\n  ports = [22, 80, 443, 8080]\n  links = [{}]\n  labels = [\"a\", \"b\", \"c-{at}\"]\n  \
         tags = {{ Name = \"r{at}\", Stage = \"test\", Index = \"${{count.index}}\" }}\n  settings = {{ {} }}\n}}\n",
        name(at, version),
        at % 3,
        at % 5,
        at % 7,
        at % 100,
        links.join(", "),
        settings.join(", "),
    )
}

fn attributes(at: usize, index: usize) -> String {
    let links: Vec<String> = needs(at).iter().map(|need| id(*need, index)).collect();
    let settings: BTreeMap<&str, &str> = SETTINGS.into_iter().collect();
    serde_json::json!({
        "id": id(at, index), "arn": format!("arn:stub:{at}:{index}"),
        "name": format!("{}-{index}", name(at, 1)),
        "zone": format!("eu-{}", at % 3), "image": format!("linux-{}", at % 5),
        "description": format!("What this one is for: {index}"),
        "owner": format!("team-{}", at % 7), "tier": "silver", "size": at % 100, "disk": 40, "enabled": true,
        "ports": [22, 80, 443, 8080], "links": links, "labels": ["a", "b", format!("c-{at}")],
        "tags": { "Name": format!("r{at}"), "Stage": "test", "Index": index.to_string() },
        "settings": settings,
    })
    .to_string()
}

fn id(at: usize, index: usize) -> String {
    format!("i-{at:06}-{index:03}")
}

fn stored(at: usize, provider: &Provider) -> ResourceState {
    let resource =
        |at: usize| ConfigResource { module: Module::root(), resource: Resource::managed(BOX, format!("r{at}")) };
    let dependencies: Vec<ConfigResource> = all_needs(at).into_iter().map(resource).collect();
    let instance = |index: usize| {
        let object = ObjectState {
            dependencies: dependencies.clone(),
            ..ObjectState::new(0, Attributes::Json(attributes(at, index)))
        };
        (InstanceKey::Int(index as i64), InstanceState::from(object))
    };
    ResourceState {
        provider: ProviderConfig::default_in(Module::root(), provider.clone()),
        instances: (0..INSTANCES).map(instance).collect(),
    }
}

impl World {
    /// One of a kind.
    pub fn new(kind: Kind) -> Result<Self> {
        let Kind { variant, objects, one_in } = kind;
        let resources = objects / INSTANCES;
        let mut main = String::new();
        for at in 0..resources {
            let version = if at % one_in == 0 { 2 } else { 1 };
            let _ = write!(main, "{}", declaration(at, version));
        }
        let mut files = Files(BTreeMap::from([(PathBuf::from("main.tf"), main)]));
        files.0.extend(variant.rules().map(|rules| (PathBuf::from("rules.groma.hcl"), rules)));
        let mut sources = SourceMap::new();
        let (root, mut found) = load_module(&mut sources, &files, Path::new("."));
        let statics = StaticScope {
            environment: &files,
            root_dir: Path::new("."),
            workspace: "default",
            inputs: &BTreeMap::new(),
        };
        let (tree, more) = load_tree(&mut sources, &files, root, &statics);
        found.extend(more);
        let (rules, more) = groma_rules::load(&mut sources, &files, &tree);
        found.extend(more);
        if found.has_errors() {
            bail!("{found:?}");
        }
        let provider = Provider::implied("stub")?;
        let resource = |at: usize| {
            let resource = Resource::managed(BOX, format!("r{at}"));
            (resource.absolute(ModuleInstance::root()), stored(at, &provider))
        };
        let state = State {
            tool_version: "1.12.0".into(),
            lineage: "lineage".into(),
            resources: (0..resources).map(resource).collect(),
            ..State::default()
        };
        let replacement =
            ReplaceOptions { mode: Mode::Auto, mode_source: ModeSource::CommandLine, ..ReplaceOptions::default() };
        Ok(Self {
            sources,
            tree,
            rules: if variant == Variant::None { Rules::default() } else { rules },
            state,
            options: Options { replacement, ..Options::default() },
            stub: Stub::default(),
            files,
        })
    }

    /// Plans.
    pub async fn plan(&self) -> Result<Plan> {
        let oracle = NothingExists(self.stub.clone());
        let settings = Settings {
            purpose: Purpose::Evaluate,
            environment: &self.files,
            root_dir: Path::new("."),
            workspace: "default",
            plan_time: Some((1_600_000_000, 0)),
            pure_only: false,
            lenient: false,
            oracle: &oracle,
            sources: &self.sources,
        };
        let request = plan::Request {
            tree: &self.tree,
            rules: &self.rules,
            inputs: &BTreeMap::new(),
            settings,
            schemas: &self.stub,
            providers: Arc::new(self.stub.clone()),
            state: &self.state,
            options: &self.options,
            events: Arc::new(Silence),
            interrupt: Interrupt::default(),
            provider_versions: &BTreeMap::new(),
            listing: None,
        };
        match plan::plan(request).await {
            (Some(plan), found) if !found.has_errors() => Ok(plan),
            (_, found) => bail!("{found:?}"),
        }
    }
}

/// How many objects a plan replaces, and how many of them are created first.
pub fn replaced(plan: &Plan) -> (usize, usize) {
    let count = |action: Action| plan.changes.iter().filter(|change| change.action == action).count();
    let first = count(Action::CreateThenDelete);
    (first + count(Action::DeleteThenCreate), first)
}

/// Files by path.
struct Files(BTreeMap<PathBuf, String>);

impl SourceTree for Files {
    fn list_files(&self, _: &Path) -> io::Result<Vec<String>> {
        Ok(self.0.keys().map(|path| path.display().to_string()).collect())
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
        Ok(self.0.get(Path::new(name)).ok_or(io::ErrorKind::NotFound)?.clone().into_bytes())
    }

    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics> {
        Err(request.not_installed().into())
    }
}

impl Environment for Files {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        SourceTree::read_file(self, path)
    }

    fn file_kind(&self, _: &Path) -> io::Result<Option<FileKind>> {
        Ok(None)
    }

    fn read_dir(&self, _: &Path) -> io::Result<Vec<(String, FileKind)>> {
        Ok(Vec::new())
    }

    fn working_dir(&self) -> PathBuf {
        "/".into()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        None
    }

    fn now(&self) -> (i64, u32) {
        (0, 0)
    }

    fn random(&self, _: &mut [u8]) {}
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use serde_json::Value as Json;

    use super::*;
    use crate::pair::runtime;

    /// What is kept of rules is little, and is still all that there is to tell.
    #[test]
    fn documents_that_are_written_later_have_everything_in_them() {
        let world = World::new(Kind { variant: Variant::Rules8, objects: 100, one_in: 1 }).unwrap();
        let plan = runtime().unwrap().block_on(world.plan()).unwrap();
        assert_eq!(replaced(&plan), (100, 100));
        assert_eq!(plan.replacement.decisions.len(), 100);
        let decision = &plan.replacement.decisions[&"stub_box.r7[3]".parse().unwrap()];
        let document: Json = serde_json::from_str(&decision.document).unwrap();
        assert_eq!(document["status"], "applied");
        assert_eq!(document["without_rules"], "delete_first");
        assert_eq!(document["decided_by"]["rule"], "obeyed");
        assert_eq!(document["decided_by"]["line"], 2);
        let rules: Vec<(&str, &str)> = document["rules"].as_array().unwrap().iter().map(told).collect();
        let unmatched =
            ["same-zone", "production", "many", "large", "image", "ports", "joined"].map(|id| (id, "no_match"));
        assert_eq!(rules[0], ("obeyed", "applied"));
        assert_eq!(rules[1..], unmatched);
        let renamed = &document["rules"][0]["tree"]["children"][0];
        assert_eq!(renamed["id"], "renamed");
        assert!(renamed["steps"].to_string().contains("box-7-v2-3"), "{renamed}");
        assert_eq!(document["rules"][1]["field"], "name");
    }

    fn told(rule: &Json) -> (&str, &str) {
        (rule["id"].as_str().unwrap(), rule["status"].as_str().unwrap())
    }

    #[test]
    fn who_holds_what_is_found() {
        let world = World::new(Kind { variant: Variant::Attached, objects: 200, one_in: 20 }).unwrap();
        let plan = runtime().unwrap().block_on(world.plan()).unwrap();
        assert_eq!(replaced(&plan), (10, 10), "every object of the first resource is held");
        let decision = &plan.replacement.decisions[&"stub_box.r0[0]".parse().unwrap()];
        let document: Json = serde_json::from_str(&decision.document).unwrap();
        assert!(document["rules"][0]["tree"].to_string().contains("stub_box.r1[0]"), "{document}");
    }
}
