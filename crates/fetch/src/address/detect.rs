//! Shorthands: what stands for what. No network is asked, also not for Bitbucket, which has git repositories only by now.

use super::AddressError;
use super::go_url::{encode_query, escape_path, parse_query, scheme, unescape};
use super::subdir::{join_paths, split_subdir};

/// The normal form of a package address. A shorthand may contain a directory; it is in the result as `//dir`.
pub(super) fn detect(text: &str) -> Result<String, AddressError> {
    let (forced, source) = forced_getter(text);
    let (source, subdir) = split_subdir(source);
    if scheme(&source).is_some_and(|scheme| !scheme.is_empty()) {
        return Ok(text.to_owned());
    }
    if source.is_empty() {
        return Err(AddressError::Malformed(format!("invalid source string: {text}")));
    }
    let found = [github, scp, bitbucket, gcs, s3, file].into_iter().find_map(|detector| detector(&source));
    let result = found.unwrap_or_else(|| Err(AddressError::MaybeRelativePath(source.clone())))?;
    let (detected_force, result) = forced_getter(&result);
    let (result, detected_subdir) = split_subdir(result);
    let subdir = match (detected_subdir, subdir) {
        (Some(outer), Some(inner)) => Some(join_paths(outer, inner)),
        (outer, inner) => outer.or(inner).map(str::to_owned),
    };
    let result = match (subdir, result.split_once('?')) {
        (None, _) => result,
        (Some(subdir), None) => format!("{result}//{subdir}"),
        (Some(subdir), Some((package, query))) => format!("{package}//{subdir}?{query}"),
    };
    Ok(match forced.or(detected_force) {
        Some(force) => format!("{force}::{result}"),
        None => result,
    })
}

/// Splits `git::https://…`.
pub(super) fn forced_getter(text: &str) -> (Option<&str>, &str) {
    match text.split_once("::") {
        Some((force, rest))
            if !force.is_empty() && force.bytes().all(|b| b.is_ascii_alphanumeric()) && !rest.is_empty() =>
        {
            (Some(force), rest)
        }
        _ => (None, text),
    }
}

type Detected = Option<Result<String, AddressError>>;

fn github(source: &str) -> Detected {
    let (path, query) = source.split_once('?').map_or((source, ""), |(path, query)| (path, query));
    if !path.starts_with("github.com/") {
        return None;
    }
    let parts: Vec<&str> = path.split('/').collect();
    let [host, owner, repository, rest @ ..] = parts.as_slice() else {
        return Some(Err(AddressError::Malformed("GitHub URLs should be github.com/username/repo".to_owned())));
    };
    let Some(decoded) = unescape(&format!("/{owner}/{repository}"), false) else {
        return Some(Err(AddressError::Malformed(format!("error parsing GitHub URL: {source}"))));
    };
    let suffix = if is_named_git(&decoded) { "" } else { ".git" };
    let subdir = if rest.is_empty() { String::new() } else { format!("//{}", rest.join("/")) };
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    Some(Ok(format!("git::https://{host}{}{query}", escape_path(&format!("{decoded}{suffix}{subdir}")))))
}

/// `git@host:path`. Other users than `git` are not taken for git, as ever.
fn scp(source: &str) -> Detected {
    let (user, rest) = source.split_once('@')?;
    let (host, path) = rest.split_once(':')?;
    let path = path.strip_prefix('/').filter(|path| !path.is_empty()).unwrap_or(path);
    if user != "git" || host.is_empty() || path.is_empty() {
        return None;
    }
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let query = match query.map(|query| parse_query(query, true)) {
        None => String::new(),
        Some(None) => {
            return Some(Err(AddressError::Malformed(format!("error parsing GitHub SSH URL: {source}"))));
        }
        Some(Some(pairs)) if pairs.is_empty() => String::new(),
        Some(Some(pairs)) => format!("?{}", encode_query(pairs)),
    };
    let slash = if path.starts_with('/') { "" } else { "/" };
    Some(Ok(format!("git::ssh://git@{host}{slash}{}{query}", escape_path(path))))
}

/// Whether the usual ending is there already. It has no other spellings: the server tells names apart by case.
fn is_named_git(path: &str) -> bool {
    path.as_bytes().ends_with(b".git")
}

fn bitbucket(source: &str) -> Detected {
    if !source.starts_with("bitbucket.org/") {
        return None;
    }
    let (path, query) = source.find('?').map_or((source, ""), |at| source.split_at(at));
    if path.split('/').filter(|part| !part.is_empty()).count() < 3 {
        let words = "Bitbucket URLs should be bitbucket.org/username/repo";
        return Some(Err(AddressError::Malformed(words.to_owned())));
    }
    let suffix = if is_named_git(path) { "" } else { ".git" };
    Some(Ok(format!("git::https://{path}{suffix}{query}")))
}

fn gcs(source: &str) -> Detected {
    if !source.contains(".googleapis.com/") {
        return None;
    }
    let parts: Vec<&str> = source.split('/').collect();
    let [_, _, version, bucket, object @ ..] = parts.as_slice() else { return Some(Err(no_gcs())) };
    if object.is_empty() {
        return Some(Err(no_gcs()));
    }
    Some(Ok(format!("gcs::https://www.googleapis.com/storage/{version}/{bucket}/{}", object.join("/"))))
}

fn no_gcs() -> AddressError {
    AddressError::Malformed("URL is not a valid GCS URL".to_owned())
}

fn s3(source: &str) -> Detected {
    if !source.contains(".amazonaws.com/") {
        return None;
    }
    let (host, path) = source.split_once('/')?;
    let parts: Vec<&str> = host.split('.').collect();
    Some(match parts.as_slice() {
        [region, _, _] => Ok(format!("s3::https://{region}.amazonaws.com/{path}")),
        [bucket, region, _, _] => Ok(format!("s3::https://{region}.amazonaws.com/{bucket}/{path}")),
        [bucket, "s3", region, _, _] => Ok(format!("s3::https://s3.{region}.amazonaws.com/{bucket}/{path}")),
        _ => Err(AddressError::Malformed("URL is not a valid S3 URL".to_owned())),
    })
}

/// Whole directories of this machine, for historical reasons.
fn file(source: &str) -> Detected {
    source.strip_prefix('/').map(|path| Ok(format!("file:///{path}")))
}
