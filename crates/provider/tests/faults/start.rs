//! Faults before there is a connection, and at the end of one.

use std::time::Duration;

use groma_provider::api::{CallError, Provider as _};
use groma_provider::wire::{OpenError, PluginProvider, StartError};

use crate::kit::Subject;

/// Starts a plugin with a fault; it must fail in time.
async fn failure(fault: &str, limit: Duration) -> StartError {
    let mut subject = Subject::framework().env("FIXTURE_FAULT", fault);
    subject.launch.settings.timeouts.start = limit;
    let opened =
        tokio::time::timeout(limit + Duration::from_secs(5), PluginProvider::open(&subject.launch, None)).await;
    match opened.unwrap_or_else(|_| panic!("{fault}: no outcome in time")) {
        Err(OpenError::Start(error)) => error,
        other => panic!("{fault}: {other:?}"),
    }
}

#[tokio::test]
async fn every_handshake_that_is_none() {
    for (fault, expected) in [
        ("before:exit", "exited with status 1 before it was ready"),
        ("before:kill", "was killed by signal SIGKILL before it was ready"),
        ("before:panic", "before it was ready"),
        ("before:silent", "before it was ready"),
        ("before:garbage", "as its first line"),
        ("before:flood", "as its first line"),
        ("during:exit", "not a provider plugin that can be used"),
        ("during:garbage", "not a provider plugin that can be used"),
        ("before:core=2", "version \"2\" of the plugin system"),
        ("before:proto=4", "speaks provider protocol \"4\""),
        ("before:network=udp", "listens at udp"),
        ("before:address=/nowhere", "could not connect"),
        ("before:kind=netrpc", "speaks \"netrpc\""),
        ("before:fields=3", "as its first line"),
    ] {
        let error = failure(&format!("Start:{fault}"), Duration::from_secs(30)).await;
        let text = error.diagnostic();
        assert!(text.detail.contains(expected), "{fault}: {}", text.detail);
        assert!(text.summary.contains("fixfw"), "{fault}: {}", text.summary);
        if fault.ends_with("panic") {
            assert!(text.detail.contains("panic: "), "{fault}: {}", text.detail);
        }
    }
}

#[tokio::test]
async fn a_handshake_that_never_comes() {
    for fault in ["Start:before:hang", "Start:during:hang", "Start:before:sleep=60s"] {
        let error = failure(fault, Duration::from_millis(800)).await;
        assert!(matches!(error, StartError::Timeout { .. }), "{fault}: {error:?}");
    }
}

#[tokio::test]
async fn a_plugin_that_dies_soon_after_the_handshake() {
    for what in ["exit", "kill", "panic"] {
        let subject = Subject::framework().env("FIXTURE_FAULT", format!("Start:after:{what}"));
        let until_it_dies = async {
            match PluginProvider::open(&subject.launch, None).await {
                Ok(plugin) => while plugin.metadata().await.is_ok() {},
                Err(OpenError::Start(StartError::Connect { .. }) | OpenError::Call(CallError::Gone { .. })) => {}
                Err(error) => panic!("{what}: {error:?}"),
            }
        };
        tokio::time::timeout(Duration::from_secs(30), until_it_dies).await.unwrap();
    }
}

#[tokio::test]
async fn a_port_is_used_with_tls_only() {
    let plugin = Subject::framework().env("FIXTURE_LISTEN", "tcp").ready().await;
    plugin.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_plugin_that_does_not_want_to_end_is_ended() {
    for fault in ["Shutdown:before:hang", "Shutdown:before:error", "Shutdown:after:hang", "Shutdown:before:exit"] {
        let mut subject = Subject::framework().env("FIXTURE_FAULT", fault).env("FIXTURE_STUBBORN", "1");
        subject.launch.settings.timeouts.shutdown = Duration::from_millis(300);
        let plugin = subject.ready().await;
        tokio::time::timeout(Duration::from_secs(10), plugin.shutdown()).await.unwrap().unwrap();
    }
}
