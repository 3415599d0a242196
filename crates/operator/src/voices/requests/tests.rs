//! Pull requests from being opened to being closed, with objects in memory and a server on loopback.

use groma_testkit::servers::forge::{Flavour, ForgeServer, Pull};
use kube::api::ObjectMeta;
use serde_json::json;

use super::*;
use crate::api::shared::Moment;
use crate::objects::holder;
use crate::objects::memory::Memory;

const TOKEN: &str = "hunter2-hunter2-hunter2";

struct World {
    store: Memory,
    forge: ForgeServer,
    requests: Requests,
}

fn clock() -> Clock {
    Arc::new(|| Moment(jiff::Timestamp::UNIX_EPOCH))
}

fn sha(letter: char) -> String {
    letter.to_string().repeat(40)
}

impl World {
    async fn new(flavour: Flavour, token: &str) -> Self {
        let store = Memory::new(clock());
        let forge = ForgeServer::start(flavour, TOKEN);
        let provider = if flavour == Flavour::Github { "github" } else { "gitea" };
        let spec = json!({
            "source": {"git": {
                "url": "https://git.example/acme/infra.git",
                "pullRequests": {
                    "provider": provider, "apiUrl": forge.api(), "interval": "1m",
                    "tokenRef": {"name": "forge", "key": "token"},
                },
            }},
        });
        let mut stack = Stack::new("app", serde_json::from_value(spec).unwrap());
        stack.metadata.namespace = Some("team".to_owned());
        store.create(&Kind::of::<Stack>(), &untyped(&stack).unwrap()).await.unwrap();
        let named =
            ObjectMeta { name: Some("forge".to_owned()), namespace: Some("team".to_owned()), ..ObjectMeta::default() };
        let text = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, token);
        let secret = holder(&Kind::secret(), named, json!({"data": {"token": text}}));
        store.create(&Kind::secret(), &secret).await.unwrap();
        let requests = Requests::new(Arc::new(store.clone()), clock(), None);
        Self { store, forge, requests }
    }

    /// Somebody looks, and lists what is open.
    async fn look(&self) -> Duration {
        self.requests.is_new("team", "app");
        self.requests.look_at("team", "app").await.unwrap()
    }

    async fn previews(&self) -> Vec<Stack> {
        let mut found: Vec<Stack> = find_all(&self.store, Some("team"), &[(names::PREVIEW_OF, "app")]).await.unwrap();
        found.sort_by_key(preview::number);
        found
    }

    /// The operator has planned what a preview asks for.
    async fn plan(&self, mut made: Stack, commit: &str, text: &str) {
        let name = made.metadata.name.clone().unwrap();
        let run = json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Run", "metadata": {"name": format!("{name}-1"), "namespace": "team"},
            "spec": {
                "stack": name, "number": 1, "action": "plan", "bundle": "b", "about": {}, "engine": "native", "executor": "inProcess",
                "approval": {}, "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
            },
            "status": {"phase": "Succeeded", "planned": {"add": 2, "change": 0, "destroy": 0}, "plan": {"id": "p", "text": text}},
        });
        let run: Run = serde_json::from_value(run).unwrap();
        self.store.put_as_it_is(&Kind::of::<Run>(), untyped(&run).unwrap());
        let status = json!({
            "observedGeneration": made.metadata.generation, "source": {"revision": format!("sha1:{commit}")},
            "lastRun": {"name": format!("{name}-1"), "number": 1, "phase": "Succeeded"},
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "Planned", "message": "said",
                "observedGeneration": made.metadata.generation, "lastTransitionTime": "2026-01-01T00:00:00Z",
            }],
        });
        made.status = Some(serde_json::from_value(status).unwrap());
        self.store.replace_status(&Kind::of::<Stack>(), &untyped(&made).unwrap()).await.unwrap();
    }

    fn states(&self) -> Vec<String> {
        self.forge.statuses().into_iter().map(|status| format!("{} {}", &status.sha[..1], status.state)).collect()
    }

    fn writes(&self) -> usize {
        self.forge.asked().iter().filter(|asked| !asked.starts_with("GET")).count()
    }
}

async fn from_opened_to_closed(flavour: Flavour) {
    let world = World::new(flavour, TOKEN).await;
    world.forge.say(7, "Looks good to me.");
    world.forge.open(Pull::new(7, &sha('a'), &["main.tf"]));
    world.look().await;
    let made = world.previews().await.remove(0);
    assert!(made.spec.plan_only && made.spec.preview_of.as_deref() == Some("app"));
    assert_eq!(world.states(), ["a pending"]);
    assert_eq!(world.forge.comments(7).len(), 1, "there is nothing to say yet");

    let made = find::<Stack>(&world.store, "team", made.metadata.name.as_deref().unwrap()).await.unwrap().unwrap();
    world.plan(made, &sha('a'), &format!("+ token = {TOKEN}")).await;
    world.look().await;
    assert_eq!(world.states(), ["a pending", "a success"]);
    let comments = world.forge.comments(7);
    assert_eq!(comments.len(), 2);
    assert!(comments[1].body.contains("`team/app`: 2 to add") && comments[1].body.contains(&sha('a')));
    assert!(!comments[1].body.contains("hunter2"), "{}", comments[1].body);
    assert_eq!(world.forge.statuses()[1].context, "groma/team/app");

    let (version, writes) = (world.store.version(), world.writes());
    world.look().await;
    assert_eq!((world.store.version(), world.writes()), (version, writes), "what is said is not said again");

    world.forge.open(Pull::new(7, &sha('b'), &["main.tf"]));
    world.look().await;
    let made = world.previews().await.remove(0);
    assert_eq!(made.spec.source.git.as_ref().unwrap().reference.as_ref().unwrap().commit, Some(sha('b')));
    world.plan(made, &sha('b'), "+ another").await;
    world.look().await;
    assert_eq!(world.states(), ["a pending", "a success", "b pending", "b success"]);
    let comments = world.forge.comments(7);
    assert_eq!((comments.len(), comments[1].edits), (2, 1), "the same comment");
    assert!(comments[1].body.contains("+ another"));

    world.forge.close(7);
    world.look().await;
    assert!(world.previews().await.is_empty());
}

#[tokio::test]
async fn a_request_on_github_is_planned_until_it_is_closed() {
    from_opened_to_closed(Flavour::Github).await;
}

#[tokio::test]
async fn a_request_on_gitea_is_planned_until_it_is_closed() {
    from_opened_to_closed(Flavour::Gitea).await;
}

#[tokio::test]
async fn who_comes_after_us_finds_our_comment() {
    let mut world = World::new(Flavour::Github, TOKEN).await;
    world.forge.pages_of(2);
    world.forge.open(Pull::new(7, &sha('a'), &["main.tf"]));
    world.look().await;
    for at in 0..5 {
        world.forge.say(7, &format!("comment {at}"));
    }
    world.plan(world.previews().await.remove(0), &sha('a'), "+ x").await;
    // It is written, and nobody hears of it; then the operator is another one.
    world.forge.lose_answers(1);
    world.look().await;
    assert_eq!(world.forge.comments(7).len(), 6);
    world.requests = Requests::new(Arc::new(world.store.clone()), clock(), None);
    world.look().await;
    let comments = world.forge.comments(7);
    assert_eq!((comments.len(), comments[5].edits), (6, 0));
    let noted = said(&world.previews().await[0]);
    assert_eq!(noted.comments, [comments[5].id]);

    // Somebody deletes it; the next plan gets another one.
    world.forge.unsay(comments[5].id);
    world.plan(world.previews().await.remove(0), &sha('a'), "+ y").await;
    world.look().await;
    assert_eq!(world.forge.comments(7).len(), 6);
}

#[tokio::test]
async fn a_long_plan_goes_on_in_further_comments_as_long_as_it_is_long() {
    let world = World::new(Flavour::Github, TOKEN).await;
    world.forge.open(Pull::new(7, &sha('a'), &["main.tf"]));
    world.look().await;
    let long = (0..8_000).map(|at| format!("+ line {at} of a plan\n")).collect::<Vec<_>>().concat();
    world.plan(world.previews().await.remove(0), &sha('a'), &long).await;
    world.forge.say(7, "Looks good to me.");
    world.look().await;
    let comments = world.forge.comments(7);
    assert_eq!(comments.len(), 4, "three parts, and what somebody said");
    assert!(comments[1].body.contains("part 1 of 3") && comments[3].body.contains("+ line 7999"));
    assert_eq!(said(&world.previews().await[0]).comments.len(), 3);

    world.plan(world.previews().await.remove(0), &sha('a'), "+ x").await;
    world.look().await;
    let comments = world.forge.comments(7);
    assert_eq!(comments.len(), 2, "{comments:?}");
    assert!(comments[1].body.contains("+ x") && comments[1].edits == 1);
}

#[tokio::test]
async fn all_pages_are_read_and_strangers_are_left_out() {
    let world = World::new(Flavour::Gitea, TOKEN).await;
    world.forge.pages_of(2);
    for number in 1..=5 {
        world.forge.open(Pull::new(number, &sha('a'), &["main.tf"]));
    }
    world.forge.open(Pull { from: Some("eve/infra".to_owned()), ..Pull::new(6, &sha('a'), &["main.tf"]) });
    world.forge.open(Pull { from: None, ..Pull::new(7, &sha('a'), &["main.tf"]) });
    world.forge.open(Pull { base: "next".to_owned(), ..Pull::new(8, &sha('a'), &["main.tf"]) });
    world.look().await;
    let numbers: Vec<_> = world.previews().await.iter().filter_map(preview::number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    // What has not changed is not sent again.
    world.look().await;
    let listed: Vec<String> = world.forge.asked().into_iter().filter(|asked| asked.contains("/pulls ")).collect();
    assert_eq!(listed.len(), 8, "{listed:?}");
    assert!(listed[4..].iter().all(|asked| asked.ends_with("304")), "{listed:?}");
}

#[tokio::test]
async fn a_server_that_is_asked_too_often_is_left_alone() {
    for flavour in [Flavour::Github, Flavour::Gitea] {
        let world = World::new(flavour, TOKEN).await;
        world.forge.open(Pull::new(7, &sha('a'), &["main.tf"]));
        world.forge.limit(1);
        assert_eq!(world.look().await, Duration::from_secs(1));
        assert!(world.store.notices().is_empty(), "that is nobody's failure");
        world.look().await;
        assert_eq!(world.previews().await.len(), 1);
    }
}

#[tokio::test]
async fn what_is_wrong_is_told_once_and_without_the_token() {
    let world = World::new(Flavour::Github, "wrong-but-secret").await;
    world.look().await;
    world.look().await;
    let notices = world.store.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    let message = &notices[0].message;
    assert!(message.contains("spec.source.git.pullRequests") && message.contains("401 (Bad credentials)"), "{message}");
    assert!(!format!("{notices:?}").contains("wrong-but-secret"));
}

#[tokio::test]
async fn a_stack_that_is_not_ours_is_left_alone() {
    let world = World::new(Flavour::Github, TOKEN).await;
    let stack = find::<Stack>(&world.store, "team", "app").await.unwrap().unwrap();
    let mut other = Stack::new(&preview::name(&stack, 7), stack.spec.clone());
    other.metadata.namespace = Some("team".to_owned());
    world.store.create(&Kind::of::<Stack>(), &untyped(&other).unwrap()).await.unwrap();
    world.forge.open(Pull::new(7, &sha('a'), &["main.tf"]));
    world.look().await;
    let found = find::<Stack>(&world.store, "team", other.metadata.name.as_deref().unwrap()).await.unwrap().unwrap();
    assert!(!found.spec.plan_only);
    assert!(world.store.notices()[0].message.contains("is not ours"), "{:?}", world.store.notices());
}

#[tokio::test]
async fn previews_go_when_nobody_wants_them_any_more() {
    let world = World::new(Flavour::Github, TOKEN).await;
    world.forge.open(Pull::new(7, &sha('a'), &["main.tf"]));
    world.look().await;
    let mut stack = find::<Stack>(&world.store, "team", "app").await.unwrap().unwrap();
    stack.spec.source.git.as_mut().unwrap().pull_requests = None;
    world.store.replace(&Kind::of::<Stack>(), &untyped(&stack).unwrap()).await.unwrap();
    assert_eq!(world.requests.look_at("team", "app").await, None);
    assert!(world.previews().await.is_empty());
}
