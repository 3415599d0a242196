//! Any bytes can be read without harm, and any records are read back.

use proptest::prelude::*;

use super::{change, full};
use crate::journal::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in 0usize..4000, at in 0usize..4000) {
        let part = |bytes: Vec<u8>| JournalPart { place: "here".to_owned(), bytes };
        let _ = read_journal(&part(bytes.clone()), None);
        // Odd bytes in the middle of good ones.
        let mut whole = full().0.parts().remove(0).bytes;
        let at = at.min(whole.len());
        let end = (at + cut).min(whole.len());
        whole.splice(at..end, bytes);
        let contents = read_journal(&part(whole), None).unwrap();
        for damage in [Damage::Refuse, Damage::TakeTheRest] {
            let _ = fold(None, &contents, damage);
        }
    }

    #[test]
    fn any_name_is_read_back(ty in "\\PC{1,9}", name in "\\PC{1,9}", key in "\\PC{0,9}", number in any::<u64>()) {
        let resource = groma_model::address::Resource::managed(ty.as_str(), name.as_str());
        let instance = resource.absolute(groma_model::address::ModuleInstance::root())
            .instance(groma_model::address::InstanceKey::String(key.as_str().into()));
        let operation = Operation { run: RunId(number.to_le_bytes()), number };
        let Change { action, provider, planned, identity, begun, .. } = change("x");
        let intent = Intent {
            operation,
            object: instance.object(None),
            action, provider, planned, identity, begun,
            before: None,
            import_id: Some(name),
        };
        let record = Record::Intent(Box::new(intent));
        let (kind, payload) = record.encode();
        prop_assert_eq!(Record::decode(kind, &payload).unwrap(), record);
    }
}
