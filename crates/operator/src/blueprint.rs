//! Objects of any kind become Stacks, and what those say goes back into their status: how, a Blueprint says.
//!
//! [`wanted`] says which Stack an object asks for and [`told`] what its status says; both touch nothing. [`reconcile`] looks at one
//! object, [`keep`] at a Blueprint itself, [`watches`] remembers which kinds are watched. How a Stack becomes infrastructure is no
//! business of anything here.
//!
//! Nothing here can keep an object for ever. An object that is being deleted stays until its Stack is gone; a Stack that never was is
//! gone. A Blueprint that is being deleted lets go of all objects that stay: their Stacks go on, and go with them, as they own them. And
//! where a Blueprint was taken away by force, whoever sees one of its Stacks lets go of the object.

pub mod keep;
#[cfg(test)]
mod operating;
mod path;
pub mod reconcile;
#[cfg(test)]
mod shipped;
pub mod told;
pub mod wanted;
pub mod watches;

use std::fmt;
use std::time::Duration;

use crate::api::blueprint::{BlueprintSpec, Subject};
use crate::api::shared::Moment;
use crate::objects::Kind;

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The Blueprint that it stands in. None if it stands in the object.
    pub blueprint: Option<String>,
    /// The field.
    pub field: String,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(blueprint) = &self.blueprint {
            write!(f, "Blueprint {blueprint}, ")?;
        }
        write!(f, "{}: {}", self.field, self.what)
    }
}

/// The kind that a Blueprint is for.
pub fn kind_of(subject: &Subject) -> Result<Kind, String> {
    let (group, version) = subject.api_version.split_once('/').unwrap_or(("", &subject.api_version));
    if version.is_empty() || version.contains('/') {
        return Err(format!("{:?} is not a group and a version, such as example.com/v1", subject.api_version));
    }
    if group.is_empty() || group == crate::api::GROUP {
        return Err(format!("kinds of {:?} cannot be made of Stacks", subject.api_version));
    }
    let plural = subject.plural.clone().unwrap_or_else(|| format!("{}s", subject.kind.to_lowercase()));
    Ok(Kind { group: group.to_owned(), version: version.to_owned(), kind: subject.kind.clone(), plural })
}

/// Whether an object is kept by the finalizer of a Blueprint.
fn is_held(object: &kube::api::DynamicObject, spec: &BlueprintSpec) -> bool {
    object.metadata.finalizers.iter().flatten().any(|held| *held == spec.finalizer)
}

fn later(now: Moment, by: Duration) -> Moment {
    let by = jiff::SignedDuration::try_from(by).unwrap_or(jiff::SignedDuration::MAX);
    Moment(now.0.checked_add(by).unwrap_or(jiff::Timestamp::MAX))
}
