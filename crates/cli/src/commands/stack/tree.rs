//! `groma stack tree`: which Stack needs which, and which objects they were made for.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use groma_operator::api::stack::Stack;

use super::get::readiness;
use super::reach::ReachArgs;
use super::trouble::Trouble;
use crate::commands::Context;
use crate::render::branches::{Branch, draw};

/// Draw which Stacks depend on which: below each are those that need it. Stacks that were made for an object stand below it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Those of all namespaces.
    #[arg(long, short = 'A')]
    all_namespaces: bool,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let stacks = desk.stacks((!args.all_namespaces).then_some(desk.namespace.as_str()))?;
    let ascii = desk.ui.style().ascii;
    for root in (Forest::new(&stacks, args.all_namespaces)).roots() {
        desk.show(&format!("{}\n", root.text))?;
        desk.show(&draw(&root.children, "", ascii))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Namespace and name.
type Key = (String, String);

struct Forest<'s> {
    stacks: BTreeMap<Key, &'s Stack>,
    /// Of each Stack, those that need it.
    needed_by: BTreeMap<Key, Vec<Key>>,
    with_namespaces: bool,
}

fn key(stack: &Stack) -> Key {
    (stack.metadata.namespace.clone().unwrap_or_default(), stack.metadata.name.clone().unwrap_or_default())
}

fn needs(stack: &Stack) -> impl Iterator<Item = Key> + '_ {
    let own = stack.metadata.namespace.clone().unwrap_or_default();
    let needed = stack.spec.depends_on.iter();
    needed.map(move |needed| (needed.namespace.clone().unwrap_or_else(|| own.clone()), needed.name.clone()))
}

impl<'s> Forest<'s> {
    fn new(stacks: &'s [Stack], with_namespaces: bool) -> Self {
        let mut needed_by: BTreeMap<Key, Vec<Key>> = BTreeMap::new();
        for stack in stacks {
            for needed in needs(stack) {
                needed_by.entry(needed).or_default().push(key(stack));
            }
        }
        Self { stacks: stacks.iter().map(|stack| (key(stack), stack)).collect(), needed_by, with_namespaces }
    }

    /// What nobody here has to wait for comes first; then what is missing; then what waits for itself.
    fn roots(&self) -> Vec<Branch> {
        let mut seen = BTreeSet::new();
        let mut roots: BTreeMap<String, Branch> = BTreeMap::new();
        for (key, stack) in self.stacks.iter().filter(|(_, stack)| stack.spec.depends_on.is_empty()) {
            let branch = self.branch(key, &mut Vec::new(), &mut seen);
            match self.owner(stack) {
                None => roots.entry(format!("stack {branch:?}", branch = branch.text)).or_insert(branch),
                Some(owner) => {
                    let root = roots.entry(format!("object {owner}")).or_insert_with(|| Branch::leaf(owner));
                    root.children.push(branch);
                    root
                }
            };
        }
        let mut all: Vec<Branch> = roots.into_values().collect();
        let missing = self.needed_by.keys().filter(|key| !self.stacks.contains_key(*key));
        for key in missing {
            let children = self.children(key, &mut Vec::new(), &mut seen);
            all.push(Branch { text: format!("{} (is not there)", self.name(key)), children });
        }
        for key in self.stacks.keys() {
            if !seen.contains(key) {
                let mut branch = self.branch(key, &mut Vec::new(), &mut seen);
                branch.text.push_str(" (needs itself)");
                all.push(branch);
            }
        }
        all
    }

    fn name(&self, (namespace, name): &Key) -> String {
        if self.with_namespaces { format!("{namespace}/{name}") } else { name.clone() }
    }

    /// The object that a Stack was made for.
    fn owner(&self, stack: &Stack) -> Option<String> {
        let owner = stack.metadata.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))?;
        let namespace = stack.metadata.namespace.clone().unwrap_or_default();
        Some(format!("{} {}", owner.kind, self.name(&(namespace, owner.name.clone()))))
    }

    fn branch(&self, key: &Key, path: &mut Vec<Key>, seen: &mut BTreeSet<Key>) -> Branch {
        let ready = self.stacks.get(key).map(|stack| readiness(stack)).unwrap_or_default();
        let text = format!("{}  {ready}", self.name(key));
        if path.contains(key) {
            return Branch::leaf(format!("{} (again)", self.name(key)));
        }
        if !seen.insert(key.clone()) {
            let more = if self.needed_by.contains_key(key) { " (as above)" } else { "" };
            return Branch::leaf(format!("{text}{more}"));
        }
        path.push(key.clone());
        let children = self.children(key, path, seen);
        path.pop();
        Branch { text, children }
    }

    fn children(&self, key: &Key, path: &mut Vec<Key>, seen: &mut BTreeSet<Key>) -> Vec<Branch> {
        let needing = self.needed_by.get(key).into_iter().flatten();
        needing.map(|key| self.branch(key, path, seen)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn stack(name: &str, needs: &[&str], owner: Json) -> Stack {
        let needs: Vec<Json> = needs.iter().map(|name| json!({"name": name})).collect();
        serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Stack",
            "metadata": {"name": name, "namespace": "n", "ownerReferences": owner},
            "spec": {"source": {"inline": {}}, "dependsOn": needs},
        }))
        .unwrap()
    }

    fn drawn(stacks: &[Stack]) -> String {
        let roots = Forest::new(stacks, false).roots();
        roots.iter().flat_map(|root| [root.text.clone(), "\n".to_owned(), draw(&root.children, "", true)]).collect()
    }

    #[test]
    fn below_each_are_those_that_need_it() {
        let owner =
            json!([{"apiVersion": "x.dev/v1", "kind": "Database", "name": "main", "uid": "u", "controller": true}]);
        let stacks = [
            stack("app", &["db", "net"], json!([])),
            stack("db", &["net"], json!([])),
            stack("made", &[], owner),
            stack("net", &[], json!([])),
            stack("web", &["app", "gone"], json!([])),
        ];
        let expected = "\
Database main
`- made  -
net  -
|- app  -
|  `- web  -
`- db  -
   `- app  - (as above)
gone (is not there)
`- web  -
";
        assert_eq!(drawn(&stacks), expected);
    }

    #[test]
    fn what_needs_itself_is_drawn_once() {
        let stacks = [stack("a", &["b"], json!([])), stack("b", &["a"], json!([]))];
        assert_eq!(drawn(&stacks), "a  - (needs itself)\n`- b  -\n   `- a (again)\n");
    }
}
