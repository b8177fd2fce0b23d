//! What a valid idempotent function is. Only `check` makes one, so expansion cannot fail.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};

use crate::item::Item;
use crate::known::Class;
use crate::outside::Typed;
use crate::paths::Paths;
use crate::shape::Shape;

/// A function, and all that was said about it.
pub(crate) struct Function {
    pub(crate) item: Item,
    pub(crate) paths: Paths,
    pub(crate) shape: Shape,
    /// Whether the body is called where the function was: `#[track_caller]`.
    pub(crate) tracked: bool,
    pub(crate) scope: Scope,
    pub(crate) settings: Settings,
    pub(crate) declared: Declared,
    pub(crate) templates: Vec<Template>,
    pub(crate) proofs: Vec<Proof>,
    pub(crate) facts: Vec<FactCheck>,
    pub(crate) identity: Vec<Identity>,
    pub(crate) store: Store,
    /// The transaction that the record is written in, if it is the handler's own.
    pub(crate) transaction: Option<Transaction>,
    /// Expressions that read what must be equal under one key; empty if nothing is compared.
    pub(crate) payload: Vec<TokenStream>,
    /// Arguments that may be messages, whose payload is compared if they are; empty if something was said about the payload.
    pub(crate) messages: Vec<MaybeMessage>,
    pub(crate) final_error: Option<TokenStream>,
    /// The type of the answer, `_` where it says `impl Trait`; `None` where only the compiler knows it.
    pub(crate) answer: Option<TokenStream>,
    /// Whether the answer says `impl Trait`, which a closure cannot write.
    pub(crate) answer_is_opaque: bool,
    /// What the body, or an option, makes use of, in the order in which it was declared.
    pub(crate) used: Vec<Ident>,
}

/// A key outside of attributes: `key!("…")`.
pub(crate) struct OutsideKey {
    pub(crate) paths: Paths,
    pub(crate) templates: Vec<Template>,
    pub(crate) proofs: Vec<Proof>,
    /// Variables whose types were named: they are read through references of those types.
    pub(crate) typed: Vec<Typed>,
}

/// Which handler the records belong to.
pub(crate) enum Scope {
    /// Module and function.
    Path,
    /// A constant that is the same for all type parameters.
    Constant(TokenStream),
    /// A constant that may depend on type parameters: no `static` can hold it.
    Dependent(TokenStream),
}

/// What was said; what was not is the handler's default.
#[derive(Default)]
pub(crate) struct Settings {
    pub(crate) scope_was: Vec<String>,
    pub(crate) ttl: Option<Duration>,
    pub(crate) keep: Option<Duration>,
    pub(crate) lease: Option<Duration>,
    pub(crate) max_hold: Option<Duration>,
    pub(crate) max_tries: Option<u32>,
    /// The variants of the enums of the same names.
    pub(crate) on_lapse: Option<&'static str>,
    pub(crate) mode: Option<&'static str>,
    pub(crate) require: Option<&'static str>,
    pub(crate) wait: Option<Duration>,
}

/// What was said, as it was written, for those who review it.
pub(crate) struct Declared {
    /// The templates of the key.
    pub(crate) keys: Vec<String>,
    pub(crate) redelivery: Option<Duration>,
    /// The places that are compared; empty for `none`.
    pub(crate) payload: Option<Vec<String>>,
    pub(crate) once_per: Option<String>,
    /// Each place with its reason.
    pub(crate) trusts: Vec<(String, String)>,
    /// Each rule with its reason.
    pub(crate) allows: Vec<(String, String)>,
}

/// One key.
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
}

/// A piece of a key.
pub(crate) enum Part {
    /// Text as it stands in the key.
    Literal(String),
    Place {
        /// As it was written, for messages at run time.
        name: String,
        read: TokenStream,
        /// The first byte of what follows, which the part may not hold.
        end: Option<u8>,
        /// Whether its name begins with `_`, for which clippy would blame the reader.
        underscore: bool,
        /// What its type seems to be, for the compiler's message.
        class: Option<Class>,
    },
}

/// A function that compiles only if a place is read the same on every attempt.
pub(crate) struct Proof {
    pub(crate) cfgs: TokenStream,
    pub(crate) generics: TokenStream,
    pub(crate) where_clause: TokenStream,
    pub(crate) pattern: TokenStream,
    pub(crate) ty: TokenStream,
    /// The place, as it may be read for the key.
    pub(crate) reads: Vec<TokenStream>,
    /// What else the pattern binds.
    pub(crate) others: Vec<Ident>,
}

/// What is asked of the types of the arguments that one template reads.
pub(crate) struct FactCheck {
    /// Whether a type depends on parameters of the function, or of what is around it.
    pub(crate) generic: bool,
    /// Where the template is.
    pub(crate) at: Span,
    /// Each with what is said if it is another one at each delivery.
    pub(crate) per_delivery: Vec<(TypedField, String)>,
    /// Each with what its name tells, if its message does not say otherwise.
    pub(crate) named: Vec<(TypedField, String)>,
    /// The fields of which one has to be an identity, and what is said if none is.
    pub(crate) identity: Option<(Vec<TypedField>, String)>,
    /// The fields of which a message has to mark one as its identity, as their names tell nothing of one.
    pub(crate) enough: Option<(Vec<TypedField>, String)>,
}

/// A field that a key reads from an argument of this type.
#[derive(Clone)]
pub(crate) struct TypedField {
    pub(crate) ty: TokenStream,
    pub(crate) field: String,
}

/// An argument that may be a message.
pub(crate) struct MaybeMessage {
    pub(crate) name: Ident,
    /// Its type, where that can be written.
    pub(crate) ty: Option<TokenStream>,
}

/// What tells one instance of a function from another.
pub(crate) enum Identity {
    Type(TokenStream),
    /// The type of an argument that cannot be named.
    TypeOf(Ident),
    /// All const parameters.
    Consts,
}

/// Where records live.
pub(crate) enum Store {
    /// In the store given to `idem::install`.
    Installed,
    /// Nowhere: the API that gets the key deduplicates.
    Nowhere,
    /// In the store that this expression points to.
    In(TokenStream),
}

/// A transaction of the handler's own.
pub(crate) struct Transaction {
    /// The expression that it is.
    pub(crate) place: TokenStream,
    /// Whether that is an argument by itself, and so a reference.
    pub(crate) bare: bool,
    /// The argument that the body gets a reference of its own of, so that it gives it back; `None` if it cannot, and borrows instead.
    pub(crate) shadow: Option<Shadow>,
    pub(crate) at: Span,
}

/// A `&mut` argument that is bound anew around the body.
pub(crate) struct Shadow {
    pub(crate) name: Ident,
    /// Whether it was written `mut`.
    pub(crate) mutable: bool,
}
