//! The cache as a whole, with made-up plugins.

use bytes::Bytes;
use prost::Message as _;

use super::*;
use crate::wire::generated::tfplugin as wire;
use crate::wire::handshake::ProtocolVersion;
use crate::wire::plugin::RawSchema;

fn schema(resource: &str) -> Arc<PluginSchema> {
    let attribute = wire::schema::Attribute5 {
        name: "name".to_owned(),
        r#type: Bytes::from_static(b"\"string\""),
        ..Default::default()
    };
    let block = wire::schema::Block { attributes: vec![attribute.encode_to_vec().into()], ..Default::default() };
    let one = Bytes::from(wire::Schema { version: 1, block: Some(block) }.encode_to_vec());
    let schemas = wire::get_provider_schema::Response {
        resource_schemas: [(resource.to_owned(), one)].into(),
        ..Default::default()
    };
    let identity = wire::resource_identity_schema::IdentityAttribute {
        name: "id".to_owned(),
        r#type: Bytes::from_static(b"\"string\""),
        ..Default::default()
    };
    let identity = wire::ResourceIdentitySchema { version: 2, identity_attributes: vec![identity] };
    let identities = wire::get_resource_identity_schemas::Response {
        identity_schemas: [(resource.to_owned(), identity)].into(),
        ..Default::default()
    };
    let raw = RawSchema { schemas: schemas.encode_to_vec().into(), identities: identities.encode_to_vec().into() };
    let (schema, diagnostics) = PluginSchema::read(ProtocolVersion::V5, raw).unwrap();
    assert!(diagnostics.is_empty());
    Arc::new(schema)
}

struct Fixture {
    dir: tempfile::TempDir,
    program: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program");
        std::fs::write(&program, "one").unwrap();
        Self { dir, program }
    }

    /// As another process would see it.
    fn cache(&self) -> SchemaCache {
        SchemaCache::new(self.dir.path().join("cache"))
    }

    fn entry(&self) -> PathBuf {
        let files = std::fs::read_dir(self.dir.path().join("cache")).unwrap().map(|file| file.unwrap().path());
        let mut entries = files.filter(|file| file.extension().is_some_and(|end| end == "schema"));
        let entry = entries.next().unwrap();
        assert!(entries.next().is_none());
        entry
    }
}

#[test]
fn what_was_stored_is_loaded_by_others() {
    let fixture = Fixture::new();
    assert!(fixture.cache().load(&fixture.program).is_none());
    fixture.cache().store(&fixture.program, &schema("a"));
    let loaded = fixture.cache().load(&fixture.program).unwrap();
    assert_eq!(loaded.raw(), schema("a").raw());
    assert_eq!(loaded.protocol(), ProtocolVersion::V5);
    assert_eq!(loaded.schema().resources["a"].get().unwrap().version, 1);
    assert_eq!(loaded.schema().identities["a"].version, 2);
}

#[test]
fn one_process_reads_it_once() {
    let fixture = Fixture::new();
    fixture.cache().store(&fixture.program, &schema("a"));
    let cache = fixture.cache();
    let first = cache.load(&fixture.program).unwrap();
    assert!(Arc::ptr_eq(&first, &cache.clone().load(&fixture.program).unwrap()));
}

#[test]
fn another_program_at_the_same_place_is_another_entry() {
    let fixture = Fixture::new();
    fixture.cache().store(&fixture.program, &schema("a"));
    std::fs::write(&fixture.program, "two").unwrap();
    assert!(fixture.cache().load(&fixture.program).is_none());
    // The same program at another place is the same.
    let copy = fixture.dir.path().join("copy");
    std::fs::write(&copy, "one").unwrap();
    assert!(fixture.cache().load(&copy).is_some());
}

#[test]
fn no_damage_goes_unnoticed() {
    let fixture = Fixture::new();
    fixture.cache().store(&fixture.program, &schema("a"));
    let entry = fixture.entry();
    let whole = std::fs::read(&entry).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        assert!(entry::read(damaged.into()).is_err(), "byte {at} of {}", whole.len());
        assert!(entry::read(whole[..at].to_vec().into()).is_err(), "cut at {at}");
    }
    std::fs::write(&entry, "something else").unwrap();
    assert!(fixture.cache().load(&fixture.program).is_none());
    fixture.cache().store(&fixture.program, &schema("a"));
    assert!(fixture.cache().load(&fixture.program).is_some(), "rewritten");
}

#[test]
fn writers_at_the_same_time_do_not_disturb_each_other() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let cache = fixture.cache();
                    cache.store(&fixture.program, &schema("a"));
                    assert!(cache.load(&fixture.program).is_some());
                    assert!(fixture.cache().load(&fixture.program).is_some());
                }
            });
        }
    });
    fixture.entry();
}

#[test]
fn a_directory_that_cannot_be_used_is_no_error() {
    let fixture = Fixture::new();
    let cache = SchemaCache::new(fixture.program.join("below a file"));
    assert!(cache.load(&fixture.program).is_none());
    cache.store(&fixture.program, &schema("a"));
    assert!(cache.load(&fixture.program).is_some(), "remembered by this process");
}
