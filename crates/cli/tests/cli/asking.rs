//! Questions and answers, and being interrupted.

use crate::sandbox::Sandbox;

const CONFIG: &str = "resource \"terraform_data\" \"a\" {\n}\n";
const VARIABLES: &str = "variable \"b\" {\n  description = \"What for.\"\n}\n\nvariable \"a\" {\n  sensitive = true\n}\n\noutput \
                         \"o\" {\n  value = var.b\n}\n";

#[test]
fn only_yes_is_a_yes() {
    for answer in ["no\n", "y\n", "YES\n", "\n"] {
        let sandbox = Sandbox::new().file("main.tf", CONFIG);
        let outcome = sandbox.run_with(&["apply"], answer);
        let question = "Do you want to perform these actions?\n  groma will perform the actions described above.\n  Only 'yes' \
                        will be accepted to approve.\n\n  Enter a value: \nApply cancelled.\n";
        assert!(outcome.stdout.ends_with(question), "{}", outcome.stdout);
        assert_eq!((outcome.code, outcome.stderr.as_str(), sandbox.exists("terraform.tfstate")), (1, "", false));
    }
    let sandbox = Sandbox::new().file("main.tf", CONFIG);
    let outcome = sandbox.run_with(&["apply"], "yes\n");
    assert!(outcome.stdout.contains("Apply complete! Resources: 1 added"), "{}", outcome.stdout);
    assert_eq!(outcome.code, 0);
    let nothing = sandbox.run_with(&["apply"], "");
    assert!(!nothing.stdout.contains("Enter a value"), "{}", nothing.stdout);
    assert_eq!(nothing.code, 0);
}

#[test]
fn questions_name_what_is_at_stake() {
    let sandbox = Sandbox::new().file("main.tf", CONFIG).env("TF_WORKSPACE", "live");
    let made = sandbox.run_with(&["apply"], "yes\n");
    assert!(made.stdout.contains("Do you want to perform these actions in workspace \"live\"?"), "{}", made.stdout);
    let gone = sandbox.run_with(&["destroy"], "no\n");
    assert!(
        gone.stdout.contains("Do you really want to destroy all resources in workspace \"live\"?"),
        "{}",
        gone.stdout
    );
    assert!(gone.stdout.ends_with("Destroy cancelled.\n"), "{}", gone.stdout);
    let same = sandbox.run_with(&["apply", "-destroy"], "no\n");
    assert!(same.stdout.ends_with("Destroy cancelled.\n"), "{}", same.stdout);
}

#[test]
fn nobody_there_is_no_yes() {
    for flag in ["-input=true", "-input=false"] {
        let sandbox = Sandbox::new().file("main.tf", CONFIG);
        let outcome = sandbox.run_with(&["apply", flag], "");
        assert!(outcome.stderr.contains("Error: error asking for approval: EOF"), "{}", outcome.stderr);
        assert_eq!((outcome.code, sandbox.exists("terraform.tfstate")), (1, false));
    }
}

#[test]
fn missing_values_are_asked_for_in_order() {
    let sandbox = Sandbox::new().file("main.tf", VARIABLES);
    let outcome = sandbox.run_with(&["plan"], "hidden\nshown  \n");
    let question = "var.a\n  Enter a value: \nvar.b\n  What for.\n\n  Enter a value: \n";
    assert!(outcome.stdout.starts_with(question), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("+ o = \"shown\"") && !outcome.stdout.contains("hidden"), "{}", outcome.stdout);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let half = sandbox.run_with(&["plan", "-var", "a=1"], "shown\n");
    assert!(half.stdout.starts_with("var.b\n"), "{}", half.stdout);
}

#[test]
fn missing_values_are_errors_where_nobody_is_asked() {
    let quiet = |sandbox: &Sandbox, arguments: &[&str]| {
        let outcome = sandbox.run_with(arguments, "x\ny\n");
        let all = format!("{}{}", outcome.stdout, outcome.stderr);
        assert_eq!(outcome.code, 1, "{all}");
        assert!(all.contains("No value for required variable") && !all.contains("Enter a value"), "{all}");
    };
    let sandbox = Sandbox::new().file("main.tf", VARIABLES);
    quiet(&sandbox, &["plan", "-input=false"]);
    quiet(&sandbox, &["plan", "-json"]);
    quiet(&sandbox.env("TF_INPUT", "0"), &["plan"]);
}

#[cfg(unix)]
mod interrupted {
    use super::*;

    /// Says when it begins, and goes on when it is told to.
    fn slow(sandbox: Sandbox) -> Sandbox {
        let config = "resource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"echo > began; cat \
                      go\"\n  }\n}\n\nresource \"terraform_data\" \"b\" {\n  input = terraform_data.a.id\n}\n";
        for name in ["began", "go"] {
            let made = std::process::Command::new("mkfifo").arg(sandbox.path(name)).status().unwrap();
            assert!(made.success());
        }
        sandbox.file("main.tf", config)
    }

    #[test]
    fn while_asked() {
        for signal in ["INT", "TERM"] {
            let sandbox = Sandbox::new().file("main.tf", CONFIG);
            let mut running = sandbox.begin(&["apply"]);
            running.wait_for("Enter a value:");
            running.signal(signal);
            let outcome = running.end();
            assert!(outcome.stdout.contains("Interrupt received."), "{}", outcome.stdout);
            assert!(outcome.stderr.contains("Error: error asking for approval: interrupted"), "{}", outcome.stderr);
            assert_eq!((outcome.code, sandbox.exists("terraform.tfstate")), (1, false));
            assert!(!sandbox.exists(".terraform.tfstate.lock.info"));
        }
    }

    #[test]
    fn while_values_are_asked_for() {
        let sandbox = Sandbox::new().file("main.tf", VARIABLES);
        let mut running = sandbox.begin(&["plan"]);
        running.wait_for("Enter a value:");
        running.signal("INT");
        let outcome = running.end();
        assert_eq!((outcome.code, outcome.stdout.matches("Enter a value").count()), (1, 1), "{}", outcome.stdout);
    }

    #[test]
    fn once_what_runs_is_finished() {
        let sandbox = slow(Sandbox::new());
        let mut running = sandbox.begin(&["apply", "-auto-approve"]);
        // Reading waits for the provisioner to write.
        std::fs::read(sandbox.path("began")).unwrap();
        running.signal("INT");
        running.wait_for("Gracefully shutting down...");
        // If the provisioner was stopped, nobody reads this any more.
        let path = sandbox.path("go");
        std::thread::spawn(move || std::fs::write(path, "go\n"));
        let outcome = running.end();
        assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
        let state = sandbox.read("terraform.tfstate");
        assert!(state.contains("\"name\": \"a\"") && !state.contains("\"name\": \"b\""), "{state}");
        assert!(!sandbox.exists(".terraform.tfstate.lock.info"));
    }

    #[test]
    fn twice_it_ends_at_once() {
        let sandbox = slow(Sandbox::new());
        let mut running = sandbox.begin(&["apply", "-auto-approve"]);
        std::fs::read(sandbox.path("began")).unwrap();
        running.signal("INT");
        running.wait_for("Gracefully shutting down...");
        running.signal("INT");
        let outcome = running.end();
        assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
    }
}
