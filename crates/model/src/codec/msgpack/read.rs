//! MessagePack to values of a type. Lengths are only believed as far as there are bytes.

use std::borrow::Cow;

use rmp::Marker;

use super::super::{CodecError, Depth, NameCache, attribute, collected, element, key, required, type_json};
use super::{MAX_REFINEMENT, REFINED, refinement_key};
use crate::number::Number;
use crate::text::Str;
use crate::ty::{ObjectType, Type};
use crate::value::{Bound, Entries, Refinement, Value};

/// Decodes a value of a type. Bytes behind the value are ignored.
pub fn decode(bytes: &[u8], ty: &Type) -> Result<Value, CodecError> {
    Input { bytes, at: 0 }.value(ty, &mut NameCache::default(), Depth::default())
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn truncated(&self) -> CodecError {
        CodecError::malformed(self.at, "unexpected end of msgpack data")
    }

    fn peek(&self) -> Result<Marker, CodecError> {
        self.bytes.get(self.at).map(|byte| Marker::from_u8(*byte)).ok_or_else(|| self.truncated())
    }

    fn marker(&mut self) -> Result<Marker, CodecError> {
        let marker = self.peek()?;
        self.at += 1;
        Ok(marker)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], CodecError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(taken) = rest.get(..count) else { return Err(self.truncated()) };
        self.at += count;
        Ok(taken)
    }

    /// A big-endian number of up to eight bytes.
    fn unsigned(&mut self, count: usize) -> Result<u64, CodecError> {
        Ok(self.take(count)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn length(&mut self, count: usize) -> Result<usize, CodecError> {
        self.unsigned(count).map(|length| length as usize)
    }

    /// Room for so many items, but never more than the bytes left could hold.
    fn capacity(&self, claimed: usize) -> usize {
        claimed.min(self.bytes.len() - self.at)
    }

    fn value<'t>(&mut self, ty: &'t Type, names: &mut NameCache<'t>, depth: Depth) -> Result<Value, CodecError> {
        let marker = self.peek()?;
        if is_extension(marker) {
            return self.unknown(ty);
        }
        if marker == Marker::Null {
            self.at += 1;
            return Ok(Value::null(ty.clone()));
        }
        match ty {
            Type::Dynamic => self.dynamic(depth.wrapped()?),
            Type::Bool | Type::Number | Type::String => self.primitive(ty),
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => self.sequence(ty, names, depth.deeper()?),
            Type::Map(inner) => self.map(inner, names, depth.deeper()?),
            Type::Object(object) => self.object(object, names, depth.deeper()?),
        }
    }

    fn primitive(&mut self, ty: &Type) -> Result<Value, CodecError> {
        let value = match ty {
            Type::Bool => match self.marker()? {
                Marker::True => Some(Value::bool(true)),
                Marker::False => Some(Value::bool(false)),
                _ => None,
            },
            Type::Number => Some(Value::number(self.number()?)),
            _ => self.text()?.map(|text| Value::string(Str::new(text))),
        };
        value.ok_or_else(|| CodecError::mismatch(required(ty)))
    }

    fn sequence<'t>(&mut self, ty: &'t Type, names: &mut NameCache<'t>, depth: Depth) -> Result<Value, CodecError> {
        let length = self.array_len()?.ok_or_else(|| CodecError::mismatch(required(ty)))?;
        if let Type::Tuple(types) = ty
            && types.len() != length
        {
            return Err(CodecError::mismatch(format!("a tuple of length {} is required", types.len())));
        }
        let mut items = Vec::with_capacity(self.capacity(length));
        for at in 0..length {
            let inner = match ty {
                Type::Tuple(types) => &types[at],
                _ => ty.element().unwrap_or(&Type::Dynamic),
            };
            items.push(self.value(inner, names, depth).map_err(element(at))?);
        }
        match ty {
            Type::List(inner) => Ok(Value::list(collected(inner, &items)?, items)),
            Type::Set(inner) => Ok(Value::set(collected(inner, &items)?, items)),
            _ => Ok(Value::tuple(items)),
        }
    }

    fn map<'t>(&mut self, inner: &'t Type, names: &mut NameCache<'t>, depth: Depth) -> Result<Value, CodecError> {
        let length = self.map_len()?.ok_or_else(|| CodecError::mismatch("a map is required"))?;
        let mut entries: Vec<(Str, Value)> = Vec::with_capacity(self.capacity(length));
        for _ in 0..length {
            let name = self.text()?.ok_or_else(|| CodecError::mismatch("non-string key in map"))?;
            let item = self.value(inner, names, depth).map_err(key(&name))?;
            entries.push((Str::new(name), item));
        }
        let element = collected(inner, entries.iter().map(|(_, item)| item))?;
        Ok(Value::map(element, entries.into_iter().collect()))
    }

    fn object<'t>(
        &mut self,
        object: &'t ObjectType,
        names: &mut NameCache<'t>,
        depth: Depth,
    ) -> Result<Value, CodecError> {
        let length = self.map_len()?.ok_or_else(|| CodecError::mismatch("an object is required"))?;
        if length != object.len() {
            return Err(CodecError::mismatch(format!(
                "an object with {} attributes is required ({length} given)",
                object.len()
            )));
        }
        let shared = names.names(object);
        let mut values: Vec<Option<Value>> = vec![None; length];
        for _ in 0..length {
            let name = self.text()?.ok_or_else(|| CodecError::mismatch("all keys must be strings"))?;
            let at = shared.binary_search_by(|known| known.as_str().cmp(&name));
            let (Ok(at), Some(ty)) = (at, object.get(&name)) else {
                return Err(CodecError::mismatch(format!("unsupported attribute {name:?}")));
            };
            values[at] = Some(self.value(ty, names, depth).map_err(attribute(&shared[at]))?);
        }
        let Some(values) = values.into_iter().collect::<Option<Vec<_>>>() else {
            return Err(CodecError::mismatch("an attribute occurs twice, and another one is missing"));
        };
        Ok(Value::object_of(Entries::with_names(shared, values)))
    }

    /// `[type, value]`
    fn dynamic(&mut self, depth: Depth) -> Result<Value, CodecError> {
        if self.array_len()? != Some(2) {
            return Err(CodecError::mismatch("dynamic value array must have exactly two elements"));
        }
        let Some(description) = self.text()? else {
            return Err(CodecError::mismatch("the first element of a dynamic value must be its type"));
        };
        let ty = type_json::decode(&description)?;
        self.value(&ty, &mut NameCache::default(), depth)
    }

    fn number(&mut self) -> Result<Number, CodecError> {
        let not_a_number = || CodecError::mismatch(required(&Type::Number));
        if let Some(integer) = self.integer()? {
            return Ok(integer);
        }
        match self.peek()? {
            Marker::F32 => {
                self.at += 1;
                let bits = self.unsigned(4)? as u32;
                Number::from_f64(f64::from(f32::from_bits(bits))).ok_or_else(not_a_number)
            }
            Marker::F64 => {
                self.at += 1;
                Number::from_f64(f64::from_bits(self.unsigned(8)?)).ok_or_else(not_a_number)
            }
            _ => {
                let text = self.text()?.ok_or_else(not_a_number)?;
                if has_huge_exponent(&text) {
                    return Err(CodecError::mismatch("number has too many digits"));
                }
                Number::parse(&text).ok_or_else(not_a_number)
            }
        }
    }

    /// An integer, or nothing read if the next item is something else.
    fn integer(&mut self) -> Result<Option<Number>, CodecError> {
        let size = match self.peek()? {
            Marker::FixPos(value) => {
                self.at += 1;
                return Ok(Some(i64::from(value).into()));
            }
            Marker::FixNeg(value) => {
                self.at += 1;
                return Ok(Some(i64::from(value).into()));
            }
            Marker::U8 | Marker::I8 => 1,
            Marker::U16 | Marker::I16 => 2,
            Marker::U32 | Marker::I32 => 4,
            Marker::U64 | Marker::I64 => 8,
            _ => return Ok(None),
        };
        let signed = matches!(self.marker()?, Marker::I8 | Marker::I16 | Marker::I32 | Marker::I64);
        let bits = self.unsigned(size)?;
        if !signed {
            return Ok(Some(bits.into()));
        }
        let unused = 64 - 8 * size as u32;
        Ok(Some(((bits << unused) as i64 >> unused).into()))
    }

    /// A string (or bytes); none if the next item is something else.
    fn text(&mut self) -> Result<Option<Cow<'a, str>>, CodecError> {
        let length = match self.marker()? {
            Marker::FixStr(length) => usize::from(length),
            Marker::Str8 | Marker::Bin8 => self.length(1)?,
            Marker::Str16 | Marker::Bin16 => self.length(2)?,
            Marker::Str32 | Marker::Bin32 => self.length(4)?,
            _ => return Ok(None),
        };
        Ok(Some(String::from_utf8_lossy(self.take(length)?)))
    }

    fn array_len(&mut self) -> Result<Option<usize>, CodecError> {
        match self.marker()? {
            Marker::FixArray(length) => Ok(Some(usize::from(length))),
            Marker::Array16 => self.length(2).map(Some),
            Marker::Array32 => self.length(4).map(Some),
            _ => Ok(None),
        }
    }

    fn map_len(&mut self) -> Result<Option<usize>, CodecError> {
        match self.marker()? {
            Marker::FixMap(length) => Ok(Some(usize::from(length))),
            Marker::Map16 => self.length(2).map(Some),
            Marker::Map32 => self.length(4).map(Some),
            _ => Ok(None),
        }
    }

    fn unknown(&mut self, ty: &Type) -> Result<Value, CodecError> {
        let length = match self.marker()? {
            Marker::FixExt1 => 1,
            Marker::FixExt2 => 2,
            Marker::FixExt4 => 4,
            Marker::FixExt8 => 8,
            Marker::FixExt16 => 16,
            Marker::Ext8 => self.length(1)?,
            Marker::Ext16 => self.length(2)?,
            _ => self.length(4)?,
        };
        let extension = self.unsigned(1)? as u8 as i8;
        if length > 1 && extension != REFINED {
            let message = format!("unsupported extension type {extension:#04x} with len {length}");
            return Err(CodecError::mismatch(message));
        }
        if length > MAX_REFINEMENT {
            return Err(CodecError::mismatch("oversize unknown value refinement"));
        }
        let body = self.take(length)?;
        if length <= 1 || *ty == Type::Dynamic {
            return Ok(Value::unknown(ty.clone()));
        }
        Input { bytes: body, at: 0 }.refined(ty)
    }

    fn refined(&mut self, ty: &Type) -> Result<Value, CodecError> {
        let bad = |what: &str| CodecError::mismatch(format!("failed to decode msgpack extension body: {what}"));
        let count = self.map_len()?.ok_or_else(|| bad("not a map"))?;
        let mut refinement = Refinement::default();
        for _ in 0..count {
            let key = self.integer()?.and_then(|key| key.to_i64());
            match key.ok_or_else(|| bad("non-integer key in map"))? {
                refinement_key::NULLNESS => match self.marker()? {
                    Marker::True => return Ok(Value::null(ty.clone())),
                    Marker::False => refinement.not_null = true,
                    _ => return Err(bad("null refinement is not boolean")),
                },
                refinement_key::PREFIX if *ty == Type::String => {
                    let prefix = self.text()?.ok_or_else(|| bad("string prefix refinement is not string"))?;
                    refinement.prefix = (!prefix.is_empty()).then(|| Str::new(prefix));
                }
                refinement_key::NUMBER_LOWER if *ty == Type::Number => refinement.lower = Some(self.bound()?),
                refinement_key::NUMBER_UPPER if *ty == Type::Number => refinement.upper = Some(self.bound()?),
                refinement_key::LENGTH_LOWER if ty.is_collection() => {
                    refinement.min_length = self.length_bound()?;
                }
                refinement_key::LENGTH_UPPER if ty.is_collection() => {
                    refinement.max_length = Some(self.length_bound()?);
                }
                refinement_key::PREFIX..=refinement_key::LENGTH_UPPER => {
                    return Err(bad("refinement does not fit the type"));
                }
                // Later versions may know more than this one.
                _ => self.skip(Depth::default())?,
            }
        }
        Ok(Value::unknown_refined(ty.clone(), refinement))
    }

    /// `[number, inclusive]`
    fn bound(&mut self) -> Result<Bound, CodecError> {
        let bad =
            || CodecError::mismatch("failed to decode msgpack extension body: bound must be [number, bool] array");
        if self.array_len()? != Some(2) {
            return Err(bad());
        }
        let number = self.number()?;
        let inclusive = match self.marker()? {
            Marker::True => true,
            Marker::False => false,
            _ => return Err(bad()),
        };
        Ok(Bound { number, inclusive })
    }

    fn length_bound(&mut self) -> Result<u64, CodecError> {
        let length = self.integer()?.and_then(|length| length.to_u64());
        length.ok_or_else(|| CodecError::mismatch("failed to decode msgpack extension body: bad length bound"))
    }

    /// Passes over one item of any kind.
    fn skip(&mut self, depth: Depth) -> Result<(), CodecError> {
        let depth = depth.deeper()?;
        let size = match self.peek()? {
            Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
                let length = self.array_len()?.unwrap_or(0);
                return (0..length).try_for_each(|_| self.skip(depth));
            }
            Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => {
                let length = self.map_len()?.unwrap_or(0);
                return (0..length.saturating_mul(2)).try_for_each(|_| self.skip(depth));
            }
            Marker::FixStr(_)
            | Marker::Str8
            | Marker::Str16
            | Marker::Str32
            | Marker::Bin8
            | Marker::Bin16
            | Marker::Bin32 => return self.text().map(|_| ()),
            marker if is_extension(marker) => return self.unknown(&Type::Dynamic).map(|_| ()),
            Marker::U8 | Marker::I8 => 1,
            Marker::U16 | Marker::I16 => 2,
            Marker::U32 | Marker::I32 | Marker::F32 => 4,
            Marker::U64 | Marker::I64 | Marker::F64 => 8,
            _ => 0,
        };
        self.take(1 + size).map(|_| ())
    }
}

fn is_extension(marker: Marker) -> bool {
    matches!(
        marker,
        Marker::FixExt1
            | Marker::FixExt2
            | Marker::FixExt4
            | Marker::FixExt8
            | Marker::FixExt16
            | Marker::Ext8
            | Marker::Ext16
            | Marker::Ext32
    )
}

/// Whether a few bytes stand for a number that takes megabytes to write out. No provider means that.
fn has_huge_exponent(text: &str) -> bool {
    let exponent = text.split_once(['e', 'E', 'p', 'P']).map_or("", |(_, exponent)| exponent);
    exponent.trim_start_matches(['+', '-']).trim_start_matches('0').len() > 6
}
