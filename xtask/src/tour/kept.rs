//! A repository, a Stack that is made from it, and an operator that keeps what was pushed. Each step is told, done, and looked at.

mod stage;

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use stage::Stage;

/// The configuration. `PAGE` is where its page is, `HEALTH` how the release comes out.
const MAIN: &str = r#"resource "random_pet" "shop" {}

resource "local_file" "page" {
  filename = "PAGE"
  content  = "Welcome to the ${random_pet.shop.id}!\n"
}

# Stands for a release that takes its time, or never gets there.
resource "terraform_data" "release" {
  input = "HEALTH"
}

output "shop" {
  value = random_pet.shop.id
}
"#;

/// What has to hold before anybody calls it done.
const RULE: &str = r#"wait "terraform_data.release" {
  until    = self.output == "serving"
  timeout  = "1s"
  interval = "200ms"
}
"#;

/// How long nothing happens that must not. The repository is looked at every second.
const QUIET: Duration = Duration::from_secs(2);

/// Runs this part of the tour.
pub(super) fn run(groma: &Path) -> Result<()> {
    let dir = tempfile::tempdir().context("no place for an example")?;
    title("A repository, and a Stack that follows its branch");
    let mut stage = Stage::new(groma, dir.path())?;
    let first = stage.push(&configuration(&stage, "serving"), "open a shop")?;
    stage.write_stack()?;
    stage.begin()?;
    agreed(&stage, &first)?;
    drift(&stage, &first)?;
    unrelated(&stage, &first)?;
    let id = broken(&stage)?;
    mended(&stage, &id)?;
    gone(&stage)?;
    stage.end()
}

fn title(text: &str) {
    println!("\n── {text} ──");
}

fn configuration(stage: &Stage, health: &str) -> [(&'static str, String); 2] {
    let page = stage.page().display().to_string();
    let main = MAIN.replace("PAGE", &page).replace("HEALTH", health);
    [("shop/main.tf", main), ("shop/release.groma.hcl", RULE.to_owned())]
}

/// Commit, plan, apply.
fn agreed(stage: &Stage, revision: &str) -> Result<()> {
    title("The plan waits: a new name needs somebody's agreement, so says the Stack");
    stage.wait("a plan", || Ok(stage.pending()?.is_some()))?;
    stage.groma(&["stack", "plan", "shop"])?;
    let plan = stage.pending()?.context("the plan is gone")?;
    ensure!(!stage.page().exists(), "something was made before anybody agreed");
    title("Somebody agrees to exactly this plan");
    stage.groma(&["stack", "approve", "shop", &plan])?;
    stage.wait_applied(revision)?;
    ensure!(fs::read_to_string(stage.page())?.starts_with("Welcome to the "), "the page is not as configured");
    stage.groma(&["stack", "get"])?;
    stage.groma(&["stack", "outputs", "shop"])
}

fn drift(stage: &Stage, revision: &str) -> Result<()> {
    title("Somebody paints over the page; nobody has to do anything");
    let page = fs::read_to_string(stage.page())?;
    fs::write(stage.page(), "KILROY WAS HERE\n")?;
    println!("$ echo KILROY WAS HERE > page.html");
    stage.wait("the page", || Ok(fs::read_to_string(stage.page()).is_ok_and(|found| found == page)))?;
    stage.wait_applied(revision)?;
    println!("$ cat page.html\n{}", page.trim_end());
    Ok(())
}

/// A commit that has nothing to do with it.
fn unrelated(stage: &Stage, applied: &str) -> Result<()> {
    title("A commit that the configuration does not read: it is seen, and nothing is run");
    let runs = stage.runs()?;
    let revision = stage.push(&[("README.md", "# A shop\n".to_owned())], "say what this is")?;
    stage.wait("the commit", || Ok(stage.status()?["status"]["source"]["revision"] == revision))?;
    std::thread::sleep(QUIET);
    ensure!(stage.runs()? == runs, "something was run");
    ensure!(stage.status()?["status"]["applied"]["revision"] == applied, "something was applied");
    println!("{revision} is known; {applied} is what is there, since run {runs}");
    Ok(())
}

/// Gives the id of what is not ready.
fn broken(stage: &Stage) -> Result<String> {
    title("A release that does not get there: the run fails, and nothing is tainted");
    let (before, _) = stage.release()?;
    let revision = stage.push(&configuration(stage, "crashing"), "release 2")?;
    stage.wait_failed(&revision, "not ready")?;
    stage.groma(&["stack", "get"])?;
    let (id, status) = stage.release()?;
    ensure!(id == before, "it was made anew: {before} is {id}");
    ensure!(status.is_none(), "it is {status:?}");
    println!("terraform_data.release is still {id}, and not tainted");
    Ok(id)
}

fn mended(stage: &Stage, id: &str) -> Result<()> {
    title("The next commit mends it, at once and in place");
    let revision = stage.push(&configuration(stage, "serving"), "mend release 2")?;
    stage.wait_applied(&revision)?;
    let (now, _) = stage.release()?;
    ensure!(now == id, "it was made anew: {id} is {now}");
    println!("terraform_data.release is still {now}, and ready");
    stage.groma(&["stack", "get"])?;
    stage.groma(&["stack", "describe", "shop"])
}

fn gone(stage: &Stage) -> Result<()> {
    title("Nobody wants the shop any more: its Stack goes, and everything with it");
    stage.remove_stack()?;
    stage.wait("the end", || Ok(!stage.page().exists() && stage.status()?.is_null()))?;
    ensure!(!stage.state_file().exists(), "a state was left");
    println!("The page is gone, and so is the state.");
    Ok(())
}
