//! Values: their type by number, then MessagePack, then the marks with their places.

use std::sync::Arc;

use groma_model::codec::{msgpack, type_json};
use groma_model::mark::{Deprecation, Mark, Marks};
use groma_model::ty::Type;
use groma_model::value::{PathMarks, Value};

use super::read::{KnownSchema, Reader, stored_lists};
use super::write::{SchemaKey, Writer};
use super::{PlanFileError, Stored, stored_enum, stored_struct};

stored_enum! {
    Mark { 0 => Sensitive, 1 => Ephemeral, 2 => Deprecated(why), 3 => TypeText }
}

stored_struct! {
    Deprecation { origin, message, remote }
    PathMarks { path, marks }
}

stored_lists!(PathMarks, Mark);

impl Stored for Arc<Deprecation> {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        self.as_ref().write(out)
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        Deprecation::read(input).map(Arc::new)
    }
}

impl Stored for Marks {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.list(&self.iter().cloned().collect::<Vec<_>>())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        Ok(input.list::<Mark>()?.into_iter().collect())
    }
}

impl Stored for Type {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.shared(|out| &mut out.types, self, |out| type_json::encode(self).write(out))
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        let decoded = |input: &mut Reader<'_>| {
            let text = input.text()?;
            type_json::decode(text).map_err(|error| input.malformed(format!("this is no type: {error}")))
        };
        input.shared(|input| &mut input.types, decoded)
    }
}

/// A value without marks, of its own type.
pub(super) fn write_plain(value: &Value, out: &mut Writer) -> Result<(), PlanFileError> {
    let ty = value.ty();
    ty.write(out)?;
    write_typed(value, &ty, out)
}

pub(super) fn read_plain(input: &mut Reader<'_>) -> Result<Value, PlanFileError> {
    let ty = Type::read(input)?;
    read_typed(&ty, input)
}

fn write_typed(value: &Value, ty: &Type, out: &mut Writer) -> Result<(), PlanFileError> {
    let encoded = msgpack::encode(value, ty);
    let bytes = encoded.map_err(|error| PlanFileError::Value { what: ty.friendly_name(), error })?;
    out.blob(&bytes);
    Ok(())
}

fn read_typed(ty: &Type, input: &mut Reader<'_>) -> Result<Value, PlanFileError> {
    let bytes = input.blob()?;
    msgpack::decode(bytes, ty).map_err(|error| PlanFileError::Value { what: ty.friendly_name(), error })
}

impl Stored for Value {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        let (plain, marks) = self.clone().unmark_deep_with_paths();
        write_plain(&plain, out)?;
        marks.write(out)
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        let plain = read_plain(input)?;
        Ok(plain.with_path_marks(&Vec::<PathMarks>::read(input)?))
    }
}

/// The type that all objects of a schema have.
pub(super) fn write_schema(
    key: &SchemaKey,
    schema: &groma_model::schema::Schema,
    out: &mut Writer,
) -> Result<Type, PlanFileError> {
    if let Some((number, ty)) = out.schemas.get(key) {
        let (number, ty) = (*number, ty.clone());
        out.size(number + 1);
        return Ok(ty);
    }
    let ty = schema.block.implied_type();
    out.number(0);
    let (provider, mode, name) = key;
    provider.write(out)?;
    mode.write(out)?;
    name.write(out)?;
    schema.version.write(out)?;
    ty.write(out)?;
    let number = out.schemas.len();
    out.schemas.insert(key.clone(), (number, ty.clone()));
    Ok(ty)
}

/// The schema again, if the provider still says the same.
pub(super) fn read_schema(input: &mut Reader<'_>) -> Result<KnownSchema, PlanFileError> {
    let found = |input: &mut Reader<'_>| {
        let key: SchemaKey = (Stored::read(input)?, Stored::read(input)?, Stored::read(input)?);
        let (version, ty) = (i64::read(input)?, Type::read(input)?);
        let (provider, mode, name) = &key;
        let (provider, mode, name) = (provider.clone(), *mode, name.to_string());
        match (input.lookup)(&provider, mode, &name) {
            None => Err(PlanFileError::NoSchema { provider, mode, ty: name }),
            Some(schema) if schema.version != version || schema.block.implied_type() != ty => {
                Err(PlanFileError::SchemaChanged { provider, mode, ty: name })
            }
            Some(schema) => Ok(KnownSchema { key, schema, ty }),
        }
    };
    input.shared(|input| &mut input.schemas, found)
}

/// An object of a schema. Its type is not repeated, unless it is null without being told of what.
pub(super) fn write_object(value: &Value, ty: &Type, out: &mut Writer) -> Result<(), PlanFileError> {
    let (plain, marks) = value.clone().unmark_deep_with_paths();
    let as_schema_says = !plain.is_null() || plain.is_of_type(ty);
    let bytes = if as_schema_says { msgpack::encode(&plain, ty).ok() } else { None };
    bytes.is_some().write(out)?;
    if let Some(bytes) = bytes {
        out.blob(&bytes);
    } else {
        write_plain(&plain, out)?;
    }
    marks.write(out)
}

pub(super) fn read_object(ty: &Type, input: &mut Reader<'_>) -> Result<Value, PlanFileError> {
    let as_schema_says = bool::read(input)?;
    let plain = if as_schema_says { read_typed(ty, input)? } else { read_plain(input)? };
    if !as_schema_says && !plain.is_null() && plain.is_known() && !plain.conforms_to(ty) {
        return Err(input.malformed("an object does not follow its schema"));
    }
    Ok(plain.with_path_marks(&Vec::<PathMarks>::read(input)?))
}
