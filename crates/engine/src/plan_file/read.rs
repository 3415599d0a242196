//! Reading: the same as writing, from bytes that anybody may have made.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groma_model::address::{ConfigResource, ModuleInstance};
use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_model::ty::Type;

use super::write::{SchemaKey, Writer};
use super::{PlanFileError, Schemas, Stored};

/// A schema, and the type that it implies.
#[derive(Clone)]
pub(super) struct KnownSchema {
    pub(super) key: SchemaKey,
    pub(super) schema: Arc<Schema>,
    pub(super) ty: Type,
}

/// Takes bytes apart.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    pub(super) lookup: &'a Schemas<'a>,
    pub(super) texts: Vec<Str>,
    pub(super) types: Vec<Type>,
    pub(super) modules: Vec<ModuleInstance>,
    pub(super) resources: Vec<ConfigResource>,
    pub(super) dependencies: Vec<Arc<[ConfigResource]>>,
    pub(super) schemas: Vec<KnownSchema>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], lookup: &'a Schemas<'a>) -> Self {
        Self {
            bytes,
            at: 0,
            lookup,
            texts: Vec::new(),
            types: Vec::new(),
            modules: Vec::new(),
            resources: Vec::new(),
            dependencies: Vec::new(),
            schemas: Vec::new(),
        }
    }

    pub(super) fn malformed(&self, message: impl Into<String>) -> PlanFileError {
        PlanFileError::Malformed { offset: self.at, message: message.into() }
    }

    fn truncated(&self) -> PlanFileError {
        self.malformed("the plan ends too early")
    }

    /// Nothing may be left.
    pub(super) fn finish(&self) -> Result<(), PlanFileError> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.malformed("there is something behind the plan")) }
    }

    pub(super) fn number(&mut self) -> Result<u64, PlanFileError> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or_else(|| self.truncated())?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has room for one bit, and only the shortest form is one.
            if (shift == 63 && bits > 1) || (shift > 0 && byte == 0) {
                break;
            }
            self.at += 1;
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(self.malformed("this is no number"))
    }

    pub(super) fn size(&mut self) -> Result<usize, PlanFileError> {
        let number = self.number()?;
        usize::try_from(number).map_err(|_| self.malformed("the number is too large"))
    }

    /// How many items follow: never more than there are bytes, as each takes one at least.
    pub(super) fn count(&mut self) -> Result<usize, PlanFileError> {
        let count = self.size()?;
        if count > self.bytes.len() - self.at { Err(self.truncated()) } else { Ok(count) }
    }

    pub(super) fn signed(&mut self) -> Result<i64, PlanFileError> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    pub(super) fn blob(&mut self) -> Result<&'a [u8], PlanFileError> {
        let length = self.count()?;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..length).ok_or_else(|| self.truncated())?;
        self.at += length;
        Ok(taken)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, PlanFileError> {
        let bytes = self.blob()?;
        std::str::from_utf8(bytes).map_err(|_| self.malformed("a text is not valid UTF-8"))
    }

    /// Something that was written once, or was there before.
    pub(super) fn shared<T: Clone>(
        &mut self,
        table: impl Fn(&mut Self) -> &mut Vec<T>,
        read: impl FnOnce(&mut Self) -> Result<T, PlanFileError>,
    ) -> Result<T, PlanFileError> {
        let number = self.size()?;
        if number == 0 {
            let item = read(self)?;
            table(self).push(item.clone());
            return Ok(item);
        }
        let known = table(self).get(number - 1).cloned();
        known.ok_or_else(|| self.malformed("something is named that was not there before"))
    }

    pub(super) fn list<T: Stored>(&mut self) -> Result<Vec<T>, PlanFileError> {
        let count = self.count()?;
        // Items are larger here than in the file: the room is made as they come.
        let mut items = Vec::with_capacity(count.min(1024));
        for _ in 0..count {
            items.push(T::read(self)?);
        }
        Ok(items)
    }

    /// Entries come in the order of their keys, each once.
    pub(super) fn map<K: Stored + Ord, V>(
        &mut self,
        mut read: impl FnMut(&mut Self, &K) -> Result<V, PlanFileError>,
    ) -> Result<BTreeMap<K, V>, PlanFileError> {
        let count = self.count()?;
        let mut map = BTreeMap::new();
        for _ in 0..count {
            let key = K::read(self)?;
            if map.last_key_value().is_some_and(|(last, _)| *last >= key) {
                return Err(self.malformed("entries are out of order"));
            }
            let value = read(self, &key)?;
            map.insert(key, value);
        }
        Ok(map)
    }
}

impl Stored for bool {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.number(u64::from(*self));
        Ok(())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        match input.number()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(input.malformed("neither yes nor no")),
        }
    }
}

impl Stored for u64 {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.number(*self);
        Ok(())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        input.number()
    }
}

/// In whole milliseconds.
impl Stored for Duration {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        u64::try_from(self.as_millis()).unwrap_or(u64::MAX).write(out)
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        Stored::read(input).map(Duration::from_millis)
    }
}

impl Stored for usize {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.size(*self);
        Ok(())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        input.size()
    }
}

impl Stored for i64 {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.signed(*self);
        Ok(())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        input.signed()
    }
}

impl Stored for String {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.blob(self.as_bytes());
        Ok(())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        Ok(input.text()?.to_owned())
    }
}

impl Stored for Vec<u8> {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.blob(self);
        Ok(())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        Ok(input.blob()?.to_vec())
    }
}

impl Stored for Arc<str> {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.blob(self.as_bytes());
        Ok(())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        input.text().map(Arc::from)
    }
}

/// Names: shared, so that each is in memory once.
impl Stored for Str {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.shared(
            |out| &mut out.texts,
            self,
            |out| {
                out.blob(self.as_bytes());
                Ok(())
            },
        )
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        input.shared(|input| &mut input.texts, |input| Ok(Str::new(input.text()?)))
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        self.is_some().write(out)?;
        self.iter().try_for_each(|item| item.write(out))
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        if bool::read(input)? { T::read(input).map(Some) } else { Ok(None) }
    }
}

/// Lists of what is not a byte.
macro_rules! stored_lists {
    ($($item:ty),* $(,)?) => {$(
        impl $crate::plan_file::Stored for Vec<$item> {
            fn write(&self, out: &mut $crate::plan_file::Writer) -> Result<(), $crate::plan_file::PlanFileError> {
                out.list(self)
            }

            fn read(input: &mut $crate::plan_file::Reader<'_>) -> Result<Self, $crate::plan_file::PlanFileError> {
                input.list()
            }
        }
    )*};
}
pub(super) use stored_lists;

impl<K: Stored + Ord, V: Stored> Stored for BTreeMap<K, V> {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.map(self)
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        input.map(|input, _| V::read(input))
    }
}
