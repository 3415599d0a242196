//! A rule about the order of replacements.

use std::sync::Arc;

use groma_model::address::Module;
use groma_model::span::Span;
use groma_model::text::Str;

use super::path::FieldPath;
use super::predicate::Predicate;
use crate::glob::Glob;
use crate::pattern::Pattern;

/// Which of both objects is there first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// The old object is deleted, then the new one is made.
    DeleteFirst,
    /// The new object is made, then the old one is deleted.
    CreateFirst,
}

impl Order {
    /// As it is written in rules, and as machines are told.
    pub fn name(self) -> &'static str {
        match self {
            Order::DeleteFirst => "delete_first",
            Order::CreateFirst => "create_first",
        }
    }

    /// The other one.
    pub fn opposite(self) -> Order {
        match self {
            Order::DeleteFirst => Order::CreateFirst,
            Order::CreateFirst => Order::DeleteFirst,
        }
    }
}

/// What is done with a rule that matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Behavior {
    /// The user is told.
    #[default]
    Warn,
    /// It is obeyed, if the user has allowed that.
    Auto,
}

/// What becomes of a rule whose result is not known before the apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnUnknown {
    /// The user is told, and nothing else.
    #[default]
    Warn,
    /// It counts as true.
    Match,
    /// It counts as false.
    NoMatch,
    /// The plan fails.
    Error,
}

/// What becomes of a rule that cannot be evaluated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnError {
    /// The user is told, and nothing else.
    #[default]
    Warn,
    /// The plan fails.
    Fail,
}

/// Where a rule comes from, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// From the catalogue that comes with groma.
    Catalogue,
    /// From a module that the root calls.
    Module,
    /// From the root module.
    Root,
}

/// `replace_rule "id" { … }`
#[derive(Debug, Clone)]
pub struct ReplaceRule {
    /// Its name, unique in its module.
    pub id: Str,
    /// Where its name stands. None in the catalogue.
    pub place: Option<Span>,
    /// The module that it is written in; the root for the catalogue.
    pub module: Module,
    /// Where it comes from.
    pub origin: Origin,
    /// Which resource types it is about.
    pub resource: Glob,
    /// Only those of this provider, by its source.
    pub provider: Option<Str>,
    /// Only with versions like these of it.
    pub provider_version: Option<Str>,
    /// Only instances with such addresses. Empty for all.
    pub targets: Vec<Pattern>,
    /// It matters only where one of these is the cause of the replacement. Empty for any cause.
    pub fields: Vec<FieldPath>,
    /// What it wants.
    pub order: Order,
    /// What is done about it.
    pub behavior: Behavior,
    /// If the result is not known; what the settings say if nothing is said here.
    pub on_unknown: Option<OnUnknown>,
    /// If there is none; what the settings say if nothing is said here.
    pub on_error: Option<OnError>,
    /// Types of dependents that are replaced as well if the old object goes first.
    pub replace_dependents: Vec<Glob>,
    /// Whether it is about links, which are what they are between: a new one that is created first is the old one, and goes with it.
    pub is_about_links: bool,
    /// When it holds. None if it always does.
    pub logic: Option<Logic>,
    /// Why.
    pub reasoning: Option<Str>,
    /// What else could be done.
    pub suggestions: Vec<Str>,
    /// Where to read on.
    pub learn_more: Option<Str>,
}

/// A condition made of predicates.
#[derive(Debug, Clone)]
pub enum Logic {
    /// All of them.
    All(Vec<Logic>),
    /// Any of them.
    Any(Vec<Logic>),
    /// None of them.
    NoneOf(Vec<Logic>),
    /// `TRUE` or `FALSE` in an expression.
    Constant(bool),
    /// A `group` or a `condition` with a name.
    Named(Arc<Named>),
    /// A predicate.
    Ask(Arc<Question>),
}

/// Logic with a name of its own.
#[derive(Debug)]
pub struct Named {
    /// The name.
    pub id: Str,
    /// In words.
    pub description: Option<Str>,
    /// What it stands for.
    pub logic: Logic,
}

/// A predicate in a rule.
#[derive(Debug)]
pub struct Question {
    /// Its name in expressions, or its letter.
    pub id: Str,
    /// In words.
    pub description: Option<Str>,
    /// Where it stands. None in the catalogue.
    pub place: Option<Span>,
    /// Whether it may read what is sensitive.
    pub allow_sensitive: bool,
    /// What is asked.
    pub predicate: Box<dyn Predicate>,
}

/// `replace_settings { … }`, in the root module.
#[derive(Debug, Clone, Default)]
pub struct ReplaceSettings {
    /// Whether rules are heeded.
    pub mode: Option<Mode>,
    /// Whether the catalogue is used.
    pub catalogue: Option<bool>,
    /// Rules that are not, by globs of their names.
    pub disable_rules: Vec<Glob>,
    /// If a result is not known.
    pub on_unknown: OnUnknown,
    /// If there is no result.
    pub on_error: OnError,
}

/// Whether rules are heeded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// They are not looked at.
    Off,
    /// The user is told what they want.
    #[default]
    Warn,
    /// Those that say so are obeyed.
    Auto,
}

impl Mode {
    /// As it is written, and as machines are told.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Off => "off",
            Mode::Warn => "warn",
            Mode::Auto => "auto",
        }
    }
}

/// `attachment "alias" { … }`: what a name in `resource_types` stands for.
#[derive(Debug, Clone)]
pub struct Attachment {
    /// The name.
    pub alias: Str,
    /// Where it stands.
    pub place: Option<Span>,
    /// For rules about these types only.
    pub resource: Option<Glob>,
    /// Elements of a block or collection of the object itself.
    pub block: Option<FieldPath>,
    /// Objects of these types.
    pub types: Vec<Glob>,
    /// What two elements cannot both have, by paths in them.
    pub exclusive: Vec<FieldPath>,
    /// The attributes that others hold the object by.
    pub identity: Vec<Str>,
}
