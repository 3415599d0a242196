//! A directory for a run: the files of its bundle, what goes into them, and where its state is.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use groma_model::address::Target;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_run::inputs::GivenVariable;
use groma_run::session::{Session, Start};
use serde_json::{Value as Json, json};

use super::bounds::bounds;
use super::result::spot;
use super::{Stopped, Work, Workshop};
use crate::api::run::FailureKind;
use crate::bundle::{Bundle, Content};
use crate::inputs::below;

/// Where plans are, in the directory of the root module.
pub(super) const PLAN: &str = ".groma-run.plan";
/// Whatever a configuration says about its backend, this holds: it is read last.
const BACKEND: &str = "zz_groma_backend_override.tf.json";
/// Values of variables.
pub(super) const VALUES: &str = ".groma-run.tfvars.json";

/// Why a directory could not be laid out.
#[derive(Debug, thiserror::Error)]
pub(super) enum LayoutError {
    #[error("{path:?} cannot be a file of a configuration: it leads out of it")]
    Outside { path: String },
    #[error("{path:?} could not be written: {source}")]
    Write { path: String, source: std::io::Error },
}

impl From<LayoutError> for Diagnostics {
    fn from(problem: LayoutError) -> Self {
        Diagnostic::error("Failed to lay out the configuration", format!("{problem}.")).into()
    }
}

/// Writes everything down but where the state is kept. The directory goes with what is given back.
pub(super) fn lay_out(workshop: &Workshop, name: &str, bundle: &Bundle) -> Result<tempfile::TempDir, LayoutError> {
    let failed = |path: &str, source| LayoutError::Write { path: path.to_owned(), source };
    fs::create_dir_all(&workshop.scratch).map_err(|problem| failed("the scratch directory", problem))?;
    let prefix = format!("{}-", name.replace('/', "-"));
    let made = tempfile::Builder::new().prefix(&prefix).tempdir_in(&workshop.scratch);
    let directory = made.map_err(|problem| failed("the directory of the run", problem))?;
    let root = root_of(directory.path(), bundle);
    for (path, content) in &bundle.files {
        write(directory.path(), path, content)?;
        if bundle.programs.contains(path) {
            let mode = fs::Permissions::from_mode(0o700);
            fs::set_permissions(directory.path().join(path), mode).map_err(|problem| failed(path, problem))?;
        }
    }
    fs::create_dir_all(&root).map_err(|problem| failed(&bundle.root, problem))?;
    for (path, content) in &bundle.inputs.files {
        write(&root, path, content)?;
    }
    let values: BTreeMap<&String, &Json> = bundle.inputs.values.iter().collect();
    write(&root, VALUES, &Content(json!(values).to_string().into_bytes()))?;
    Ok(directory)
}

/// Says where the state is kept, whatever the configuration says about it.
pub(super) fn put_backend(workshop: &Workshop, bundle: &Bundle, directory: &Path) -> Result<(), LayoutError> {
    write(&root_of(directory, bundle), BACKEND, &Content(backend(workshop, bundle).to_string().into_bytes()))
}

/// What the configuration itself says about where its state is kept, as long as nothing else is said: `backend "s3" (main.tf:2)`.
pub(super) fn own_backend(work: &Work<'_>, directory: &Path) -> Option<String> {
    let bundle = work.bundle;
    let files = || bundle.files.values().chain(bundle.inputs.files.values());
    let says = |word: &str| files().any(|Content(bytes)| bytes.windows(word.len()).any(|part| part == word.as_bytes()));
    // Most say nothing, and need not be read twice.
    if !says("backend") && !says("cloud") {
        return None;
    }
    let mut session = Session::new(start(work, directory));
    // What is wrong with it is told when it is read again.
    let (root, _) = session.load_root();
    let shown = |name: String, header| format!("{name} ({})", spot(header, session.sources()));
    let backend = root.backend.as_ref().map(|found| shown(format!("backend {:?}", found.kind.as_str()), found.header));
    backend.or_else(|| root.cloud.as_ref().map(|found| shown("cloud".to_owned(), found.header)))
}

/// Says that the state is a copy beside the configuration, for those who only look.
pub(super) fn put_copy(bundle: &Bundle, directory: &Path) -> Result<(), LayoutError> {
    let local = json!({ "terraform": { "backend": { "local": {} } } });
    write(&root_of(directory, bundle), BACKEND, &Content(local.to_string().into_bytes()))
}

/// Where that copy is.
pub(super) fn copy_of_state(bundle: &Bundle) -> PathBuf {
    match bundle.workspace.as_deref() {
        None | Some("default") => "terraform.tfstate".into(),
        Some(name) => Path::new("terraform.tfstate.d").join(name).join("terraform.tfstate"),
    }
}

/// Makes sure that what we have said about the state is what holds: files that are read even later could say something else.
pub(super) fn check_backend(holds: Option<Span>, sources: &SourceMap) -> Result<(), Diagnostic> {
    if holds.is_some_and(|header| spot(header, sources).starts_with(BACKEND)) {
        return Ok(());
    }
    let detail = "A file that is read after everything else says where the state is kept. That is for the Stack to say: take the \
                  block away, or give the file another name.";
    let found = Diagnostic::error("Backend cannot be overridden", detail);
    Err(match holds {
        Some(header) => found.at(header),
        None => found,
    })
}

fn root_of(directory: &Path, bundle: &Bundle) -> PathBuf {
    below(&bundle.root).map_or_else(|| directory.to_owned(), |root| directory.join(root))
}

fn backend(workshop: &Workshop, bundle: &Bundle) -> Json {
    let mut config = bundle.backend.config.clone();
    if bundle.backend.at_home {
        match workshop.states.as_ref().filter(|_| bundle.backend.kind == "local") {
            Some(states) => below_states(&mut config, states),
            None => config.extend(workshop.home.clone()),
        }
    }
    json!({ "terraform": { "backend": { bundle.backend.kind.as_str(): config } } })
}

/// States in files are where this process keeps them, which may be elsewhere than when the bundle was made.
fn below_states(config: &mut BTreeMap<String, Json>, states: &Path) {
    for name in ["path", "workspace_dir"] {
        if let Some(path) = config.get(name).and_then(Json::as_str).and_then(below) {
            config.insert(name.to_owned(), json!(states.join(path)));
        }
    }
}

fn write(directory: &Path, path: &str, Content(content): &Content) -> Result<(), LayoutError> {
    let inside = below(path).ok_or_else(|| LayoutError::Outside { path: path.to_owned() })?;
    let failed = |source| LayoutError::Write { path: path.to_owned(), source };
    let file = directory.join(inside);
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    write_private(&file, content).map_err(failed)
}

/// A file that only we can read.
pub(super) fn write_private(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(content)
}

/// What a session of the bundle starts from.
pub(super) fn start(work: &Work<'_>, directory: &Path) -> Start {
    let Work { workshop, bundle, .. } = work;
    let root = root_of(directory, bundle);
    let mut environment = workshop.environment.clone();
    environment.extend(bundle.inputs.environment.clone());
    // As the other engines have it: a variable of a Stack's own environment, never of ours.
    let named = bundle.inputs.environment.iter();
    let environment_variables =
        named.filter_map(|(name, text)| Some((name.strip_prefix("TF_VAR_")?.to_owned(), text.clone()))).collect();
    let var_files = bundle.var_files.iter().filter_map(|path| below(path));
    let var_files: Vec<GivenVariable> =
        var_files.map(|path| GivenVariable::File(directory.join(path).display().to_string())).collect();
    let mut variables = vec![GivenVariable::File(VALUES.to_owned())];
    let texts = bundle.inputs.texts.iter();
    variables.extend(texts.map(|(name, text)| GivenVariable::Offered { name: name.clone(), text: text.clone() }));
    // Of several values for a variable the last one holds.
    let at = if bundle.var_files_win { variables.len() } else { 0 };
    variables.splice(at..at, var_files);
    Start {
        workspace: Some(bundle.workspace.clone().unwrap_or_else(|| "default".to_owned())),
        environment,
        environment_variables,
        variables,
        // How we reach it is nothing that variables of a Stack may change: they would get to see who we are.
        cluster: workshop.cluster.clone().filter(|_| bundle.backend.at_home),
        bounds: bounds(work, directory),
        lock: work.lock.clone(),
        ..Start::in_directory(root)
    }
}

/// Addresses of resources, as they are written.
pub(super) fn targets(texts: &[String]) -> Result<Vec<Target>, Stopped> {
    let mut diagnostics = Diagnostics::new();
    let mut found = Vec::new();
    for text in texts {
        match text.parse::<Target>() {
            Ok(target) => found.push(target),
            Err(problem) => {
                let detail =
                    format!("spec.targets: {text:?} is no address of a resource or a module: {}.", problem.detail);
                diagnostics.push(Diagnostic::error("Invalid target", detail));
            }
        }
    }
    if diagnostics.has_errors() { Err(Stopped::Failed(FailureKind::Invalid, diagnostics)) } else { Ok(found) }
}
