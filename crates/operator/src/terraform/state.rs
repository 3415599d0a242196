//! What a state in a cluster says, and who holds its lock: for those who want to see it in the status of an object, and for those who take over from
//! tofu-controller.

use std::io::Read as _;

use kube::api::DynamicObject;
use serde_json::Value as Json;

use crate::api::stack::Stack;
use crate::api::terraform::{Inventory, InventoryEntry};
use crate::objects::{Kind, Place, Store, StoreError, data_of};
use crate::stack::wanted::state_suffix;

/// No state is larger than that, unpacked.
const MOST_BYTES: u64 = 512 << 20;
/// No more entries are listed: a status has its limits.
const MOST_ENTRIES: usize = 1_000;
/// No more further parts are looked for.
const MOST_PARTS: usize = 200;
/// Who holds a lock says so in these annotations.
const LOCK_NOTES: [&str; 3] = ["app.terraform.io/lock-info", "groma.dev/renewing", "groma.dev/replaced"];
/// What a Lease has only while somebody holds it.
const HELD: [&str; 4] = ["holderIdentity", "leaseDurationSeconds", "acquireTime", "renewTime"];

/// What is known of a state.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// There is none.
    Nothing,
    /// It is somewhere else, and is not looked at: the kind of its backend.
    Elsewhere(String),
    /// It cannot be read, because of this.
    Unreadable(String),
    /// It is there.
    There(Box<Known>),
}

/// A state that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// Which state it is, whatever becomes of it.
    pub lineage: String,
    /// How often it was written.
    pub serial: u64,
    /// What is in it.
    pub entries: Vec<InventoryEntry>,
}

/// Where the state of a Stack is, if it is where the operator keeps them.
fn secret_of(stack: &Stack) -> Option<String> {
    stack.spec.backend.is_none().then(|| {
        let workspace = stack.spec.workspace.as_deref().unwrap_or("default");
        format!("tfstate-{workspace}-{}", state_suffix(stack))
    })
}

/// Reads the state of a Stack.
pub async fn read(store: &dyn Store, stack: &Stack) -> Result<Found, StoreError> {
    let Some(secret) = secret_of(stack) else {
        let kind = stack.spec.backend.as_ref().map(|backend| backend.kind.clone());
        return Ok(Found::Elsewhere(kind.unwrap_or_default()));
    };
    let namespace = stack.metadata.namespace.as_deref().unwrap_or_default();
    let place = |name: &str| Place::new(Kind::secret(), namespace, name);
    let Some(first) = store.get(&place(&secret)).await? else { return Ok(Found::Nothing) };
    let Some(mut packed) = data_of(&first).remove("tfstate") else { return Ok(Found::Nothing) };
    for number in 1..MOST_PARTS {
        let Some(part) = store.get(&place(&format!("{secret}-part-{number}"))).await? else { break };
        packed.extend(data_of(&part).remove("tfstate").unwrap_or_default());
    }
    Ok(match decode(&packed) {
        Ok(known) => Found::There(Box::new(known)),
        Err(problem) => Found::Unreadable(format!("Secret {secret}: {problem}")),
    })
}

fn decode(packed: &[u8]) -> Result<Known, String> {
    let mut text = Vec::new();
    let unpacked = flate2::read::GzDecoder::new(packed).take(MOST_BYTES).read_to_end(&mut text);
    unpacked.map_err(|problem| format!("it is not packed as states are: {problem}"))?;
    let state: Json = serde_json::from_slice(&text).map_err(|_| "it is not a state".to_owned())?;
    match state.get("version").and_then(Json::as_u64) {
        Some(4) => {}
        Some(other) => return Err(format!("it has the version {other}, which is not looked into")),
        None if state.get("encryption_version").is_some() => return Err("it is encrypted".to_owned()),
        None => return Err("it is not a state".to_owned()),
    }
    let text = |name: &str| state.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let mut entries: Vec<InventoryEntry> = resources(&state).flat_map(entries_of).collect();
    entries.sort();
    Ok(Known {
        lineage: text("lineage"),
        serial: state.get("serial").and_then(Json::as_u64).unwrap_or_default(),
        entries,
    })
}

fn resources(state: &Json) -> impl Iterator<Item = &Json> {
    let all = state.get("resources").and_then(Json::as_array).into_iter().flatten();
    all.filter(|resource| resource.get("mode").and_then(Json::as_str) == Some("managed"))
}

fn entries_of(resource: &Json) -> Vec<InventoryEntry> {
    let text = |name: &str| resource.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let instances = resource.get("instances").and_then(Json::as_array).into_iter().flatten();
    let entry = |instance: &Json| {
        let attributes = instance.get("attributes");
        let attribute = |name: &str| attributes.and_then(|all| all.get(name)).filter(|value| !value.is_null());
        // Identifiers need not be texts.
        let id = attribute("arn")
            .or_else(|| attribute("id"))
            .map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
        InventoryEntry { n: text("name"), t: text("type"), id: id.unwrap_or_default() }
    };
    instances.map(entry).collect()
}

/// What a status lists.
pub fn inventory(found: &Found) -> Option<Inventory> {
    match found {
        Found::There(known) => Some(Inventory { entries: known.entries.iter().take(MOST_ENTRIES).cloned().collect() }),
        _ => None,
    }
}

/// The Lease that the state of a Stack is locked by, and who holds it.
pub async fn lock(store: &dyn Store, stack: &Stack) -> Result<Option<(DynamicObject, String)>, StoreError> {
    let Some(secret) = secret_of(stack) else { return Ok(None) };
    let namespace = stack.metadata.namespace.as_deref().unwrap_or_default();
    let lease = store.get(&Place::new(Kind::lease(), namespace, &format!("lock-{secret}"))).await?;
    let held = |lease: DynamicObject| {
        let holder =
            lease.data.pointer("/spec/holderIdentity")?.as_str().filter(|holder| !holder.is_empty())?.to_owned();
        Some((lease, holder))
    };
    Ok(lease.and_then(held))
}

/// A Lease that nobody holds any more, as the other tools leave it.
pub async fn unlock(store: &dyn Store, mut lease: DynamicObject) -> Result<(), StoreError> {
    if let Some(spec) = lease.data.get_mut("spec").and_then(Json::as_object_mut) {
        spec.retain(|name, _| !HELD.contains(&name.as_str()));
    }
    if let Some(notes) = &mut lease.metadata.annotations {
        notes.retain(|name, _| !LOCK_NOTES.contains(&name.as_str()));
    }
    store.replace(&Kind::lease(), &lease).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use serde_json::json;

    use super::*;

    fn packed(state: &Json) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(state.to_string().as_bytes()).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn what_there_is_is_listed_with_what_it_is_known_by() {
        let state = json!({
            "version": 4, "serial": 7, "lineage": "l",
            "resources": [
                {"mode": "managed", "type": "aws_vpc", "name": "b", "instances": [{"attributes": {"arn": "arn:x", "id": "vpc-1"}}]},
                {"mode": "managed", "type": "thing", "name": "a", "instances": [{"attributes": {"id": 5}}, {"attributes": {}}]},
                {"mode": "data", "type": "thing", "name": "c", "instances": [{"attributes": {"id": "no"}}]},
            ],
        });
        let known = decode(&packed(&state)).unwrap();
        let shown: Vec<String> =
            known.entries.iter().map(|entry| format!("{}/{}={}", entry.t, entry.n, entry.id)).collect();
        assert_eq!(shown, ["thing/a=", "thing/a=5", "aws_vpc/b=arn:x"]);
        assert_eq!((known.serial, known.lineage.as_str()), (7, "l"));
    }

    #[test]
    fn what_is_no_state_is_told() {
        assert!(decode(b"plain").unwrap_err().starts_with("it is not packed"));
        assert_eq!(decode(&packed(&json!({"a": 1}))).unwrap_err(), "it is not a state");
        assert_eq!(decode(&packed(&json!({"encryption_version": "v0"}))).unwrap_err(), "it is encrypted");
        assert!(decode(&packed(&json!({"version": 3}))).unwrap_err().contains("version 3"));
    }
}
