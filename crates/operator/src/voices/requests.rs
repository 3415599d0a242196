//! Pull requests: those that are open become Stacks that are only planned, and what comes of that is told where they are discussed. What
//! was told is written on those Stacks; what was listed is remembered here, and would be listed again.

mod comment;
mod forge;
mod preview;
mod repository;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groma_network::Networks;
use groma_run::source::relevance::{Files, Question, Relevance, relevance};
use reqwest::{Certificate, Client};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::api::names;
use crate::api::run::Run;
use crate::api::source::GitSource;
use crate::api::stack::Stack;
use crate::api::voices::PullRequests;
use crate::blobs::Blob;
use crate::bundle::{Bundle, Content};
use crate::objects::{Kind, Notice, Place, Store, StoreError, data_of, find, find_all, typed, untyped};
use crate::runs::in_process::Clock;
use crate::runs::plan_text;
use crate::voices::webhooks::call::{allowed_url, outward};
use comment::{About, Mark, Outcome};
use forge::{Comment, CommitState, Forge, ForgeError, Page, Request};
use repository::{Repository, repository};

/// How often it is looked for pull requests.
const INTERVAL: Duration = Duration::from_mins(1);
/// And at most: servers count.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(5);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How soon it is tried again when something went wrong, and may not the next time.
const SOON: Duration = Duration::from_secs(15);
const AT_ONCE: Duration = Duration::from_millis(100);
/// For so many of them there are Stacks, of the newest.
const MOST_REQUESTS: usize = 100;

/// Looks after pull requests.
pub struct Requests {
    store: Arc<dyn Store>,
    clock: Clock,
    /// Where connections may lead. None for everywhere.
    networks: Option<Networks>,
    remembered: Mutex<BTreeMap<Name, Remembered>>,
    /// Where something is new, whatever is remembered.
    stale: Mutex<BTreeSet<Name>>,
}

/// Namespace and name of a Stack.
type Name = (String, String);

/// What is known about the pull requests of a Stack. Whoever comes after us finds it out again.
#[derive(Default)]
struct Remembered {
    /// When they were listed, with what came of it.
    listed: Option<(Instant, Vec<Request>)>,
    pages: Vec<Page>,
    /// Commits that change nothing which the Stack is made of.
    elsewhere: BTreeMap<u64, String>,
    /// What was told last about what goes wrong.
    complaint: String,
    client: Option<(Option<Content>, Client)>,
}

/// What was said about a pull request. It stands on the Stack that was made for it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Said {
    /// About which commit.
    #[serde(default)]
    commit: String,
    /// How that was said to be.
    #[serde(default)]
    state: Option<CommitState>,
    /// With which words.
    #[serde(default)]
    description: String,
    /// The comment, and those that it goes on in.
    #[serde(default)]
    comments: Vec<u64>,
    /// What they say.
    #[serde(default)]
    digest: String,
}

/// Why pull requests could not be looked after. It is tried again.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Forge(#[from] ForgeError),
    #[error("{0}")]
    Invalid(String),
}

impl Requests {
    /// With objects there.
    pub fn new(store: Arc<dyn Store>, clock: Clock, networks: Option<Networks>) -> Self {
        Self { store, clock, networks, remembered: Mutex::default(), stale: Mutex::default() }
    }

    fn remembered(&self) -> MutexGuard<'_, BTreeMap<Name, Remembered>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something is new there: they are listed when they are looked at the next time.
    pub(crate) fn is_new(&self, namespace: &str, name: &str) {
        let mut stale = self.stale.lock().unwrap_or_else(PoisonError::into_inner);
        stale.insert((namespace.to_owned(), name.to_owned()));
    }

    /// Looks at the pull requests of a Stack. Gives after what time to look again.
    pub(crate) async fn look_at(&self, namespace: &str, name: &str) -> Option<Duration> {
        // It is large, and whoever waits for it need not be.
        Box::pin(self.look_at_stack(namespace, name)).await
    }

    async fn look_at_stack(&self, namespace: &str, name: &str) -> Option<Duration> {
        let key = (namespace.to_owned(), name.to_owned());
        // Nobody else looks at the same ones now.
        let mut known = self.remembered().remove(&key).unwrap_or_default();
        if self.stale.lock().unwrap_or_else(PoisonError::into_inner).remove(&key) {
            known.listed = None;
        }
        let stack = find::<Stack>(&*self.store, namespace, name).await;
        let (stack, looked) = match stack {
            Ok(None) => return None,
            Ok(Some(stack)) => {
                let looked = self.look(&stack, &mut known).await;
                (Some(stack), looked)
            }
            Err(problem) => (None, Err(problem.into())),
        };
        let again = match looked {
            Ok(None) => return None,
            Ok(again) => {
                known.complaint.clear();
                again
            }
            Err(problem) => Some(self.complain(stack.as_ref(), &mut known, &problem).await),
        };
        self.remembered().insert(key, known);
        again
    }

    async fn complain(&self, stack: Option<&Stack>, known: &mut Remembered, problem: &Problem) -> Duration {
        let text = problem.to_string();
        let (pause, is_worth_telling) = match problem {
            // What somebody else wrote is looked at, now.
            Problem::Store(StoreError::Conflict(_) | StoreError::Missing(_)) => (AT_ONCE, false),
            Problem::Store(problem) => (SOON, !problem.is_passing()),
            Problem::Forge(ForgeError::Limited(pause)) => (*pause, false),
            Problem::Forge(ForgeError::Away { .. }) => (SOON, true),
            Problem::Forge(_) | Problem::Invalid(_) => (INTERVAL, true),
        };
        // It is told once, however often it is tried.
        if is_worth_telling && known.complaint != text {
            tracing::warn!(%problem, "pull requests could not be looked at");
            if let Some(stack) = stack {
                let message = format!("Pull requests (spec.source.git.pullRequests): {text}");
                self.tell(stack, "PullRequestsFailed", message).await;
            }
            known.complaint = text;
        }
        pause
    }

    async fn tell(&self, stack: &Stack, reason: &str, message: String) {
        let (namespace, name) = names_of(stack);
        let about = Place::new(Kind::of::<Stack>(), namespace, name);
        let uid = stack.metadata.uid.clone();
        self.store.notice(Notice { about, uid, is_warning: true, reason: reason.to_owned(), message }).await;
    }

    async fn look(&self, stack: &Stack, known: &mut Remembered) -> Result<Option<Duration>, Problem> {
        let (namespace, name) = names_of(stack);
        let label = preview::label(name);
        let mut previews: Vec<Stack> =
            find_all(&*self.store, Some(namespace), &[(names::PREVIEW_OF, label.as_str())]).await?;
        previews.retain(|made| preview::is_of(made, stack));
        let wish = stack.spec.source.git.as_ref().and_then(|git| Some((git, git.pull_requests.as_ref()?)));
        let Some((git, wish)) = wish.filter(|_| stack.metadata.deletion_timestamp.is_none()) else {
            for made in &previews {
                self.remove(made).await?;
            }
            return Ok(None);
        };
        let interval = wish.interval.map_or(INTERVAL, |length| length.0).max(SHORTEST_INTERVAL);
        let at = repository(&git.url, wish.provider, wish.api_url.as_deref()).map_err(Problem::Invalid)?;
        let token = self.token(namespace, wish).await?;
        let client = self.client(namespace, git, &at, known).await?;
        let now = (self.clock)().0.as_second();
        let forge = Forge { client: &client, kind: wish.provider, at, token: &token, now };
        let open = match &known.listed {
            Some((listed, open)) if listed.elapsed() < interval => open.clone(),
            _ => {
                let open = forge.open(&mut known.pages).await?;
                known.listed = Some((Instant::now(), open.clone()));
                open
            }
        };
        let chosen = self.chosen(stack, (git, wish), (&open, &previews), &forge, known).await?;
        for made in &previews {
            let is_open = preview::number(made).is_some_and(|number| chosen.iter().any(|it| it.number == number));
            if !is_open {
                self.remove(made).await?;
            }
        }
        let mut first_problem = None;
        for request in chosen {
            let made = previews.iter().find(|made| preview::number(made) == Some(request.number));
            // What goes wrong with one is in nobody else's way.
            match self.look_after(stack, request, made, &forge).await {
                Ok(()) => {}
                Err(Problem::Forge(limited @ ForgeError::Limited(_))) => return Err(limited.into()),
                Err(problem) => {
                    first_problem.get_or_insert(problem);
                }
            }
        }
        let left =
            known.listed.as_ref().map_or(Duration::ZERO, |(listed, _)| interval.saturating_sub(listed.elapsed()));
        first_problem.map_or(Ok(Some(left.max(Duration::from_millis(100)))), Err)
    }

    /// Those for which there are to be Stacks.
    async fn chosen<'r>(
        &self,
        stack: &Stack,
        (git, wish): (&GitSource, &PullRequests),
        (open, previews): (&'r [Request], &[Stack]),
        forge: &Forge<'_>,
        known: &mut Remembered,
    ) -> Result<Vec<&'r Request>, Problem> {
        let mut candidates: Vec<&Request> =
            open.iter().filter(|request| preview::concerns(git, wish.forks, request)).collect();
        candidates.sort_by_key(|request| std::cmp::Reverse(request.number));
        candidates.truncate(MOST_REQUESTS);
        known.elsewhere.retain(|number, _| candidates.iter().any(|request| request.number == *number));
        let mut directories = None;
        let mut chosen = Vec::new();
        for request in candidates {
            // What mattered once goes on to.
            let is_planned = previews.iter().any(|made| preview::number(made) == Some(request.number));
            let is_elsewhere = known.elsewhere.get(&request.number) == Some(&request.commit);
            if is_planned {
                chosen.push(request);
            } else if !is_elsewhere {
                let directories = match &mut directories {
                    Some(directories) => directories,
                    empty => empty.insert(self.directories(stack).await?),
                };
                if directories.is_empty() || preview::touches(&forge.files(request.number).await?, directories) {
                    chosen.push(request);
                } else {
                    known.elsewhere.insert(request.number, request.commit.clone());
                }
            }
        }
        Ok(chosen)
    }

    /// Where a Stack has its files, as far as that is known from its last run.
    async fn directories(&self, stack: &Stack) -> Result<BTreeSet<String>, Problem> {
        let (namespace, _) = names_of(stack);
        let status = stack.status.clone().unwrap_or_default();
        let Some(last) = status.last_run else { return Ok(BTreeSet::new()) };
        let Some(run) = find::<Run>(&*self.store, namespace, &last.name).await? else { return Ok(BTreeSet::new()) };
        let blob = Blob { namespace, name: &run.spec.bundle, labels: BTreeMap::new(), owner: None, kept: true };
        // What cannot be read is not known.
        let bytes = blob.load(&*self.store).await.ok().flatten();
        let bundle = bytes.and_then(|bytes| Bundle::decode(&bytes).ok());
        let Some(bundle) = bundle else { return Ok(BTreeSet::new()) };
        let question =
            Question { root: bundle.root.clone(), var_files: bundle.var_files.clone(), programs: bundle.allow_exec };
        Ok(match relevance(&Bundled(&bundle), &question) {
            Relevance::Everything(_) => BTreeSet::new(),
            Relevance::Files(files) => preview::directories(files.iter()),
        })
    }

    async fn token(&self, namespace: &str, wish: &PullRequests) -> Result<Content, Problem> {
        let field = "spec.source.git.pullRequests.tokenRef";
        let key = &wish.token_ref;
        let secret = self.store.get(&Place::new(Kind::secret(), namespace, &key.name)).await?;
        let secret = secret.ok_or_else(|| Problem::Invalid(format!("{field}: Secret {:?} is not there", key.name)))?;
        let token = data_of(&secret).remove(&key.key);
        let token = token.filter(|token| !token.trim_ascii().is_empty() && token.is_ascii());
        let wrong = || format!("{field}: Secret {:?} has no key {:?} with a token", key.name, key.key);
        token.map(Content).ok_or_else(|| Problem::Invalid(wrong()))
    }

    /// A client that goes to the server and nowhere else, and trusts what its repository is fetched with.
    async fn client(
        &self,
        namespace: &str,
        git: &GitSource,
        at: &Repository,
        known: &mut Remembered,
    ) -> Result<Client, Problem> {
        let field = "spec.source.git.pullRequests.apiUrl";
        let wrong = |problem: String| Problem::Invalid(format!("{field}: {}: {problem}", at.api));
        allowed_url(&at.api, self.networks.as_ref()).map_err(wrong)?;
        let secret = match &git.secret_ref {
            Some(name) => self.store.get(&Place::new(Kind::secret(), namespace, name)).await?,
            None => None,
        };
        let roots = secret.as_ref().and_then(|secret| data_of(secret).remove("caFile")).map(Content);
        if let Some((of, client)) = &known.client
            && *of == roots
        {
            return Ok(client.clone());
        }
        let mut builder = outward(PATIENCE, self.networks.as_ref());
        if let Some(roots) = &roots {
            let read = Certificate::from_pem_bundle(&roots.0);
            let read = read.map_err(|_| {
                Problem::Invalid("spec.source.git.secretRef: caFile has no certificates in PEM".to_owned())
            })?;
            builder = builder.tls_certs_merge(read);
        }
        let client = builder.build().map_err(|problem| wrong(problem.to_string()))?;
        known.client = Some((roots, client.clone()));
        Ok(client)
    }

    async fn remove(&self, made: &Stack) -> Result<(), StoreError> {
        let (namespace, name) = names_of(made);
        if made.metadata.deletion_timestamp.is_some() {
            return Ok(());
        }
        self.store.delete(&Place::new(Kind::of::<Stack>(), namespace, name), made.metadata.uid.as_deref()).await
    }

    /// There is a Stack for a pull request, and what came of it is told.
    async fn look_after(
        &self,
        stack: &Stack,
        request: &Request,
        made: Option<&Stack>,
        forge: &Forge<'_>,
    ) -> Result<(), Problem> {
        let wanted = preview::wanted(stack, request);
        let made = match made {
            // It goes, and another one comes when it is gone.
            Some(made) if made.metadata.deletion_timestamp.is_some() => return Ok(()),
            Some(made) if made.spec == wanted.spec => made.clone(),
            Some(made) => {
                let mut changed = made.clone();
                changed.spec = wanted.spec;
                typed(&self.store.replace(&Kind::of::<Stack>(), &untyped(&changed)?).await?)?
            }
            None => match self.store.create(&Kind::of::<Stack>(), &untyped(&wanted)?).await {
                Ok(made) => typed(&made)?,
                Err(StoreError::Exists(place)) => {
                    let problem =
                        format!("{place} is there, and is not ours: pull request {} is not planned", request.number);
                    return Err(Problem::Invalid(problem));
                }
                Err(problem) => return Err(problem.into()),
            },
        };
        let last = made.status.as_ref().and_then(|status| status.last_run.as_ref());
        let mut run = match last {
            Some(last) => find::<Run>(&*self.store, names_of(&made).0, &last.name).await?,
            None => None,
        };
        if let Some(run) = &mut run {
            let whole = plan_text::whole(&*self.store, run).await;
            if let Some(plan) = run.status.as_mut().and_then(|status| status.plan.as_mut()) {
                plan.text = whole;
            }
        }
        let seen = stack.status.as_ref().and_then(|status| status.attempted.as_ref());
        let source_hash = seen.map(|about| about.source_hash.as_str()).unwrap_or_default();
        let outcome = preview::outcome(&made, run.as_ref(), &request.commit, source_hash);
        self.say(stack, request, &made, &outcome, forge).await
    }

    /// Says what came of it, unless that was said.
    async fn say(
        &self,
        stack: &Stack,
        request: &Request,
        made: &Stack,
        outcome: &Outcome,
        forge: &Forge<'_>,
    ) -> Result<(), Problem> {
        let before = said(made);
        let mut now = before.clone();
        let told = self.say_so(stack, request, outcome, forge, &mut now).await;
        // Whatever was said is written down, also if the rest could not be.
        if now != before {
            let mut noted = made.clone();
            let text = serde_json::to_string(&now).unwrap_or_default();
            noted.metadata.annotations.get_or_insert_default().insert(names::TOLD.to_owned(), text);
            self.store.replace(&Kind::of::<Stack>(), &untyped(&noted)?).await?;
        }
        told.map_err(Problem::from)
    }

    async fn say_so(
        &self,
        stack: &Stack,
        request: &Request,
        outcome: &Outcome,
        forge: &Forge<'_>,
        said: &mut Said,
    ) -> Result<(), ForgeError> {
        let (namespace, name) = names_of(stack);
        let (state, description) = (outcome.state(), hidden(&outcome.description(), forge.token));
        let is_said = said.commit == request.commit && said.state == Some(state) && said.description == description;
        let context = format!("groma/{namespace}/{name}");
        // A token may be allowed to comment and not to set a status; that is no reason to say nothing.
        let status =
            if is_said { Ok(()) } else { forge.set_status(&request.commit, state, &context, &description).await };
        if status.is_ok() {
            (said.commit, said.state, said.description) = (request.commit.clone(), Some(state), description);
        }
        let uid = stack.metadata.uid.as_deref().unwrap_or_default();
        let mark = Mark::new(uid, request.number);
        let about = About {
            namespace,
            stack: name,
            path: &stack.spec.path,
            workspace: stack.spec.workspace.as_deref(),
            commit: &request.commit,
            mark: &mark,
        };
        let bodies = comment::bodies(&about, outcome);
        let bodies: Vec<String> = bodies.iter().map(|body| hidden(body, forge.token)).collect();
        let digest = comment::digest(&bodies);
        if !bodies.is_empty() && said.digest != digest {
            Self::upsert(forge, request.number, &mut said.comments, &mark, &bodies).await?;
            said.digest = digest;
        }
        status
    }

    /// One comment for each body, whoever wrote it down where they are. What was said in more of them before is taken away.
    async fn upsert(
        forge: &Forge<'_>,
        number: u64,
        known: &mut Vec<u64>,
        mark: &Mark,
        bodies: &[String],
    ) -> Result<(), ForgeError> {
        let mut listed: Option<Vec<Comment>> = None;
        for (at, body) in bodies.iter().enumerate() {
            if let Some(id) = known.get(at)
                && forge.edit(*id, body).await?
            {
                continue;
            }
            known.truncate(at);
            let comments = match &mut listed {
                Some(comments) => comments,
                empty => empty.insert(forge.comments(number).await?),
            };
            // Others can copy the mark once they have seen it, but not before.
            let id = match comments.iter().find(|comment| mark.part(&comment.body) == Some(at)) {
                Some(found) => {
                    if found.body.trim_end() != body.trim_end() {
                        forge.edit(found.id, body).await?;
                    }
                    found.id
                }
                None => forge.comment(number, body).await?,
            };
            known.push(id);
        }
        while known.len() > bodies.len() {
            if let Some(id) = known.last() {
                forge.remove(*id).await?;
            }
            known.pop();
        }
        Ok(())
    }
}

/// The files of a bundle, for those who ask what of them matters.
struct Bundled<'b>(&'b Bundle);

impl Files for Bundled<'_> {
    fn paths(&self) -> Vec<&str> {
        self.0.files.keys().map(String::as_str).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.0.files.get(path).map(|content| content.0.clone())
    }
}

/// What was said about a pull request.
fn said(made: &Stack) -> Said {
    let noted = made.metadata.annotations.as_ref().and_then(|notes| notes.get(names::TOLD));
    noted.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// A text without the token, which may have come there by way of the repository.
fn hidden(text: &str, token: &Content) -> String {
    let token = String::from_utf8_lossy(&token.0);
    text.replace(token.trim(), "(from a Secret)")
}

fn names_of(stack: &Stack) -> (&str, &str) {
    let metadata = &stack.metadata;
    (metadata.namespace.as_deref().unwrap_or_default(), metadata.name.as_deref().unwrap_or_default())
}
