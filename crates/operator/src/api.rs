//! The kinds of `groma.dev`, as they are written: what people ask for ([`stack`]), one attempt at it ([`run`]), and kinds of their own
//! that become Stacks ([`blueprint`]). Nothing here decides anything.

#[allow(
    clippy::duplicated_attributes,
    unreachable_pub,
    reason = "columns are alike, and what is derived for the schema is public, and cannot be reached"
)]
pub mod blueprint;
#[allow(
    clippy::duplicated_attributes,
    unreachable_pub,
    reason = "columns are alike, and what is derived for the schema is public, and cannot be reached"
)]
pub mod run;
pub mod shared;
#[allow(unreachable_pub, reason = "what is derived for the schema is public, and cannot be reached")]
pub mod source;
#[allow(
    clippy::duplicated_attributes,
    unreachable_pub,
    reason = "columns are alike, and what is derived for the schema is public, and cannot be reached"
)]
pub mod stack;
#[allow(
    clippy::duplicated_attributes,
    unreachable_pub,
    reason = "columns are alike, and what is derived for the schema is public, and cannot be reached"
)]
pub mod terraform;
pub mod upkeep;
pub mod voices;
#[allow(unreachable_pub, reason = "what is derived for the schema is public, and cannot be reached")]
pub mod webhook;

/// The group of all kinds here.
pub const GROUP: &str = "groma.dev";

/// Names of labels, annotations and finalizers.
pub mod names {
    /// Keeps a Stack until what it has made is gone.
    pub const FINALIZER: &str = "groma.dev/stack";
    /// Keeps a Blueprint until none of its objects waits for it.
    pub const BLUEPRINT_FINALIZER: &str = "groma.dev/objects";
    /// On Stacks that objects have become: the Blueprint that says how.
    pub const BLUEPRINT: &str = "groma.dev/blueprint";
    /// Beside it: what the kind of the object is called in addresses.
    pub const OBJECT_PLURAL: &str = "groma.dev/object-plural";
    /// Beside it: the finalizer on the object.
    pub const OBJECT_FINALIZER: &str = "groma.dev/object-finalizer";
    /// On everything that belongs to a Stack: its name.
    pub const STACK: &str = "groma.dev/stack";
    /// On everything that belongs to a Run: its name.
    pub const RUN: &str = "groma.dev/run";
    /// On Stacks that objects of tofu-controller have become: the name of the object, or a mark of it where that is too long.
    pub const TERRAFORM: &str = "groma.dev/terraform";
    /// On objects that tofu-controller has worked on: that we do now. Without it they are only planned.
    pub const TAKEN_OVER: &str = "groma.dev/taken-over";
    /// On Stacks that objects of tofu-controller have become: the `replan` that was heeded, for as long as it stands there.
    pub const REPLAN: &str = "groma.dev/replan";
    /// On Runs: the revision of the source that they are about.
    pub const REVISION: &str = "groma.dev/revision";
    /// On Runs: why something newer took their place.
    pub const SUPERSEDED: &str = "groma.dev/superseded";
    /// On Stacks and Runs: the id of the plan that somebody has agreed to.
    pub const APPROVE: &str = "groma.dev/approve";
    /// Beside it: who that is. The API server makes sure that it is who they say.
    pub const APPROVED_BY: &str = "groma.dev/approved-by";
    /// On Stacks: another value asks for a run now.
    pub const REQUESTED_AT: &str = "groma.dev/requested-at";
    /// The same, as Flux and its tools write it.
    pub const FLUX_REQUESTED_AT: &str = "reconcile.fluxcd.io/requestedAt";
    /// On Stacks and Runs: the span that their traces go on from, as `traceparent` of W3C has it.
    pub const TRACEPARENT: &str = "groma.dev/traceparent";
    /// On Secrets with outputs: the keys of those that must not be shown, with commas between them.
    pub const SENSITIVE_KEYS: &str = "groma.dev/sensitive-keys";
    /// Keeps what is needed to take a Stack down when its namespace is deleted, until the Stack is gone.
    pub const KEPT: &str = "groma.dev/kept";
    /// On what is kept: the Stack that it is kept for.
    pub const KEPT_FOR: &str = "groma.dev/kept-for";
    /// On Stacks that are made for pull requests: the Stack that they would change.
    pub const PREVIEW_OF: &str = "groma.dev/preview-of";
    /// Beside it: the number of the pull request.
    pub const PULL_REQUEST: &str = "groma.dev/pull-request";
    /// Beside it, an annotation: what was said about it there, so that it is not said again.
    pub const TOLD: &str = "groma.dev/told";
    /// Who writes.
    pub const FIELD_MANAGER: &str = "groma";
}
