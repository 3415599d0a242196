//! Functions: how one is described and called. The functions themselves are in the submodules, grouped as users know them.
//!
//! The call protocol (argument count, conversion, null, unknown and mark handling) is in [`call`]; a function's own code sees only
//! values that it said it can take.

mod assume;
pub mod call;
mod collection;
mod crypto;
mod datetime;
mod encoding;
mod files;
mod format;
mod net;
mod number;
mod regex;
pub mod registry;
pub(crate) mod special;
mod string;
mod support;
mod types;

use groma_model::ty::Type;
use groma_model::value::Value;

use crate::environment::Environment;

pub use datetime::parse_duration;

/// A function of the language.
pub struct Function {
    /// Its name, without `core::`.
    pub name: &'static str,
    /// One or two sentences for `metadata functions`.
    pub description: &'static str,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Takes any number of further arguments.
    pub variadic: Option<Param>,
    /// What it returns, from what it is given.
    pub returns: Returns,
    /// Whether a known result is never null, so that an unknown one can say so.
    pub never_null: bool,
    /// Whether the result depends on more than the arguments and files (`uuid`, `timestamp`): unknown while planning.
    pub impure: bool,
    /// Works it out. Arguments are converted, and free of what their parameter does not allow.
    pub run: fn(&CallContext<'_>, &[Value]) -> Result<Value, FunctionError>,
}

/// What a function returns.
pub enum Returns {
    /// Always this type.
    Type(Type),
    /// Depends on the arguments. Must work with unknown arguments; [`Type::Dynamic`] if it cannot be said yet.
    Of(fn(&[Value]) -> Result<Type, FunctionError>),
}

/// A parameter.
#[derive(Clone)]
pub struct Param {
    /// Its name, for messages and documentation.
    pub name: &'static str,
    /// For `metadata functions`.
    pub description: &'static str,
    /// Arguments are converted to it.
    pub ty: Type,
    /// Whether null may be passed.
    pub allow_null: bool,
    /// Whether an unknown argument reaches the function; otherwise the result is unknown at once.
    pub allow_unknown: bool,
    /// Whether an argument of unknown type reaches the function; otherwise the result is of unknown type at once.
    pub allow_dynamic: bool,
    /// Whether marks reach the function; otherwise they are taken off (deeply) and put on the result.
    pub allow_marked: bool,
}

impl Param {
    /// A parameter that takes known, non-null, unmarked values.
    pub fn new(name: &'static str, ty: Type) -> Self {
        Self {
            name,
            description: "",
            ty,
            allow_null: false,
            allow_unknown: false,
            allow_dynamic: false,
            allow_marked: false,
        }
    }

    /// Describes it.
    pub fn about(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// Lets null through.
    pub fn null(mut self) -> Self {
        self.allow_null = true;
        self
    }

    /// Lets unknown values through.
    pub fn unknown(mut self) -> Self {
        self.allow_unknown = true;
        self
    }

    /// Lets values of unknown type through.
    pub fn dynamic(mut self) -> Self {
        self.allow_dynamic = true;
        self
    }

    /// Lets marks through.
    pub fn marked(mut self) -> Self {
        self.allow_marked = true;
        self
    }
}

/// What a function may use besides its arguments.
pub struct CallContext<'a> {
    /// Files, time, randomness.
    pub environment: &'a dyn Environment,
    /// Relative paths of file functions start here (the working directory as users see it), usually `.`.
    pub base_dir: &'a std::path::Path,
    /// When the plan was made, for `plantimestamp`; unknown if there is no plan.
    pub plan_time: Option<(i64, u32)>,
    /// Renders templates for `templatefile` and `templatestring`, whose functions are the caller's.
    pub templates: &'a dyn TemplateRenderer,
}

/// Evaluates a template text; implemented by the evaluator.
pub trait TemplateRenderer {
    /// Renders `text` (named `name` in messages) with `variables`, an object or map whose names are the only roots in scope.
    /// `caller` is the function that asks: it may not be called again beyond the recursion limit.
    fn render(&self, caller: &str, name: &str, text: &str, variables: &Value) -> Result<Value, FunctionError>;
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FunctionError {
    /// What went wrong, as a sentence that ends without a full stop.
    pub message: String,
    /// The argument to blame, from 0.
    pub argument: Option<usize>,
}

impl FunctionError {
    /// An error of the whole call.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), argument: None }
    }

    /// An error of one argument.
    pub fn arg(argument: usize, message: impl Into<String>) -> Self {
        Self { message: message.into(), argument: Some(argument) }
    }
}

/// All functions, group by group.
fn groups() -> Vec<Function> {
    let mut all = special::functions();
    all.extend(encoding::functions());
    all.extend(crypto::functions());
    all.extend(datetime::functions());
    all.extend(files::functions());
    all.extend(net::functions());
    all.extend(format::functions());
    all.extend(regex::functions());
    all.extend(string::functions());
    all.extend(collection::functions());
    all.extend(number::functions());
    all.extend(types::functions());
    all.extend(assume::functions());
    all
}

/// A function from outside the language: one of a provider.
pub struct ExternalFunction {
    /// Its parameters.
    pub params: Vec<ExternalParam>,
    /// Takes any number of further arguments.
    pub variadic: Option<ExternalParam>,
    /// What it returns.
    pub returns: Type,
    /// Calls it. Arguments are converted, unmarked, and known and not null where the parameter asks for it.
    pub call: ExternalCall,
}

impl ExternalFunction {
    /// One that nothing is known about: it takes anything and gives what nobody knows yet.
    pub fn unknown() -> Self {
        let any = ExternalParam { name: "args".to_owned(), ty: Type::Dynamic, allow_null: true, allow_unknown: true };
        Self {
            params: Vec::new(),
            variadic: Some(any),
            returns: Type::Dynamic,
            call: Box::new(|_| Ok(Value::dynamic())),
        }
    }
}

/// How a function from outside is called.
pub type ExternalCall = Box<dyn Fn(&[Value]) -> Result<Value, FunctionError> + Send + Sync>;

/// A parameter of an [`ExternalFunction`].
#[derive(Debug, Clone)]
pub struct ExternalParam {
    /// Its name, for messages.
    pub name: String,
    /// Arguments are converted to it.
    pub ty: Type,
    /// Whether null may be passed.
    pub allow_null: bool,
    /// Whether unknown values reach the function.
    pub allow_unknown: bool,
}
