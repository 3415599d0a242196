//! `groma graph`.

use expect_test::expect;

use crate::sandbox::Sandbox;

const CONFIG: &str = r#"
variable "size" {}

resource "terraform_data" "a" {
  input = var.size
}

resource "terraform_data" "b" {
  input = terraform_data.a.id
}
"#;

#[test]
fn a_configuration_needs_neither_values_nor_init() {
    let sandbox = Sandbox::new().file("main.tf", CONFIG);
    sandbox.run(&["graph"]).is(expect![[r#"
        exit code 0
        ----- stdout
        digraph {
        	compound = "true"
        	newrank = "true"
        	subgraph "root" {
        		"[root] provider[\"terraform.io/builtin/terraform\"]" [label = "provider[\"terraform.io/builtin/terraform\"]", shape = "diamond"]
        		"[root] terraform_data.a (expand)" [label = "terraform_data.a", shape = "box"]
        		"[root] terraform_data.b (expand)" [label = "terraform_data.b", shape = "box"]
        		"[root] var.size" [label = "var.size", shape = "note"]
        		"[root] provider[\"terraform.io/builtin/terraform\"] (close)" -> "[root] terraform_data.b (expand)"
        		"[root] root" -> "[root] provider[\"terraform.io/builtin/terraform\"] (close)"
        		"[root] terraform_data.a (expand)" -> "[root] provider[\"terraform.io/builtin/terraform\"]"
        		"[root] terraform_data.a (expand)" -> "[root] var.size (expand, reference)"
        		"[root] terraform_data.b (expand)" -> "[root] terraform_data.a (expand)"
        		"[root] var.size (expand, reference)" -> "[root] var.size"
        	}
        }

    "#]]);
    sandbox.run(&["graph", "-format=mermaid"]).is(expect![[r#"
        exit code 0
        ----- stdout
        flowchart LR
          n3{{"provider[#quot;terraform.io/builtin/terraform#quot;]"}}
          n1["terraform_data.a"]
          n2["terraform_data.b"]
          n0(["var.size"])
          n1 --> n0
          n1 --> n3
          n2 --> n1
    "#]]);
    let svg = sandbox.run(&["graph", "-format=svg", "-type=plan-refresh-only"]);
    assert!(svg.stdout.starts_with("<svg ") && svg.stdout.ends_with("</svg>\n"), "{}", svg.stdout);
    assert!(svg.stdout.contains(">terraform_data.b</text>"), "{}", svg.stdout);
}

#[test]
fn a_saved_plan_is_drawn_in_its_order() {
    let sandbox = Sandbox::new().file("main.tf", CONFIG);
    assert_eq!(sandbox.run(&["plan", "-var=size=1", "-out=tfplan"]).code, 0);
    let made = sandbox.run(&["graph", "-plan=tfplan", "-format=mermaid"]);
    assert!(made.stdout.contains("[\"terraform_data.a (create)\"]"), "{}", made.stdout);
    assert_eq!(sandbox.run(&["apply", "tfplan"]).code, 0);
    let gone = sandbox.run(&["graph", "-type=plan-destroy"]);
    let order = "\"[root] terraform_data.a (destroy)\" -> \"[root] terraform_data.b (destroy)\"";
    assert!(gone.stdout.contains(order), "{}", gone.stdout);
}

#[test]
fn circles_are_refused_or_drawn() {
    let sandbox = Sandbox::new().file("main.tf", "locals {\n  a = local.b\n  b = local.a\n}\n");
    let refused = sandbox.run(&["graph"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""));
    assert!(refused.stderr.contains("Error: Cycle: local.a (expand), local.b (expand)"), "{}", refused.stderr);
    let drawn = sandbox.run(&["graph", "-draw-cycles"]);
    assert_eq!(drawn.code, 0);
    assert!(drawn.stdout.contains("color = \"red\""), "{}", drawn.stdout);
}

#[test]
fn what_cannot_be_drawn() {
    let sandbox = Sandbox::new().file("main.tf", CONFIG);
    let said = |arguments: &[&str], expected: &str| {
        let outcome = sandbox.run(arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{arguments:?}");
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    };
    said(&["graph", "-type=other"], "Error: Unsupported graph type");
    said(&["graph", "-type=eval"], "Error: Graph type no longer available");
    said(&["graph", "-format=png"], "Error: Unsupported graph format");
    said(&["graph", "-plan=missing"], "missing\" as a plan file");
}
