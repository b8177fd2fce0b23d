//! What a valid part is. Only `check` makes one, so expansion cannot fail.

use proc_macro2::TokenStream;
use syn::{Ident, Member};

use crate::known::Class;
use crate::paths::Paths;

pub(super) struct Part<'i> {
    pub(super) item: &'i super::item::Item,
    pub(super) paths: Paths,
    pub(super) form: Form,
}

/// Where its text comes from.
pub(super) enum Form {
    /// Its fields, in the order of their declaration: one as it is, several joined.
    Fields(Vec<Field>),
    /// Its variants' words.
    Words(Vec<(Ident, String)>),
}

pub(super) struct Field {
    pub(super) member: Member,
    pub(super) ty: TokenStream,
    /// What the type seems to be, for the compiler's message.
    pub(super) class: Option<Class>,
    /// Whether only an instance of the type tells whether this is a part.
    pub(super) generic: bool,
}
