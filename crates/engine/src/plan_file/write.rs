//! Writing: numbers, texts and collections, and what is written once and then by number.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use groma_model::address::{ConfigResource, ModuleInstance, Provider, ResourceMode};
use groma_model::text::Str;
use groma_model::ty::Type;

use super::{PlanFileError, Stored};

/// Which schema: of which provider, for what.
pub(super) type SchemaKey = (Provider, ResourceMode, Str);

/// What was written already, by number. Never iterated.
pub(super) type Table<T> = HashMap<T, usize>;

/// Collects bytes.
#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    pub(super) texts: Table<Str>,
    pub(super) types: Table<Type>,
    pub(super) modules: Table<ModuleInstance>,
    pub(super) resources: Table<ConfigResource>,
    pub(super) dependencies: Table<Arc<[ConfigResource]>>,
    pub(super) schemas: HashMap<SchemaKey, (usize, Type)>,
}

impl Writer {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A number, seven bits a byte, the least first.
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    pub(super) fn size(&mut self, size: usize) {
        self.number(size as u64);
    }

    /// A number with a sign, which goes last, so that small ones stay small.
    pub(super) fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)) as u64);
    }

    pub(super) fn blob(&mut self, bytes: &[u8]) {
        self.size(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// Something that occurs often: 0 and itself the first time, later its number, from 1.
    pub(super) fn shared<T: Hash + Eq + Clone>(
        &mut self,
        table: impl Fn(&mut Self) -> &mut Table<T>,
        item: &T,
        write: impl FnOnce(&mut Self) -> Result<(), PlanFileError>,
    ) -> Result<(), PlanFileError> {
        if let Some(&known) = table(self).get(item) {
            self.size(known + 1);
            return Ok(());
        }
        self.number(0);
        write(self)?;
        let table = table(self);
        let next = table.len();
        table.insert(item.clone(), next);
        Ok(())
    }

    pub(super) fn list<T: Stored>(&mut self, items: &[T]) -> Result<(), PlanFileError> {
        self.size(items.len());
        items.iter().try_for_each(|item| item.write(self))
    }

    pub(super) fn map<K: Stored, V: Stored>(&mut self, map: &BTreeMap<K, V>) -> Result<(), PlanFileError> {
        self.size(map.len());
        map.iter().try_for_each(|(key, value)| {
            key.write(self)?;
            value.write(self)
        })
    }
}
