//! Drawings: DOT is what OpenTofu prints for the same configuration, the others are looked at as a whole.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;

use expect_test::{Expect, expect};
use groma_model::address::{AbsInstance, Provider, ProviderConfig};
use groma_state::{Attributes, InstanceState, ObjectState, ResourceState};

use super::*;
use crate::session::{Session, Start};

const ROOT: &str = r#"
variable "size" { default = 1 }
locals { name = "x-${var.size}" }
resource "terraform_data" "a" {
  count = 2
  input = local.name
}
resource "terraform_data" "b" {
  input      = terraform_data.a[0].output
  depends_on = [module.inner]
}
data "terraform_remote_state" "r" {
  backend = "local"
  config  = { path = "x" }
}
module "inner" {
  source = "./inner"
  size   = var.size
  seed   = terraform_data.a[1].id
}
output "o" { value = terraform_data.b.id }
check "c" {
  assert {
    condition     = terraform_data.b.id != ""
    error_message = "x"
  }
}
"#;

const INNER: &str = r#"
variable "size" {}
variable "seed" {}
locals { l = var.size }
resource "terraform_data" "x" {
  for_each = toset(["p", "q"])
  input    = "${local.l}${var.seed}"
}
output "id" { value = terraform_data.x["p"].id }
"#;

fn tree(files: &[(&str, &str)]) -> ModuleTree {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let loaded = Session::new(Start::in_directory(dir.path().to_owned())).load();
    assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
    loaded.tree.unwrap()
}

fn sample() -> ModuleTree {
    tree(&[("main.tf", ROOT), ("inner/main.tf", INNER)])
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(text);
}

#[test]
fn a_configuration_as_opentofu_draws_it() {
    check(
        &GraphView::of_configuration(&sample()).to_dot(DotOptions::default()),
        expect![[r#"
            digraph {
            	compound = "true"
            	newrank = "true"
            	subgraph "root" {
            		"[root] data.terraform_remote_state.r (expand)" [label = "data.terraform_remote_state.r", shape = "box"]
            		"[root] module.inner.terraform_data.x (expand)" [label = "module.inner.terraform_data.x", shape = "box"]
            		"[root] provider[\"terraform.io/builtin/terraform\"]" [label = "provider[\"terraform.io/builtin/terraform\"]", shape = "diamond"]
            		"[root] terraform_data.a (expand)" [label = "terraform_data.a", shape = "box"]
            		"[root] terraform_data.b (expand)" [label = "terraform_data.b", shape = "box"]
            		"[root] var.size" [label = "var.size", shape = "note"]
            		"[root] check.c (expand)" -> "[root] check.c (report)"
            		"[root] check.c (expand)" -> "[root] terraform_data.b (expand)"
            		"[root] data.terraform_remote_state.r (expand)" -> "[root] provider[\"terraform.io/builtin/terraform\"]"
            		"[root] local.name (expand)" -> "[root] var.size (expand, reference)"
            		"[root] module.inner (close)" -> "[root] module.inner.output.id (expand)"
            		"[root] module.inner.local.l (expand)" -> "[root] module.inner.var.size (expand, reference)"
            		"[root] module.inner.output.id (expand)" -> "[root] module.inner.terraform_data.x (expand)"
            		"[root] module.inner.terraform_data.x (expand)" -> "[root] module.inner.local.l (expand)"
            		"[root] module.inner.terraform_data.x (expand)" -> "[root] module.inner.var.seed (expand, reference)"
            		"[root] module.inner.var.seed (expand, input)" -> "[root] module.inner (expand)"
            		"[root] module.inner.var.seed (expand, input)" -> "[root] terraform_data.a (expand)"
            		"[root] module.inner.var.seed (expand, reference)" -> "[root] module.inner.var.seed (expand, input)"
            		"[root] module.inner.var.size (expand, input)" -> "[root] module.inner (expand)"
            		"[root] module.inner.var.size (expand, input)" -> "[root] var.size (expand, reference)"
            		"[root] module.inner.var.size (expand, reference)" -> "[root] module.inner.var.size (expand, input)"
            		"[root] output.o (expand)" -> "[root] terraform_data.b (expand)"
            		"[root] provider[\"terraform.io/builtin/terraform\"] (close)" -> "[root] data.terraform_remote_state.r (expand)"
            		"[root] provider[\"terraform.io/builtin/terraform\"] (close)" -> "[root] terraform_data.b (expand)"
            		"[root] root" -> "[root] check.c (expand)"
            		"[root] root" -> "[root] output.o (expand)"
            		"[root] root" -> "[root] provider[\"terraform.io/builtin/terraform\"] (close)"
            		"[root] terraform_data.a (expand)" -> "[root] local.name (expand)"
            		"[root] terraform_data.a (expand)" -> "[root] provider[\"terraform.io/builtin/terraform\"]"
            		"[root] terraform_data.b (expand)" -> "[root] module.inner (close)"
            		"[root] var.size (expand, reference)" -> "[root] var.size"
            	}
            }
        "#]],
    );
}

#[test]
fn a_configuration_as_mermaid() {
    check(
        &GraphView::of_configuration(&sample()).to_mermaid(),
        expect![[r#"
        flowchart LR
          n6>"check.c"]
          n2[/"data.terraform_remote_state.r"/]
          n1("local.name")
          n5[["output.o"]]
          n12{{"provider[#quot;terraform.io/builtin/terraform#quot;]"}}
          n3["terraform_data.a"]
          n4["terraform_data.b"]
          n0(["var.size"])
          subgraph m1 ["module.inner"]
            n9("local.l")
            n11[["output.id"]]
            n10["terraform_data.x"]
            n7(["var.seed"])
            n8(["var.size"])
          end
          n1 --> n0
          n2 --> n12
          n3 --> n1
          n3 --> n12
          n4 --> n11
          n5 --> n4
          n6 --> n4
          n7 --> n3
          n8 --> n0
          n9 --> n8
          n10 --> n7
          n10 --> n9
          n11 --> n10
    "#]],
    );
}

fn state() -> State {
    let provider = ProviderConfig::default_in(groma_model::address::Module::root(), Provider::builtin("terraform"));
    let mut state = State::default();
    for (address, dependencies) in [
        ("terraform_data.a[0]", vec![]),
        ("terraform_data.a[1]", vec![]),
        ("terraform_data.b", vec!["terraform_data.a", "module.inner.terraform_data.x"]),
        ("module.inner.terraform_data.x[\"p\"]", vec!["terraform_data.a"]),
        ("module.inner.terraform_data.x[\"q\"]", vec!["terraform_data.a"]),
    ] {
        let address: AbsInstance = address.parse().unwrap();
        let mut object = ObjectState::new(0, Attributes::Json("{}".to_owned()));
        object.dependencies = dependencies.into_iter().map(|name| name.parse().unwrap()).collect();
        let entry = || ResourceState { provider: provider.clone(), instances: BTreeMap::new() };
        let resource = state.resources.entry(address.resource()).or_insert_with(entry);
        resource.instances.insert(address.key().clone(), InstanceState::from(object));
    }
    state
}

#[test]
fn a_destruction_as_opentofu_draws_it() {
    // OpenTofu has a node for the end of the module besides, which nothing is connected with.
    check(
        &GraphView::of_destruction(&sample(), &state()).to_dot(DotOptions::default()),
        expect![[r#"
            digraph {
            	compound = "true"
            	newrank = "true"
            	subgraph "root" {
            		"[root] module.inner.terraform_data.x[\"p\"] (destroy)" [label = "module.inner.terraform_data.x", shape = "box"]
            		"[root] module.inner.terraform_data.x[\"q\"] (destroy)" [label = "module.inner.terraform_data.x", shape = "box"]
            		"[root] provider[\"terraform.io/builtin/terraform\"]" [label = "provider[\"terraform.io/builtin/terraform\"]", shape = "diamond"]
            		"[root] terraform_data.a[0] (destroy)" [label = "terraform_data.a", shape = "box"]
            		"[root] terraform_data.a[1] (destroy)" [label = "terraform_data.a", shape = "box"]
            		"[root] terraform_data.b (destroy)" [label = "terraform_data.b", shape = "box"]
            		"[root] var.size" [label = "var.size", shape = "note"]
            		"[root] module.inner.terraform_data.x[\"p\"] (destroy)" -> "[root] terraform_data.b (destroy)"
            		"[root] module.inner.terraform_data.x[\"q\"] (destroy)" -> "[root] terraform_data.b (destroy)"
            		"[root] provider[\"terraform.io/builtin/terraform\"] (close)" -> "[root] terraform_data.a[0] (destroy)"
            		"[root] provider[\"terraform.io/builtin/terraform\"] (close)" -> "[root] terraform_data.a[1] (destroy)"
            		"[root] root" -> "[root] output.o (expand)"
            		"[root] root" -> "[root] provider[\"terraform.io/builtin/terraform\"] (close)"
            		"[root] root" -> "[root] var.size"
            		"[root] terraform_data.a[0] (destroy)" -> "[root] module.inner.terraform_data.x[\"p\"] (destroy)"
            		"[root] terraform_data.a[0] (destroy)" -> "[root] module.inner.terraform_data.x[\"q\"] (destroy)"
            		"[root] terraform_data.a[1] (destroy)" -> "[root] module.inner.terraform_data.x[\"p\"] (destroy)"
            		"[root] terraform_data.a[1] (destroy)" -> "[root] module.inner.terraform_data.x[\"q\"] (destroy)"
            		"[root] terraform_data.b (destroy)" -> "[root] provider[\"terraform.io/builtin/terraform\"]"
            	}
            }
        "#]],
    );
}

#[test]
fn circles_are_found_and_drawn() {
    let tree = tree(&[("main.tf", "locals {\n  a = local.b\n  b = local.a\n  c = local.a\n}\n")]);
    let graph = GraphView::of_configuration(&tree);
    assert_eq!(graph.cycles(), [["local.a (expand)", "local.b (expand)"]]);
    let plain = graph.to_dot(DotOptions::default());
    assert!(!plain.contains("red"), "{plain}");
    let drawn = graph.to_dot(DotOptions { draw_cycles: true, verbose: false });
    assert!(
        drawn.contains(
            "\"[root] local.a (expand)\" -> \"[root] local.b (expand)\" [color = \"red\", penwidth = \"2.0\"]"
        )
    );
    assert!(graph.to_svg().contains("class=\"line circle\""));
    assert!(graph.to_mermaid().contains("linkStyle"));
}

#[test]
fn a_small_drawing() {
    let tree = tree(&[(
        "main.tf",
        "locals {\n  a = 1\n  b = \"${local.a}<&>\"\n}\noutput \"o\" {\n  value = [local.a, local.b]\n}\n",
    )]);
    check(
        &GraphView::of_configuration(&tree).to_svg(),
        expect![[r##"
        <svg xmlns="http://www.w3.org/2000/svg" width="367" height="81" viewBox="0 0 367 81">
        <style>
        text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1b1f24}
        .box{stroke:#57606a;stroke-width:1}
        .resource{fill:#ddf4ff}.data{fill:#e6ffec}.ephemeral{fill:#fff8c5}.provider{fill:#fbefff}
        .variable{fill:#fff1e5}.local{fill:#f6f8fa}.output{fill:#ffebe9}.check{fill:#eef1ff}.helper{fill:#eaeef2}
        .line{fill:none;stroke:#8c959f;stroke-width:1}
        .circle{stroke:#cf222e;stroke-width:2}
        </style>
        <defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#8c959f"/></marker></defs>
        <rect width="367" height="81" fill="#ffffff"/>
        <path class="line" d="M222 37H276" marker-end="url(#arrow)"/>
        <path class="line" d="M98 37H151" marker-end="url(#arrow)"/>
        <g><title>local.a</title><rect class="box local" x="276" y="25" width="71" height="24" rx="12"/><text x="286" y="41">local.a</text></g>
        <g><title>local.b</title><rect class="box local" x="151" y="25" width="71" height="24" rx="12"/><text x="161" y="41">local.b</text></g>
        <g><title>output.o</title><rect class="box output" x="20" y="25" width="78" height="24" rx="12"/><text x="30" y="41">output.o</text></g>
        </svg>
    "##]],
    );
}

/// A graph in layers, with lines over several of them.
fn large(layers: usize, width: usize) -> GraphView {
    let mut graph = GraphView::default();
    for at in 0..layers * width {
        let name = format!("terraform_data.number_{at}");
        let node = graph.add(Node::new(name.clone(), &name, NodeKind::Resource, ""));
        for step in [width, width + 1, 3 * width + 7] {
            if at >= step {
                graph.need(node, at - step);
            }
        }
    }
    graph
}

#[test]
fn two_thousand_nodes_do_not_overlap() {
    let graph = large(20, 100);
    let layout = layout::layout(&graph.needs);
    for column in &layout.columns {
        for pair in column.windows(2) {
            let both = |slot: usize| matches!(layout.slots[slot], layout::Slot::Node(_));
            let least = if both(pair[0]) && both(pair[1]) { 33.9 } else { 9.9 };
            assert!(layout.y[pair[1]] - layout.y[pair[0]] >= least, "{pair:?} overlap");
        }
    }
    let svg = graph.to_svg();
    assert_eq!(svg.matches("<rect class=").count(), 2000);
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "a number is none");
}

#[test]
fn what_is_needed_stands_to_the_right() {
    let graph = large(10, 10);
    let layout = layout::layout(&graph.needs);
    let mut column = vec![0; layout.slots.len()];
    layout.columns.iter().enumerate().for_each(|(at, slots)| slots.iter().for_each(|slot| column[*slot] = at));
    for (node, needs) in graph.needs.iter().enumerate() {
        assert!(needs.iter().all(|need| column[*need] > column[node]));
    }
}

#[test]
fn what_follows_from_the_rest_is_left_out() {
    let mut needs = vec![vec![1, 2, 3, 3], vec![2], vec![3], vec![]];
    reduce::reduce(&mut needs);
    assert_eq!(needs, [vec![1], vec![2], vec![3], vec![]]);
    let mut circle = vec![vec![1, 2], vec![2], vec![0]];
    reduce::reduce(&mut circle);
    assert_eq!(circle, [vec![1, 2], vec![2], vec![0]], "circles stay as they are");
}

#[test]
fn what_connects_very_many_stays() {
    let mut graph = GraphView::default();
    let gate = graph.add(Node::helper("gate".to_owned(), ""));
    for at in 0..200 {
        let node = graph.add(Node::new(at.to_string(), "x", NodeKind::Resource, ""));
        if at < 100 { graph.need(node, gate) } else { graph.need(gate, node) }
    }
    assert_eq!(graph.simplified().nodes.len(), 201);
    let small = GraphView { nodes: graph.nodes[..3].to_vec(), needs: vec![vec![1], vec![], vec![0]] };
    let simple = small.simplified();
    assert_eq!(simple.needs, [vec![], vec![0]], "its neighbours are connected directly");
}
