//! The objects: what may refer to what, what is hidden, and in which words they are answered.

use serde_json::{Map, Value, json};

use super::WORKSPACE;

/// What is shown instead of a secret.
pub const MASK: &str = "**********";

/// Parts of names whose values are secret.
const SECRET: [&str; 5] = ["secret", "password", "token", "api_key", "access_key"];

/// Members that are kept as they are, with everything in them: they are not the server's own.
const FOREIGN: [&str; 2] = ["connectionConfiguration", "jsonSchema"];

/// What calls come to: what is answered, or a status and a message.
pub(super) type Answered = Result<Value, (u16, String)>;

/// The kinds of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Where data comes from.
    Source,
    /// Where it goes to.
    Destination,
    /// From where to where, and what of it.
    Connection,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Source, Self::Destination, Self::Connection];

    /// As calls name them.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Source => "sources",
            Self::Destination => "destinations",
            Self::Connection => "connections",
        }
    }

    /// Which member is the id.
    pub fn id_member(self) -> &'static str {
        match self {
            Self::Source => "sourceId",
            Self::Destination => "destinationId",
            Self::Connection => "connectionId",
        }
    }

    pub(super) fn by_plural(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.plural() == text)
    }

    fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Source => &["name", "sourceDefinitionId", "workspaceId", "connectionConfiguration"],
            Self::Destination => &["name", "destinationDefinitionId", "workspaceId", "connectionConfiguration"],
            Self::Connection => &["sourceId", "destinationId", "status"],
        }
    }
}

/// Everything that is there.
#[derive(Debug, Default)]
pub(super) struct Store {
    objects: Vec<(Kind, Value)>,
    jobs: Vec<Value>,
    made: u64,
}

impl Store {
    pub(super) fn all(&self, kind: Kind) -> Vec<Value> {
        self.objects.iter().filter(|(known, _)| *known == kind).map(|(_, object)| object.clone()).collect()
    }

    pub(super) fn jobs(&self) -> Vec<Value> {
        self.jobs.clone()
    }

    pub(super) fn finish_jobs(&mut self) {
        for job in &mut self.jobs {
            job["status"] = json!("succeeded");
        }
    }

    /// Carries out a call.
    pub(super) fn call(&mut self, path: &str, body: &Value) -> Answered {
        let unknown = || (404, format!("there is nothing called {path}"));
        let (plural, action) = path.split_once('/').ok_or_else(unknown)?;
        let kind = Kind::by_plural(plural).ok_or_else(unknown)?;
        match (kind, action) {
            (_, "create") => self.create(kind, body).map(|made| shown(&made)),
            (_, "get") => self.find(kind, body).map(|at| shown(&self.objects[at].1)),
            (_, "list") => self.list(kind, body),
            (_, "update") => self.update(kind, body),
            (_, "delete") => self.delete(kind, body),
            (Kind::Connection, "reset" | "sync") => self.begin_job(action, body),
            _ => Err(unknown()),
        }
    }

    /// Makes an object: as it is then, with its secrets.
    pub(super) fn create(&mut self, kind: Kind, body: &Value) -> Answered {
        let mut object = own_words(body);
        let Some(members) = object.as_object_mut() else { return Err((400, "the body is no object".to_owned())) };
        if let Some(missing) = kind.needs().iter().find(|name| !members.contains_key(**name)) {
            return Err((400, format!("{missing} is missing")));
        }
        self.made += 1;
        members.insert(kind.id_member().to_owned(), json!(self.fresh_id()));
        if kind == Kind::Connection {
            self.check_references(&object)?;
            add_defaults(&mut object);
        } else if object["workspaceId"] != WORKSPACE {
            return Err((404, format!("there is no workspace {}", object["workspaceId"])));
        }
        self.objects.push((kind, object.clone()));
        Ok(object)
    }

    pub(super) fn mutate(&mut self, kind: Kind, id: &str, change: &Value) -> bool {
        let Ok(at) = self.find(kind, &json!({ (kind.id_member()): id })) else { return false };
        join(&mut self.objects[at].1, &own_words(change));
        true
    }

    pub(super) fn remove(&mut self, kind: Kind, id: &str) -> bool {
        let found = self.find(kind, &json!({ (kind.id_member()): id }));
        found.map(|at| self.objects.remove(at)).is_ok()
    }

    /// An id that nothing ever had. It follows from how many there were, and looks like those of others.
    fn fresh_id(&self) -> String {
        let mixed = self.made.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            mixed >> 32,
            mixed >> 16 & 0xffff,
            mixed >> 4 & 0xfff,
            mixed & 0xfff,
            self.made
        )
    }

    fn find(&self, kind: Kind, body: &Value) -> Result<usize, (u16, String)> {
        let id = &body[kind.id_member()];
        let is_it = |(known, object): &(Kind, Value)| *known == kind && object[kind.id_member()] == *id;
        let found = self.objects.iter().position(is_it).filter(|_| id.is_string());
        found.ok_or_else(|| (404, format!("there is no {kind:?} {id}")))
    }

    fn list(&self, kind: Kind, body: &Value) -> Answered {
        if body["workspaceId"] != WORKSPACE {
            return Err((404, format!("there is no workspace {}", body["workspaceId"])));
        }
        Ok(json!({ (kind.plural()): self.all(kind).iter().map(shown).collect::<Vec<_>>() }))
    }

    fn update(&mut self, kind: Kind, body: &Value) -> Answered {
        let at = self.find(kind, body)?;
        let mut object = self.objects[at].1.clone();
        let Value::Object(changes) = own_words(body) else { return Err((400, "the body is no object".to_owned())) };
        for (name, mut value) in changes {
            // Somebody who sends back what they were shown changes nothing.
            keep_secrets(&mut value, &object[&name]);
            object[&name] = value;
        }
        if kind == Kind::Connection {
            self.check_references(&object)?;
            add_defaults(&mut object);
        }
        self.objects[at].1 = object;
        Ok(shown(&self.objects[at].1))
    }

    fn delete(&mut self, kind: Kind, body: &Value) -> Answered {
        let at = self.find(kind, body)?;
        let id = self.objects[at].1[kind.id_member()].clone();
        let refers = |(known, object): &(Kind, Value)| {
            kind != Kind::Connection && *known == Kind::Connection && object[kind.id_member()] == id
        };
        if self.objects.iter().any(refers) {
            return Err((409, format!("a connection refers to the {kind:?} {id}")));
        }
        self.objects.remove(at);
        Ok(json!({}))
    }

    fn check_references(&self, connection: &Value) -> Result<(), (u16, String)> {
        for kind in [Kind::Source, Kind::Destination] {
            self.find(kind, connection)?;
        }
        Ok(())
    }

    fn begin_job(&mut self, action: &str, body: &Value) -> Answered {
        self.find(Kind::Connection, body)?;
        let id = &body["connectionId"];
        if self.jobs.iter().any(|job| job["configId"] == *id && job["status"] == "running") {
            return Err((409, format!("a job of the connection {id} is running")));
        }
        let configures = if action == "reset" { "reset_connection" } else { "sync" };
        let job = json!({"id": self.jobs.len() + 1, "configType": configures, "configId": id, "status": "running"});
        self.jobs.push(job.clone());
        Ok(json!({ "job": job }))
    }
}

/// What the server makes of what it gets: its own members have names of its own kind.
fn own_words(body: &Value) -> Value {
    match body {
        Value::Array(items) => items.iter().map(own_words).collect(),
        Value::Object(members) => {
            let own = |(name, value): (&String, &Value)| {
                let name = camel_case(name);
                let value = if FOREIGN.contains(&name.as_str()) { value.clone() } else { own_words(value) };
                (name, value)
            };
            Value::Object(members.iter().map(own).collect())
        }
        other => other.clone(),
    }
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_').filter(|word| !word.is_empty());
    let mut whole = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        whole.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        whole.push_str(letters.as_str());
    }
    whole
}

/// What nobody asked for, and is there all the same.
fn add_defaults(connection: &mut Value) {
    let defaults = json!({"namespaceDefinition": "destination", "geography": "auto", "notifySchemaChanges": false});
    for (name, value) in defaults.as_object().into_iter().flatten() {
        if connection[name].is_null() {
            connection[name] = value.clone();
        }
    }
    let streams = connection.pointer_mut("/syncCatalog/streams").and_then(Value::as_array_mut);
    for entry in streams.into_iter().flatten() {
        let alias = entry["stream"]["name"].clone();
        if entry["config"].is_object() && entry["config"]["aliasName"].is_null() {
            entry["config"]["aliasName"] = alias;
        }
    }
}

/// One value over another: members of objects are joined, everything else is replaced.
fn join(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (name, value) in above {
                join(below.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (below, above) => *below = above.clone(),
    }
}

/// Masks are what they hide.
fn keep_secrets(value: &mut Value, before: &Value) {
    match value {
        Value::String(text) if text == MASK => *value = before.clone(),
        Value::Object(members) => members.iter_mut().for_each(|(name, value)| keep_secrets(value, &before[name])),
        _ => {}
    }
}

/// An object as it is answered: secrets are hidden, and nothing is in the order in which it came.
fn shown(object: &Value) -> Value {
    let mut object = hidden(object);
    if let Some(streams) = object.pointer_mut("/syncCatalog/streams").and_then(Value::as_array_mut) {
        streams.sort_by_key(|entry| std::cmp::Reverse(entry["stream"]["name"].to_string()));
    }
    reversed(&object)
}

fn hidden(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(hidden).collect(),
        Value::Object(members) => {
            let hide = |(name, value): (&String, &Value)| {
                let is_secret = value.is_string() && SECRET.iter().any(|part| name.to_lowercase().contains(part));
                (name.clone(), if is_secret { json!(MASK) } else { hidden(value) })
            };
            Value::Object(members.iter().map(hide).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().rev().map(|(name, value)| (name.clone(), reversed(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Value {
        json!({
            "name": "shop", "sourceDefinitionId": "d", "workspaceId": WORKSPACE,
            "connectionConfiguration": {"api_key": "hidden", "start_date": "2026"},
        })
    }

    fn with_connection() -> (Store, Value, Value) {
        let mut store = Store::default();
        let source = store.call("sources/create", &source()).unwrap();
        let destination = json!({
            "name": "lake", "destinationDefinitionId": "d", "workspaceId": WORKSPACE, "connectionConfiguration": {},
        });
        let destination = store.call("destinations/create", &destination).unwrap();
        let streams = json!([
            {"stream": {"name": "a", "json_schema": {"created_at": 1}}, "config": {"sync_mode": "full"}},
            {"stream": {"name": "b"}, "config": {}},
        ]);
        let connection = json!({
            "name": "c", "status": "active", "sourceId": source["sourceId"],
            "destinationId": destination["destinationId"], "sync_catalog": {"streams": streams},
        });
        let connection = store.call("connections/create", &connection).unwrap();
        (store, source, connection)
    }

    #[test]
    fn secrets_are_kept_and_not_shown() {
        let mut store = Store::default();
        let made = store.call("sources/create", &source()).unwrap();
        assert_eq!(made["connectionConfiguration"], json!({"start_date": "2026", "api_key": MASK}));
        // What was shown is sent back, with one change.
        let mut again = made.clone();
        again["connectionConfiguration"]["start_date"] = json!("2027");
        store.call("sources/update", &again).unwrap();
        let real = store.all(Kind::Source)[0]["connectionConfiguration"].clone();
        assert_eq!(real, json!({"api_key": "hidden", "start_date": "2027"}));
    }

    #[test]
    fn what_is_referred_to_must_be_there_and_stays() {
        let (mut store, source, connection) = with_connection();
        assert_eq!(store.call("sources/delete", &source).unwrap_err().0, 409);
        let mut wrong = connection.clone();
        wrong["sourceId"] = json!("none");
        assert_eq!(store.call("connections/create", &wrong).unwrap_err().0, 404);
        assert_eq!(store.call("connections/update", &wrong).unwrap_err().0, 404);
        store.call("connections/delete", &connection).unwrap();
        store.call("sources/delete", &source).unwrap();
        assert_eq!(store.call("sources/get", &source).unwrap_err().0, 404);
        assert_eq!(store.call("sources/delete", &source).unwrap_err().0, 404);
    }

    #[test]
    fn it_answers_in_its_own_words() {
        let (_, _, connection) = with_connection();
        let streams = connection["syncCatalog"]["streams"].as_array().unwrap();
        assert_eq!(streams[0]["stream"]["name"], "b");
        assert_eq!(streams[1]["config"], json!({"aliasName": "a", "syncMode": "full"}));
        assert_eq!(streams[1]["stream"]["jsonSchema"], json!({"created_at": 1}), "that is not the server's own");
        assert_eq!(connection["geography"], "auto");
    }

    #[test]
    fn one_job_at_a_time() {
        let (mut store, _, connection) = with_connection();
        let job = store.call("connections/reset", &connection).unwrap();
        assert_eq!(job["job"]["configType"], "reset_connection");
        assert_eq!(store.call("connections/reset", &connection).unwrap_err().0, 409);
        assert_eq!(store.call("connections/sync", &connection).unwrap_err().0, 409);
        store.finish_jobs();
        store.call("connections/sync", &connection).unwrap();
        assert_eq!(store.jobs().len(), 2);
    }

    #[test]
    fn ids_are_fresh_also_after_deletions() {
        let mut store = Store::default();
        let first = store.call("sources/create", &source()).unwrap();
        store.call("sources/delete", &first).unwrap();
        let second = store.call("sources/create", &source()).unwrap();
        assert_ne!(first["sourceId"], second["sourceId"]);
        assert_eq!(second["sourceId"].as_str().unwrap().len(), 36);
    }
}
