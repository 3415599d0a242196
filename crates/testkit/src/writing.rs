//! Random configurations as text: over the simulator, or over `terraform_data`, which every tool has.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::configuration::{Body, Configuration, Item, Module, ROOT, Repetition, Resource, Serial};
use crate::simulator::{LEGACY, LOOKUP, THING};
use crate::workspace::Files;

/// Which resource types are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Those of the simulator.
    Simulated,
    /// `terraform_data` alone. Data sources become local values.
    Data,
}

/// The files of a configuration.
pub fn write(configuration: &Configuration, dialect: Dialect) -> Files {
    let writer = Writer { configuration, dialect };
    let files =
        configuration.modules.keys().map(|module| (writer.directory(*module).join("main.tf"), writer.module(*module)));
    Files(files.collect())
}

/// The address of a resource, without instance keys.
pub fn address(configuration: &Configuration, serial: Serial) -> String {
    let item = &configuration.items[&serial];
    let path = module_address(configuration, item.module);
    let writer = Writer { configuration, dialect: Dialect::Simulated };
    format!("{path}{}", writer.own_name(item))
}

/// `module.a.module.b.`; empty for the root.
pub fn module_address(configuration: &Configuration, module: Serial) -> String {
    let mut path = String::new();
    for inner in configuration.ancestors(module).iter().rev().filter(|module| **module != ROOT) {
        let _ = write!(path, "module.{}.", configuration.modules[inner].name);
    }
    path
}

struct Writer<'c> {
    configuration: &'c Configuration,
    dialect: Dialect,
}

impl Writer<'_> {
    fn directory(&self, module: Serial) -> PathBuf {
        let path = self.configuration.ancestors(module);
        path.iter().rev().filter(|module| **module != ROOT).map(|module| format!("m{module}")).collect()
    }

    fn module(&self, module: Serial) -> String {
        let mut out = String::new();
        for (serial, item) in self.configuration.items.iter().filter(|(_, item)| item.module == module) {
            self.item(&mut out, *serial, item);
        }
        for (serial, child) in self.configuration.modules.iter().filter(|(_, child)| child.parent == Some(module)) {
            self.call(&mut out, *serial, child);
        }
        if module == ROOT {
            for (from, to) in &self.configuration.moved {
                let _ = writeln!(out, "moved {{\n  from = {from}\n  to = {to}\n}}");
            }
        }
        if self.dialect == Dialect::Data {
            out =
                out.replace(&format!("{THING}."), "terraform_data.").replace(&format!("{LEGACY}."), "terraform_data.");
        }
        out
    }

    fn call(&self, out: &mut String, serial: Serial, module: &Module) {
        let _ = writeln!(out, "module \"{}\" {{\n  source = \"./m{serial}\"", module.name);
        repetition(out, &module.repetition);
        for item in self.configuration.items.values().filter(|item| item.module == serial) {
            if let Body::Input { of: Some(of) } = item.body {
                let value = self.one(of, &module.repetition);
                let _ = writeln!(out, "  {} = {value}", item.name);
            }
        }
        self.depends_on(out, &module.depends_on);
        out.push_str("}\n");
    }

    fn depends_on(&self, out: &mut String, targets: &[Serial]) {
        let is_named = |item: &&Item| match item.body {
            Body::Resource(_) => true,
            Body::Data { .. } => self.dialect == Dialect::Simulated,
            Body::Output { .. } => true,
            Body::Local { .. } | Body::Input { .. } => false,
        };
        let items = targets.iter().map(|target| &self.configuration.items[target]).filter(is_named);
        let mut names: Vec<String> = items.map(|item| self.own_name(item)).collect();
        names.sort();
        names.dedup();
        if !names.is_empty() {
            let _ = writeln!(out, "  depends_on = [{}]", names.join(", "));
        }
    }

    /// As it is called where it is declared; an output, where it can be seen.
    fn own_name(&self, item: &Item) -> String {
        match &item.body {
            Body::Resource(resource) => format!("{}.{}", type_name(resource), item.name),
            Body::Data { .. } if self.dialect == Dialect::Data => format!("local.{}", item.name),
            Body::Data { .. } => format!("data.{LOOKUP}.{}", item.name),
            Body::Local { .. } => format!("local.{}", item.name),
            Body::Input { .. } => format!("var.{}", item.name),
            Body::Output { .. } => {
                format!("module.{}.{}", self.configuration.modules[&item.module].name, item.name)
            }
        }
    }

    /// The id that an item stands for, or null.
    fn one(&self, serial: Serial, user: &Repetition) -> String {
        let item = &self.configuration.items[&serial];
        match &item.body {
            Body::Resource(resource) => indexed(&self.own_name(item), &resource.repetition, "id", user),
            Body::Data { .. } if self.dialect == Dialect::Simulated => format!("{}.target", self.own_name(item)),
            Body::Output { .. } => {
                let module = &self.configuration.modules[&item.module];
                indexed(&format!("module.{}", module.name), &module.repetition, &item.name, user)
            }
            _ => self.own_name(item),
        }
    }

    /// The ids that an item stands for, as a list.
    fn many(&self, serial: Serial, user: &Repetition) -> String {
        let item = &self.configuration.items[&serial];
        let all = |base: &str, repetition: &Repetition, attribute: &str| match repetition {
            Repetition::Single => format!("[{base}.{attribute}]"),
            Repetition::Count(_) => format!("{base}[*].{attribute}"),
            Repetition::Each(_) => format!("[for key, it in {base} : it.{attribute}]"),
        };
        match &item.body {
            Body::Resource(resource) => all(&self.own_name(item), &resource.repetition, "id"),
            Body::Output { .. } => {
                let module = &self.configuration.modules[&item.module];
                all(&format!("module.{}", module.name), &module.repetition, &item.name)
            }
            _ => format!("[{}]", self.one(serial, user)),
        }
    }

    fn item(&self, out: &mut String, serial: Serial, item: &Item) {
        let name = &item.name;
        let single = &Repetition::Single;
        let _ = match &item.body {
            Body::Resource(resource) if self.dialect == Dialect::Data => {
                return self.plain_resource(out, item, resource);
            }
            Body::Resource(resource) => return self.resource(out, serial, item, resource),
            Body::Data { of, .. } if self.dialect == Dialect::Data => {
                writeln!(out, "locals {{\n  {name} = {}\n}}", self.one(*of, single))
            }
            Body::Data { of, depends_on } => {
                let id = self.one(*of, single);
                let _ = writeln!(out, "data \"{LOOKUP}\" \"{name}\" {{\n  id = coalesce({id}, \"none\")");
                self.depends_on(out, depends_on);
                writeln!(out, "}}")
            }
            Body::Local { of } => writeln!(out, "locals {{\n  {name} = {}\n}}", self.one(*of, single)),
            Body::Input { .. } => writeln!(out, "variable \"{name}\" {{\n  default = null\n}}"),
            Body::Output { of } => writeln!(out, "output \"{name}\" {{\n  value = {}\n}}", self.one(*of, single)),
        };
    }

    fn resource(&self, out: &mut String, serial: Serial, item: &Item, resource: &Resource) {
        let _ = writeln!(out, "resource \"{}\" \"{}\" {{", type_name(resource), item.name);
        repetition(out, &resource.repetition);
        if let Some(parent) = resource.parent {
            let _ = writeln!(out, "  parent = {}", self.one(parent, &resource.repetition));
        }
        if !resource.peers.is_empty() {
            let _ = writeln!(out, "  peers = {}", self.peers(resource));
        }
        let _ = writeln!(
            out,
            "  size = {}\n  kind = \"k{}\"\n  text = \"{}\"",
            resource.size, resource.kind, resource.text
        );
        if let Some(secret) = resource.secret {
            let _ = writeln!(out, "  secret = \"s{secret}\"\n  tags = {{ s = sensitive(\"t{secret}\") }}");
        }
        if let Some(zone) = resource.zone {
            let _ = writeln!(out, "  zone = \"z{zone}\"");
        }
        // Two objects cannot have the same name at the same time.
        let in_one_module = self.configuration.ancestors(item.module);
        let repeated = |module: &Serial| self.configuration.modules[module].repetition != Repetition::Single;
        if let Some(named) = resource.named
            && !self.configuration.made_first().contains(&serial)
            && !in_one_module.iter().any(repeated)
        {
            let key = match resource.repetition {
                Repetition::Single => "",
                Repetition::Count(_) => "-${count.index}",
                Repetition::Each(_) => "-${each.key}",
            };
            let _ = writeln!(out, "  name = \"n{named}{key}\"");
        }
        self.depends_on(out, &resource.depends_on);
        self.lifecycle(out, resource, "size");
        out.push_str("}\n");
    }

    /// The same with `terraform_data`: what forces a new object is what triggers one.
    fn plain_resource(&self, out: &mut String, item: &Item, resource: &Resource) {
        let _ = writeln!(out, "resource \"terraform_data\" \"{}\" {{", item.name);
        repetition(out, &resource.repetition);
        let peers = if resource.peers.is_empty() { "[]".to_owned() } else { self.peers(resource) };
        let _ = writeln!(out, "  input = {{ size = {}, peers = {peers} }}", resource.size);
        let parent = resource.parent.map_or_else(|| "null".to_owned(), |parent| self.one(parent, &resource.repetition));
        let _ = writeln!(out, "  triggers_replace = [{}, {parent}]", resource.kind);
        self.depends_on(out, &resource.depends_on);
        self.lifecycle(out, resource, "input");
        out.push_str("}\n");
    }

    fn peers(&self, resource: &Resource) -> String {
        let user = &resource.repetition;
        let list = |(peer, all): &(Serial, bool)| {
            if *all { self.many(*peer, user) } else { format!("[{}]", self.one(*peer, user)) }
        };
        let lists: Vec<String> = resource.peers.iter().map(list).collect();
        format!("concat({})", lists.join(", "))
    }

    fn lifecycle(&self, out: &mut String, resource: &Resource, ignored: &str) {
        let _ = writeln!(out, "  lifecycle {{");
        if resource.made_first {
            let _ = writeln!(out, "    create_before_destroy = true");
        }
        if resource.ignores_size {
            let _ = writeln!(out, "    ignore_changes = [{ignored}]");
        }
        let is_resource = |target: &&Item| matches!(target.body, Body::Resource(_));
        let items = resource.triggers.iter().map(|target| &self.configuration.items[target]).filter(is_resource);
        let names: Vec<String> = items.map(|item| self.own_name(item)).collect();
        if !names.is_empty() {
            let _ = writeln!(out, "    replace_triggered_by = [{}]", names.join(", "));
        }
        let _ = writeln!(out, "  }}");
    }
}

fn type_name(resource: &Resource) -> &'static str {
    if resource.legacy { LEGACY } else { THING }
}

fn repetition(out: &mut String, repetition: &Repetition) {
    let _ = match repetition {
        Repetition::Single => return,
        Repetition::Count(count) => writeln!(out, "  count = {count}"),
        Repetition::Each(keys) => {
            let keys: Vec<String> = keys.iter().map(|key| format!("\"{key}\"")).collect();
            writeln!(out, "  for_each = toset([{}])", keys.join(", "))
        }
    };
}

/// An attribute of the instance that belongs to the user's, or of the first.
fn indexed(base: &str, repetition: &Repetition, attribute: &str, user: &Repetition) -> String {
    let key = match (repetition, user) {
        (Repetition::Single, _) => return format!("{base}.{attribute}"),
        (Repetition::Count(_), Repetition::Count(_)) => "count.index",
        (Repetition::Count(_), _) => "0",
        (Repetition::Each(_), Repetition::Each(_)) => "each.key",
        (Repetition::Each(_), _) => "\"a\"",
    };
    format!("try({base}[{key}].{attribute}, null)")
}
