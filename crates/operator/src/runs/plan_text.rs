//! Plans as people read them. A Run says as much of one as an object may be long; what is longer is kept beside it as a whole, and goes
//! with it.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::api::names;
use crate::api::run::{PlanRef, Run};
use crate::blobs::{Blob, BlobError};
use crate::objects::cluster::shortened;
use crate::objects::{Store, owned_by};

/// How much of a plan a Run says.
const SHOWN_BYTES: usize = 60_000;
/// More than that nobody reads.
const MOST_BYTES: usize = 8 << 20;

/// Keeps what is too long for a Run: what the Run says of it.
pub(super) async fn keep(store: &dyn Store, run: &Run, text: &str) -> Result<(String, Option<String>), BlobError> {
    let said = shortened(text, SHOWN_BYTES);
    if text.len() <= SHOWN_BYTES {
        return Ok((said, None));
    }
    // A run that was interrupted makes its plan again, which may be another one.
    let hash = hex::encode(Sha256::digest(text));
    let name = format!("{}-text-{}", run.metadata.name.as_deref().unwrap_or_default(), &hash[..8]);
    blob(run, &name).save(store, shortened(text, MOST_BYTES).as_bytes()).await?;
    Ok((said, Some(name)))
}

/// All of the plan of a Run, as far as it is there and may be read.
pub async fn whole(store: &dyn Store, run: &Run) -> String {
    let plan = run.status.as_ref().and_then(|status| status.plan.as_ref());
    let Some(PlanRef { text, text_secret, .. }) = plan else { return String::new() };
    let kept = match text_secret {
        Some(name) => blob(run, name).load(store).await.ok().flatten(),
        None => None,
    };
    kept.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| text.clone())
}

fn blob<'a>(run: &'a Run, name: &'a str) -> Blob<'a> {
    Blob {
        namespace: run.metadata.namespace.as_deref().unwrap_or_default(),
        name,
        labels: BTreeMap::from([
            (names::STACK.to_owned(), run.spec.stack.clone()),
            (names::RUN.to_owned(), run.metadata.name.clone().unwrap_or_default()),
            ("groma.dev/blob".to_owned(), "plan-text".to_owned()),
        ]),
        owner: Some(owned_by(run)),
        kept: false,
    }
}
