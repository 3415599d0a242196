//! The stream, as readers get it.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::{Duration, UNIX_EPOCH};

use expect_test::{Expect, expect};
use groma_model::diag::Diagnostic;
use groma_model::ty::Type;

use super::*;

/// What was written, without the version line and the times.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn check(work: impl FnOnce(&Stream<Written>), expected: Expect) {
    let written = Written::default();
    let seconds = Arc::new(Mutex::new(0));
    let clock: Clock = Arc::new(move || {
        let mut seconds = seconds.lock().unwrap();
        *seconds += 1;
        UNIX_EPOCH + Duration::from_secs(*seconds)
    });
    let stream = Stream::without_heartbeat(written.clone(), clock);
    work(&stream);
    stream.check().unwrap();
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let mut shown = String::new();
    for line in text.lines().skip(1) {
        let (before, rest) = line.split_once("\"@module\":\"tofu.ui\",\"@timestamp\":\"").expect("a module");
        let (_, after) = rest.split_once("\",").expect("a time");
        writeln!(shown, "{before}{after}").unwrap();
    }
    expected.assert_eq(&shown);
}

fn address(text: &str) -> AbsInstance {
    text.parse().unwrap()
}

fn id() -> ShownId {
    ShownId { key: "id".into(), value: "i-1".into() }
}

#[test]
fn the_first_line_is_the_version() {
    let text = version_line(UNIX_EPOCH);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["type"], &json["ui"]), (&json!("version"), &json!("1.2")));
    assert_eq!(json["groma"]["version"], env!("CARGO_PKG_VERSION"));
    assert!(json["tofu"].is_string());
}

#[test]
fn operations() {
    let work = |stream: &Stream<Written>| {
        let started = |action, id| Event::ApplyStarted {
            address: address("module.m[\"k\"].t_x.n[0]"),
            deposed: None,
            action,
            id,
        };
        stream.tell(Event::RefreshStarted(address("t_x.n"), Some(id())));
        stream.tell(Event::RefreshDone(address("t_x.n"), None));
        stream.tell(started(Action::Create, None));
        stream.tell(Event::ApplyDone {
            address: address("module.m[\"k\"].t_x.n[0]"),
            deposed: None,
            action: Action::Create,
            id: Some(id()),
        });
        stream.tell(started(Action::NoOp, None));
        stream.tell(Event::ApplyStarted {
            address: address("data.t_x.n"),
            deposed: None,
            action: Action::Read,
            id: None,
        });
        stream.tell(Event::ApplyFailed { address: address("data.t_x.n"), deposed: None, action: Action::Read });
        let (address, because_of) = (address("t_x.n"), Some(address("t_x.a")));
        stream.tell(Event::Skipped(Skipped { address, action: Action::Update, because_of }));
        stream.tell(Event::Stopping);
    };
    check(
        work,
        expect![[r#"
        {"@level":"info","@message":"t_x.n: Refreshing state... [id=i-1]","hook":{"resource":{"addr":"t_x.n","module":"","resource":"t_x.n","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":null},"id_key":"id","id_value":"i-1"},"type":"refresh_start"}
        {"@level":"info","@message":"t_x.n: Refresh complete","hook":{"resource":{"addr":"t_x.n","module":"","resource":"t_x.n","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":null}},"type":"refresh_complete"}
        {"@level":"info","@message":"module.m[\"k\"].t_x.n[0]: Creating...","hook":{"resource":{"addr":"module.m[\"k\"].t_x.n[0]","module":"module.m[\"k\"]","resource":"t_x.n[0]","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":0},"action":"create"},"type":"apply_start"}
        {"@level":"info","@message":"module.m[\"k\"].t_x.n[0]: Creation complete after 1s [id=i-1]","hook":{"resource":{"addr":"module.m[\"k\"].t_x.n[0]","module":"module.m[\"k\"]","resource":"t_x.n[0]","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":0},"action":"create","id_key":"id","id_value":"i-1","elapsed_seconds":1},"type":"apply_complete"}
        {"@level":"info","@message":"data.t_x.n: Refreshing...","hook":{"resource":{"addr":"data.t_x.n","module":"","resource":"data.t_x.n","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":null},"action":"read"},"type":"apply_start"}
        {"@level":"info","@message":"data.t_x.n: Refresh errored after 1s","hook":{"resource":{"addr":"data.t_x.n","module":"","resource":"data.t_x.n","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":null},"action":"read","elapsed_seconds":1},"type":"apply_errored"}
        {"@level":"info","@message":"t_x.n: Skipped (update), because t_x.a failed","type":"log"}
        {"@level":"info","@message":"Stopping operation...","type":"log"}
    "#]],
    );
}

#[test]
fn provisioners_and_ephemeral_resources() {
    let work = |stream: &Stream<Written>| {
        let (resource, kind) = (|| address("t_x.n"), || Str::from("local-exec"));
        stream.tell(Event::ProvisionStarted(resource(), kind()));
        stream.tell(Event::ProvisionOutput(resource(), kind(), "one  \n\n two".into()));
        stream.tell(Event::ProvisionDone(resource(), kind()));
        stream.tell(Event::ProvisionFailed(resource(), kind()));
        stream.tell(Event::EphemeralStarted(address("ephemeral.t_x.n"), EphemeralAction::Open));
        stream.tell(Event::EphemeralDone(address("ephemeral.t_x.n"), EphemeralAction::Close));
    };
    check(
        work,
        expect![[r#"
        {"@level":"info","@message":"t_x.n: Provisioning with 'local-exec'...","hook":{"resource":{"addr":"t_x.n","module":"","resource":"t_x.n","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":null},"provisioner":"local-exec"},"type":"provision_start"}
        {"@level":"info","@message":"t_x.n: (local-exec): one","hook":{"resource":{"addr":"t_x.n","module":"","resource":"t_x.n","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":null},"provisioner":"local-exec","output":"one"},"type":"provision_progress"}
        {"@level":"info","@message":"t_x.n: (local-exec):  two","hook":{"resource":{"addr":"t_x.n","module":"","resource":"t_x.n","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":null},"provisioner":"local-exec","output":" two"},"type":"provision_progress"}
        {"@level":"info","@message":"t_x.n: (local-exec) Provisioning complete","hook":{"resource":{"addr":"t_x.n","module":"","resource":"t_x.n","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":null},"provisioner":"local-exec"},"type":"provision_complete"}
        {"@level":"info","@message":"t_x.n: (local-exec) Provisioning errored","hook":{"resource":{"addr":"t_x.n","module":"","resource":"t_x.n","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":null},"provisioner":"local-exec"},"type":"provision_errored"}
        {"@level":"info","@message":"ephemeral.t_x.n: Opening...","hook":{"resource":{"addr":"ephemeral.t_x.n","module":"","resource":"ephemeral.t_x.n","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":null},"Msg":"Opening..."},"type":"ephemeral_action_started"}
        {"@level":"info","@message":"ephemeral.t_x.n: Close complete","hook":{"resource":{"addr":"ephemeral.t_x.n","module":"","resource":"ephemeral.t_x.n","implied_provider":"t","resource_type":"t_x","resource_name":"n","resource_key":null},"Msg":"Close complete"},"type":"ephemeral_action_complete"}
    "#]],
    );
}

#[test]
fn summaries_outputs_and_diagnostics() {
    let work = |stream: &Stream<Written>| {
        let counts = ChangeCounts { add: 1, change: 2, import: 3, remove: 4, forget: 5 };
        for operation in [Operation::Plan, Operation::Apply, Operation::Destroy] {
            stream.change_summary(&counts, operation);
        }
        stream.change_summary(&ChangeCounts::default(), Operation::Plan);
        let output = |value: groma_model::value::Value, sensitive| OutputState { value, sensitive, deprecated: None };
        let list = groma_model::value::Value::list(Type::Number, vec![1.into()]);
        let outputs = BTreeMap::from([("b".into(), output("x".into(), true)), ("a".into(), output(list, false))]);
        stream.outputs(&outputs);
        let found = Diagnostics::from(Diagnostic::warning("Careful", "Really."));
        stream.diagnostics(&found, &SourceMap::new());
        stream.state_dump("{\"version\":4}");
    };
    check(
        work,
        expect![[r#"
        {"@level":"info","@message":"Plan: 3 to import, 1 to add, 2 to change, 4 to destroy, 5 to forget.","changes":{"add":1,"change":2,"import":3,"remove":4,"forget":5,"operation":"plan"},"type":"change_summary"}
        {"@level":"info","@message":"Apply complete! Resources: 3 imported, 1 added, 2 changed, 4 destroyed, 5 forgotten.","changes":{"add":1,"change":2,"import":3,"remove":4,"forget":5,"operation":"apply"},"type":"change_summary"}
        {"@level":"info","@message":"Destroy complete! Resources: 4 destroyed.","changes":{"add":1,"change":2,"import":3,"remove":4,"forget":5,"operation":"destroy"},"type":"change_summary"}
        {"@level":"info","@message":"Plan: 0 to add, 0 to change, 0 to destroy.","changes":{"add":0,"change":0,"import":0,"remove":0,"forget":0,"operation":"plan"},"type":"change_summary"}
        {"@level":"info","@message":"Outputs: 2","outputs":{"a":{"sensitive":false,"type":["list","number"],"value":[1]},"b":{"sensitive":true,"type":"string"}},"type":"outputs"}
        {"@level":"warn","@message":"Warning: Careful","diagnostic":{"severity":"warning","summary":"Careful","detail":"Really."},"type":"diagnostic"}
        {"@level":"info","@message":"Emergency state dump","state":{"version":4},"type":"log"}
    "#]],
    );
}

#[test]
fn a_reader_that_is_gone_is_told_once() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let stream = Stream::new(Gone, Arc::new(|| UNIX_EPOCH));
    stream.log("a");
    assert_eq!(stream.check().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn durations_as_people_know_them() {
    let texts: Vec<String> = [0, 59, 60, 64, 3_600, 7_201].map(elapsed_text).into();
    assert_eq!(texts, ["0s", "59s", "1m0s", "1m4s", "1h0m0s", "2h0m1s"]);
}
