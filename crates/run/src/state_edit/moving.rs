//! Moving: the same objects under other addresses, in the same state or in another one.

use std::collections::{BTreeMap, BTreeSet};

use groma_model::address::{
    AbsInstance, AbsResource, ConfigResource, InstanceKey, Module, ModuleInstance, ResourceMode, Target,
};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::{ResourceState, State};

use super::address_error;
use super::find::find_instance;
use super::remove::remove_instance;

/// One object that was moved, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// From where.
    pub from: String,
    /// To where.
    pub to: String,
}

const BAD_SOURCE: &str = "Invalid source address";
const BAD_TARGET: &str = "Invalid target address";
const BAD_REQUEST: &str = "Invalid state move request";

/// Moves what an address stands for to another address, into another state if there is one. A resource with a single
/// instance that has no key is taken for that instance, so that it can go to an instance with a key.
pub fn move_objects(
    state: &mut State,
    other: Option<&mut State>,
    from: &str,
    to: &str,
) -> Result<Vec<Moved>, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut read =
        |text: &str| text.parse::<Target>().map_err(|error| diagnostics.push(address_error(text, &error))).ok();
    let (Some(source), Some(destination)) = (read(from), read(to)) else { return Err(diagnostics) };
    let mut mover = Mover { from: state, other };
    let (moved, gone) = match mover.meant(source) {
        Target::Module(source) => mover.module(&source, &destination)?,
        Target::Resource(source) => mover.resource(&source, &destination)?,
        Target::Instance(source) => mover.instance(&source, &destination, to)?,
    };
    forget_dependencies(mover.target(), &gone);
    Ok(moved)
}

/// What is not at its address any more, as dependencies name it.
enum Gone {
    Modules(BTreeSet<Module>),
    Resource(ConfigResource),
}

impl Gone {
    fn contains(&self, dependency: &ConfigResource) -> bool {
        match self {
            Gone::Resource(resource) => resource == dependency,
            Gone::Modules(modules) => {
                let names = dependency.module.names();
                (1..=names.len()).any(|length| modules.contains(&Module::new(names[..length].iter().cloned())))
            }
        }
    }
}

/// Dependencies on what was moved are not true any more. All of the object's go, so that the next apply finds them anew
/// rather than half of them.
fn forget_dependencies(state: &mut State, gone: &Gone) {
    let instances = state.resources.values_mut().flat_map(|resource| resource.instances.values_mut());
    for object in instances.filter_map(|instance| instance.current.as_mut()) {
        if object.dependencies.iter().any(|dependency| gone.contains(dependency)) {
            object.dependencies.clear();
        }
    }
}

struct Mover<'s> {
    from: &'s mut State,
    other: Option<&'s mut State>,
}

impl Mover<'_> {
    fn target(&mut self) -> &mut State {
        match &mut self.other {
            Some(other) => other,
            None => self.from,
        }
    }

    fn destination(&self) -> &State {
        self.other.as_deref().unwrap_or(self.from)
    }

    /// Whether a whole resource or its only instance is meant.
    fn meant(&self, source: Target) -> Target {
        match source {
            Target::Resource(resource)
                if self
                    .from
                    .resources
                    .get(&resource)
                    .is_some_and(|found| found.instances.contains_key(&InstanceKey::None)) =>
            {
                Target::Instance(resource.instance(InstanceKey::None))
            }
            other => other,
        }
    }

    fn module(&mut self, source: &ModuleInstance, to: &Target) -> Result<(Vec<Moved>, Gone), Diagnostics> {
        let moving: BTreeSet<ModuleInstance> = modules(self.from).filter(|module| source.contains(module)).collect();
        let Some(first) = moving.first() else { return Err(no_match(source).into()) };
        let Target::Module(to) = to else {
            let detail = format!("Cannot move {first} to {to}: the target must also be a module.");
            return Err(Diagnostic::error(BAD_TARGET, detail).into());
        };
        let renamed = |module: &ModuleInstance| {
            let below = module.steps()[source.steps().len()..].iter().cloned();
            to.join(&ModuleInstance::new(below))
        };
        let mut taken: BTreeSet<ModuleInstance> = modules(self.destination()).collect();
        let mut moved = Vec::new();
        for module in &moving {
            let target = renamed(module);
            if taken.contains(&target) {
                return Err(module_exists(&target).into());
            }
            if self.other.is_none() {
                taken.remove(module);
            }
            moved.push(Moved { from: module.to_string(), to: target.to_string() });
            taken.insert(target);
        }
        let moves = |address: &AbsResource| moving.contains(&address.module);
        let addresses: Vec<AbsResource> =
            self.from.resources.keys().filter(|address| moves(address)).cloned().collect();
        // All are taken out before the first is put in: a module may move into itself.
        let taken_out: Vec<(AbsResource, ResourceState)> =
            addresses.iter().filter_map(|address| self.from.resources.remove_entry(address)).collect();
        let put_in = taken_out
            .into_iter()
            .map(|(address, resource)| (AbsResource { module: renamed(&address.module), ..address }, resource));
        self.target().resources.extend(put_in);
        let no_keys = |module: &&ModuleInstance| module.steps().iter().all(|step| step.key.is_none());
        Ok((moved, Gone::Modules(moving.iter().filter(no_keys).map(ModuleInstance::module).collect())))
    }

    fn resource(&mut self, source: &AbsResource, to: &Target) -> Result<(Vec<Moved>, Gone), Diagnostics> {
        if !self.from.resources.contains_key(source) {
            return Err(no_match(source).into());
        }
        let Target::Resource(to) = to else {
            let detail = format!(
                "Cannot move {source} to {to}: the source is a whole resource (not a resource instance) so the target must \
                 also be a whole resource."
            );
            return Err(Diagnostic::error(BAD_TARGET, detail).into());
        };
        let mut diagnostics = same_kind(source, to);
        if self.destination().resources.contains_key(to) {
            let detail =
                format!("Cannot move to {to}: there is already a resource at that address in the current state.");
            diagnostics.push(Diagnostic::error(BAD_TARGET, detail));
        }
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        if let Some(resource) = self.from.resources.remove(source) {
            self.target().resources.insert(to.clone(), resource);
        }
        let moved = Moved { from: source.to_string(), to: to.to_string() };
        Ok((vec![moved], Gone::Resource(source.config())))
    }

    fn instance(
        &mut self,
        source: &AbsInstance,
        to: &Target,
        written: &str,
    ) -> Result<(Vec<Moved>, Gone), Diagnostics> {
        let to = match to {
            Target::Instance(to) => to.clone(),
            Target::Resource(to) => to.instance(InstanceKey::None),
            Target::Module(_) => {
                let detail = format!("Cannot move {source} to {to}: the target must also be a resource instance.");
                return Err(Diagnostic::error(BAD_TARGET, detail).into());
            }
        };
        let mut diagnostics = same_kind(&source.resource(), &to.resource());
        if find_instance(self.destination(), &to).is_some() {
            let detail = format!(
                "Cannot move to {to}: there is already a resource instance at that address in the current state."
            );
            diagnostics.push(Diagnostic::error(BAD_TARGET, detail));
        }
        let provider = self.from.resources.get(&source.resource()).map(|resource| resource.provider.clone());
        let (Some(provider), Some(_)) = (provider, find_instance(self.from, source)) else {
            let detail = format!("The current state does not contain {source}.");
            diagnostics.push(Diagnostic::error(BAD_SOURCE, detail));
            return Err(diagnostics);
        };
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        if let Some(instance) = remove_instance(self.from, source) {
            let empty = || ResourceState { provider, instances: BTreeMap::new() };
            let resource = self.target().resources.entry(to.resource()).or_insert_with(empty);
            resource.instances.insert(to.key().clone(), instance);
        }
        let moved = Moved { from: source.to_string(), to: written.to_owned() };
        Ok((vec![moved], Gone::Resource(source.config())))
    }
}

/// The modules that have resources, each as often as it has some.
fn modules(state: &State) -> impl Iterator<Item = ModuleInstance> + '_ {
    state.resources.keys().map(|address| address.module.clone())
}

fn no_match(source: &impl std::fmt::Display) -> Diagnostic {
    let detail = format!("Cannot move {source}: does not match anything in the current state.");
    Diagnostic::error(BAD_SOURCE, detail)
}

fn module_exists(module: &ModuleInstance) -> Diagnostic {
    let detail = format!(
        "There is something in {module} already. Make sure that the addresses and the paths of the states are as intended. No \
         state was saved: what you have is untouched."
    );
    Diagnostic::error("Destination module already exists", detail)
}

/// An object stays what it is.
fn same_kind(from: &AbsResource, to: &AbsResource) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut refuse = |detail: String| diagnostics.push(Diagnostic::error(BAD_REQUEST, detail));
    let modes = (from.resource.mode, to.resource.mode);
    if modes.0 == ResourceMode::Ephemeral || modes.1 == ResourceMode::Ephemeral {
        refuse(
            "Ephemeral resources are in no state, so they cannot be moved in one. Change the configuration alone."
                .into(),
        );
        return diagnostics;
    }
    if modes.0 != modes.1 {
        let kind = if modes.0 == ResourceMode::Managed { "managed" } else { "data" };
        refuse(format!(
            "Cannot move {from} to {to}: a {kind} resource can be moved only to another {kind} resource address."
        ));
    }
    if from.resource.ty != to.resource.ty {
        refuse(format!("Cannot move {from} to {to}: resource types don't match."));
    }
    diagnostics
}

#[cfg(test)]
mod tests {
    use super::super::find::{all_instances, object_id};
    use super::super::testing::{shown, state};
    use super::*;

    /// What is in the state after a move, each with the address it was made at.
    fn after(addresses: &[&str], from: &str, to: &str) -> Result<String, String> {
        let mut state = state(addresses);
        let result = move_objects(&mut state, None, from, to);
        let describe = |address: &AbsInstance| {
            let object = find_instance(&state, address).unwrap().current.as_ref().unwrap();
            let id = object_id(object).unwrap();
            if id == address.to_string() { id } else { format!("{address}<-{id}") }
        };
        let problems = |problems: Diagnostics| {
            let told = problems.iter().map(|one| format!("{}: {}", one.summary, one.detail));
            told.collect::<Vec<_>>().concat()
        };
        result.map_err(problems).map(|_| shown(&all_instances(&state).iter().map(describe).collect::<Vec<_>>()))
    }

    #[test]
    fn resources_and_instances_move() {
        assert_eq!(after(&["a.x", "a.z"], "a.x", "a.y").unwrap(), "a.y<-a.x a.z");
        assert_eq!(after(&["a.x[0]", "a.x[1]"], "a.x", "a.y").unwrap(), "a.y[0]<-a.x[0] a.y[1]<-a.x[1]");
        assert_eq!(after(&["a.x"], "a.x", "a.x[\"k\"]").unwrap(), "a.x[\"k\"]<-a.x");
        assert_eq!(after(&["a.x[0]"], "a.x[0]", "a.x").unwrap(), "a.x<-a.x[0]");
        assert_eq!(after(&["a.x", "a.y[0]"], "a.x", "a.y[1]").unwrap(), "a.y[0] a.y[1]<-a.x");
        assert_eq!(after(&["a.x"], "a.x", "module.m[0].a.x").unwrap(), "module.m[0].a.x<-a.x");
        assert_eq!(after(&["module.m.a.x"], "module.m.a.x", "a.x").unwrap(), "a.x<-module.m.a.x");
    }

    #[test]
    fn modules_move_with_everything_below() {
        let addresses = ["a.x", "module.m.a.x", "module.m.module.n[0].a.y"];
        assert_eq!(
            after(&addresses, "module.m", "module.k[\"z\"]").unwrap(),
            "a.x module.k[\"z\"].a.x<-module.m.a.x module.k[\"z\"].module.n[0].a.y<-module.m.module.n[0].a.y"
        );
        // Into itself.
        assert_eq!(
            after(&["module.m.a.x"], "module.m", "module.m.module.i").unwrap(),
            "module.m.module.i.a.x<-module.m.a.x"
        );
        // Only the instance that is named.
        let refused = after(&["module.m[0].a.x"], "module.m", "module.k").unwrap_err();
        assert_eq!(
            refused,
            "Invalid source address: Cannot move module.m: does not match anything in the current state."
        );
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let refused = |addresses: &[&str], from, to| after(addresses, from, to).unwrap_err();
        assert!(refused(&["a.x"], "a.y", "a.z").starts_with("Invalid source address: Cannot move a.y: does not match"));
        assert!(refused(&["a.x"], "a.x[0]", "a.z").ends_with("The current state does not contain a.x[0]."));
        assert!(refused(&["a.x", "a.y"], "a.x", "a.y").contains("already a resource instance at that address"));
        assert!(refused(&["a.x[0]", "a.y[0]"], "a.x", "a.y").contains("already a resource at that address"));
        assert!(
            refused(&["a.x"], "a.x", "b.x")
                .starts_with("Invalid state move request: Cannot move a.x to b.x: resource types")
        );
        assert!(refused(&["a.x"], "a.x", "data.a.x").contains("a managed resource can be moved only"));
        assert!(refused(&["data.a.x"], "data.a.x", "a.x").contains("a data resource can be moved only"));
        assert!(refused(&["a.x"], "a.x", "ephemeral.a.x").contains("Ephemeral"));
        assert!(refused(&["a.x[0]"], "a.x", "a.y[0]").contains("the source is a whole resource"));
        assert!(refused(&["a.x"], "a.x", "module.m").contains("the target must also be a resource instance"));
        assert!(refused(&["module.m.a.x"], "module.m", "a.x").contains("the target must also be a module"));
        let taken = refused(&["module.m.a.x", "module.k.a.y"], "module.m", "module.k");
        assert!(taken.starts_with("Destination module already exists"), "{taken}");
        assert!(refused(&["a.x"], "a", "b").matches("Invalid address").count() == 2);
    }

    #[test]
    fn objects_go_to_another_state() {
        let mut here = state(&["a.x", "a.y"]);
        let mut there = state(&["a.z"]);
        let moved = move_objects(&mut here, Some(&mut there), "a.x", "module.m.a.x").unwrap();
        assert_eq!(moved, [Moved { from: "a.x".to_owned(), to: "module.m.a.x".to_owned() }]);
        assert_eq!(shown(&all_instances(&here)), "a.y");
        assert_eq!(shown(&all_instances(&there)), "a.z module.m.a.x");
        assert_eq!(there.resources.values().last().unwrap().provider, here.resources.values().last().unwrap().provider);
        // The same address in another state is no conflict, and taken is taken.
        assert!(move_objects(&mut here, Some(&mut there), "a.y", "a.y").is_ok());
        let mut here = state(&["a.z"]);
        assert!(move_objects(&mut here, Some(&mut there), "a.z", "a.z").is_err());
    }

    fn dependencies(from: &str, to: &str, dependencies: &[&str]) -> usize {
        let mut state = state(&["a.x", "a.user", "module.m.a.x", "module.k[0].a.x"]);
        let user: AbsInstance = "a.user".parse().unwrap();
        let instance = state.resources.get_mut(&user.resource()).unwrap().instances.get_mut(user.key()).unwrap();
        instance.current.as_mut().unwrap().dependencies =
            dependencies.iter().map(|text| text.parse().unwrap()).collect();
        move_objects(&mut state, None, from, to).unwrap();
        find_instance(&state, &user).unwrap().current.as_ref().unwrap().dependencies.len()
    }

    #[test]
    fn dependencies_on_what_was_moved_are_forgotten() {
        assert_eq!(dependencies("a.x", "a.y", &["a.x", "b.x"]), 0);
        assert_eq!(dependencies("a.x", "a.y", &["b.x"]), 1);
        assert_eq!(dependencies("module.m", "module.n", &["module.m.a.x"]), 0);
        assert_eq!(dependencies("module.m", "module.n", &["module.m.module.deep.b.x"]), 0);
        // Other instances may still be there.
        assert_eq!(dependencies("module.k[0]", "module.k[1]", &["module.k.a.x"]), 1);
    }
}
