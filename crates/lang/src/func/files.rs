//! Functions on files and their paths. Files are read through the environment; relative paths start at the base directory.

#![allow(clippy::unnecessary_wraps, reason = "all functions share one signature")]

mod glob;
mod path;

use std::io::ErrorKind;
use std::path::Path;

use groma_model::ty::Type;
use groma_model::value::Value;

use super::crypto::{Encoding, Hash};
use super::encoding::{base64, shown};
use super::support::{Outcome, text, text_param};
use super::{CallContext, Function, FunctionError};
use crate::environment::FileKind;

/// The functions of this group.
pub(super) fn functions() -> Vec<Function> {
    let mut all = path_functions();
    all.extend(hash_functions());
    let file = || vec![text_param("path").marked().about("The path of the file.")];
    all.extend([
        Function::new("file", "The contents of a file, which must be text in UTF-8.", file(), Type::String, read_text),
        Function::new("filebase64", "The contents of a file, in base64.", file(), Type::String, |context, args| {
            let bytes = read(context, &args[0])?;
            Ok(Value::string(base64::encode(&bytes)).with_marks(args[0].marks()))
        }),
        Function::new("fileexists", "Tells whether there is a file at a path.", file(), Type::Bool, file_exists),
        Function::new(
            "fileset",
            "The paths of all files below a directory that match a pattern.",
            vec![
                text_param("path").marked().about("The directory."),
                text_param("pattern").marked().about("A pattern with `*`, `**`, `?`, `[a-z]` and `{a,b}`."),
            ],
            Type::set(Type::String),
            file_set,
        ),
    ]);
    all
}

fn path_functions() -> Vec<Function> {
    let param = || vec![text_param("path").about("The path.")];
    vec![
        Function::new("abspath", "Makes a path absolute.", param(), Type::String, |context, args| {
            let directory = context.environment.working_dir();
            Ok(Value::string(path::join_unless_absolute(&directory.to_string_lossy(), text(args, 0))))
        }),
        Function::new("basename", "The last part of a path.", param(), Type::String, |_, args| {
            Ok(Value::string(path::base(text(args, 0))))
        }),
        Function::new("dirname", "A path without its last part.", param(), Type::String, |_, args| {
            Ok(Value::string(path::dir(text(args, 0))))
        }),
        Function::new(
            "pathexpand",
            "Puts the home directory of the user in place of a leading `~`.",
            param(),
            Type::String,
            |context, args| expand_home(context, text(args, 0)).map(Value::string).map_err(FunctionError::new),
        ),
    ]
}

fn hash_functions() -> Vec<Function> {
    let function = |name, description, run| {
        Function::new(name, description, vec![text_param("path").about("The path of the file.")], Type::String, run)
    };
    vec![
        function("filemd5", "The MD5 hash of a file, in hexadecimal digits.", |context, args| {
            hashed(context, args, Hash::Md5, Encoding::Hex)
        }),
        function("filesha1", "The SHA-1 hash of a file, in hexadecimal digits.", |context, args| {
            hashed(context, args, Hash::Sha1, Encoding::Hex)
        }),
        function("filesha256", "The SHA-256 hash of a file, in hexadecimal digits.", |context, args| {
            hashed(context, args, Hash::Sha256, Encoding::Hex)
        }),
        function("filesha512", "The SHA-512 hash of a file, in hexadecimal digits.", |context, args| {
            hashed(context, args, Hash::Sha512, Encoding::Hex)
        }),
        function("filebase64sha256", "The SHA-256 hash of a file, in base64.", |context, args| {
            hashed(context, args, Hash::Sha256, Encoding::Base64)
        }),
        function("filebase64sha512", "The SHA-512 hash of a file, in base64.", |context, args| {
            hashed(context, args, Hash::Sha512, Encoding::Base64)
        }),
    ]
}

fn expand_home(context: &CallContext<'_>, path: &str) -> Result<String, String> {
    let Some(rest) = path.strip_prefix('~') else { return Ok(path.to_owned()) };
    if !rest.is_empty() && !rest.starts_with(['/', '\\']) {
        return Err("cannot expand user-specific home dir".into());
    }
    let home = context.environment.home_dir().ok_or("the home directory of the user is not known")?;
    Ok(path::join(&home.to_string_lossy(), rest))
}

/// Where a path given by the user leads: `~` expanded, from the base directory, without detours.
fn resolve(context: &CallContext<'_>, given: &str) -> Result<String, FunctionError> {
    let expanded =
        expand_home(context, given).map_err(|problem| FunctionError::new(format!("failed to expand ~: {problem}")))?;
    Ok(path::join_unless_absolute(&context.base_dir.to_string_lossy(), &expanded))
}

/// What went wrong with a file, in the words of Go.
fn describe(action: &str, path: &str, error: &std::io::Error) -> String {
    let problem = match error.kind() {
        ErrorKind::NotFound => "no such file or directory".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "is a directory".to_owned(),
        ErrorKind::NotADirectory => "not a directory".to_owned(),
        _ => error.to_string(),
    };
    format!("{action} {path}: {problem}")
}

fn read(context: &CallContext<'_>, argument: &Value) -> Result<Vec<u8>, FunctionError> {
    let given = argument.as_str().unwrap_or_default();
    let path = resolve(context, given).map_err(|error| FunctionError::arg(0, error.message))?;
    context.environment.read_file(Path::new(&path)).map_err(|error| {
        let message = match error.kind() {
            ErrorKind::NotFound => format!(
                "no file exists at {}; this function works only with files that are distributed as part of the \
                 configuration source code, so if this file will be created by a resource in this configuration you \
                 must instead obtain this result from an attribute of that resource",
                shown(given, argument.marks())
            ),
            ErrorKind::IsADirectory => format!("failed to read file: {}", describe("read", &path, &error)),
            _ => describe("open", &path, &error),
        };
        FunctionError::arg(0, message)
    })
}

fn read_text(context: &CallContext<'_>, args: &[Value]) -> Outcome {
    let bytes = read(context, &args[0])?;
    let text = String::from_utf8(bytes).map_err(|_| {
        let path = shown(args[0].as_str().unwrap_or_default(), args[0].marks());
        FunctionError::new(format!(
            "contents of {path} are not valid UTF-8; use the filebase64 function to obtain the Base64 encoded contents \
             or the other file functions (e.g. filemd5, filesha256) to obtain file hashing results instead"
        ))
    })?;
    Ok(Value::string(text).with_marks(args[0].marks()))
}

fn hashed(context: &CallContext<'_>, args: &[Value], hash: Hash, encoding: Encoding) -> Outcome {
    let path = resolve(context, text(args, 0))?;
    let bytes = context.environment.read_file(Path::new(&path)).map_err(|error| {
        let action = if error.kind() == ErrorKind::IsADirectory { "read" } else { "open" };
        FunctionError::new(describe(action, &path, &error))
    })?;
    Ok(Value::string(hash.of(&bytes, encoding)))
}

fn file_exists(context: &CallContext<'_>, args: &[Value]) -> Outcome {
    let path = resolve(context, args[0].as_str().unwrap_or_default())?;
    let name = shown(&path, args[0].marks());
    let kind = context
        .environment
        .file_kind(Path::new(&path))
        .map_err(|_| FunctionError::new(format!("failed to stat {name}")))?;
    let exists = match kind {
        None => false,
        Some(FileKind::File) => true,
        Some(FileKind::Directory) => {
            return Err(FunctionError::new(format!("{name} is a directory, not a file")));
        }
        Some(FileKind::Other) => return Err(FunctionError::new(format!("{name} is not a regular file"))),
    };
    Ok(Value::bool(exists).with_marks(args[0].marks()))
}

fn file_set(context: &CallContext<'_>, args: &[Value]) -> Outcome {
    let given = args[0].as_str().unwrap_or_default();
    let marks = args[0].marks().union(args[1].marks());
    let directory = path::join_unless_absolute(&context.base_dir.to_string_lossy(), given);
    let pattern = path::join(&directory, args[1].as_str().unwrap_or_default());
    let files = glob::find_files(context.environment, &pattern).map_err(|problem| {
        FunctionError::new(format!("failed to glob pattern {}: {problem}", shown(&pattern, &marks)))
    })?;
    let relative = files.iter().map(|file| Value::string(path::relative(&directory, file))).collect();
    Ok(Value::set(Type::String, relative).with_marks(&marks))
}

#[cfg(test)]
mod tests;
