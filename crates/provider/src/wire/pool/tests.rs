//! Who is started, how often, and when it ends.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;

use super::*;
use crate::api::Answer;

#[derive(Default)]
struct Counts {
    made: AtomicUsize,
    ended: AtomicUsize,
}

struct Counted(ProviderSchema, Arc<Counts>);

#[async_trait]
impl Provider for Counted {
    fn name(&self) -> &'static str {
        "counted"
    }

    fn schema(&self) -> &ProviderSchema {
        &self.0
    }

    async fn shutdown(&self) -> Answer<()> {
        self.1.ended.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

fn address(source: &str) -> Address {
    Address::parse_source(source).unwrap()
}

fn pool(counts: &Arc<Counts>) -> Pool {
    let counts = Arc::clone(counts);
    let make = move || {
        counts.made.fetch_add(1, Ordering::SeqCst);
        Arc::new(Counted(ProviderSchema::default(), Arc::clone(&counts))) as Arc<dyn Provider>
    };
    let missing = Source::Plugin { launch: Launch::new("/nonexistent/terraform-provider-missing"), check: None };
    let refuse = || Err(Diagnostic::error("Tampered", "Somebody was here.").into());
    let tampered =
        Source::Plugin { launch: Launch::new("/nonexistent/terraform-provider-x"), check: Some(Arc::new(refuse)) };
    let sources = BTreeMap::from([
        (address("example/counted"), Source::InProcess(Arc::new(make))),
        (address("example/missing"), missing),
        (address("example/tampered"), tampered),
    ]);
    Pool::new(sources, None)
}

#[tokio::test]
async fn one_for_each_configuration() {
    let counts = Arc::new(Counts::default());
    let pool = pool(&counts);
    let counted = address("example/counted");
    assert_eq!(counts.made.load(Ordering::SeqCst), 0);
    let (first, again, other) =
        tokio::join!(pool.get(&counted, "default"), pool.get(&counted, "default"), pool.get(&counted, "west"));
    assert!(Arc::ptr_eq(first.as_ref().unwrap(), again.as_ref().unwrap()));
    assert!(!Arc::ptr_eq(first.as_ref().unwrap(), other.as_ref().unwrap()));
    assert_eq!(counts.made.load(Ordering::SeqCst), 2);
    pool.shutdown().await;
    assert_eq!(counts.ended.load(Ordering::SeqCst), 2);
    let late = pool.get(&counted, "default").await;
    assert!(late.is_err() && pool.schema(&counted).await.is_err());
    assert_eq!(counts.made.load(Ordering::SeqCst), 2);
    pool.shutdown().await;
    assert_eq!(counts.ended.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn asking_without_a_configuration_costs_nothing() {
    let counts = Arc::new(Counts::default());
    let pool = pool(&counts);
    let counted = address("example/counted");
    let asked = pool.unconfigured(&counted).await.unwrap();
    assert!(Arc::ptr_eq(&asked, &pool.unconfigured(&counted).await.unwrap()));
    // The first configuration gets it, the next ones their own.
    assert!(Arc::ptr_eq(&asked, &pool.get(&counted, "default").await.unwrap()));
    assert!(!Arc::ptr_eq(&asked, &pool.get(&counted, "west").await.unwrap()));
    assert!(Arc::ptr_eq(&asked, &pool.unconfigured(&counted).await.unwrap()));
    assert_eq!(counts.made.load(Ordering::SeqCst), 2);
    pool.shutdown().await;
    assert_eq!(counts.ended.load(Ordering::SeqCst), 2);
    assert!(pool.unconfigured(&counted).await.is_err());
}

#[tokio::test]
async fn who_runs_already_is_asked() {
    let counts = Arc::new(Counts::default());
    let pool = pool(&counts);
    let counted = address("example/counted");
    let running = pool.get(&counted, "default").await.unwrap();
    assert!(Arc::ptr_eq(&running, &pool.unconfigured(&counted).await.unwrap()));
    assert_eq!(counts.made.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn everybody_is_told_the_same_error() {
    let pool = pool(&Arc::default());
    for (source, summary) in [
        ("example/missing", "Failed to instantiate provider"),
        ("example/tampered", "Tampered"),
        ("example/unheard", "Missing required provider"),
    ] {
        let source = address(source);
        let (first, again) = tokio::join!(pool.get(&source, "default"), pool.get(&source, "default"));
        let (first, again) = (first.err().unwrap(), again.err().unwrap());
        assert_eq!(format!("{first:?}"), format!("{again:?}"));
        assert!(first.iter().next().unwrap().summary.starts_with(summary), "{first:?}");
        assert!(pool.schema(&source).await.is_err());
    }
}
