//! What an API server does, and we rely on.

use super::*;
use crate::objects::contract::{contract, kind};

fn memory() -> Memory {
    Memory::new(Arc::new(|| Moment(jiff::Timestamp::from_second(1_000).unwrap())))
}

contract!((memory(), ()));

#[tokio::test]
async fn a_kind_may_be_unknown() {
    let store = memory();
    store.know(&kind(), false);
    assert!(matches!(store.list(&kind(), None, &[]).await, Err(StoreError::Missing(_))));
    store.know(&kind(), true);
    assert!(store.list(&kind(), None, &[]).await.unwrap().is_empty());
}
