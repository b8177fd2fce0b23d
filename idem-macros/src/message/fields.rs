//! The fields, and what each is.

use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Field, Fields, Ident, Index, Member, Type};

use super::attributes::{self, Container};
use super::serde::{self, Serde};
use crate::diagnostics::{At, Diagnostics};

/// A struct, or one variant of an enum.
pub(super) struct Shape {
    pub(super) variant: Option<Ident>,
    /// The variant's name on the wire.
    pub(super) wire_name: Option<String>,
    pub(super) fields: Vec<MessageField>,
}

pub(super) struct MessageField {
    pub(super) member: Member,
    /// As Rust has it, for the key: `id`, `0`.
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) mark: Option<Mark>,
    /// Whether it has a mark at all, if only a misspelt one.
    pub(super) is_marked: bool,
    pub(super) serde: Serde,
    /// Where the type says `#[serde(default)]` for all of its fields.
    pub(super) container_default: Option<Span>,
}

/// What the author says that a field is.
pub(super) struct Mark {
    pub(super) role: Role,
    pub(super) at: At,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Id,
    Event,
    PerDelivery,
    PublishedAt,
    Skip,
    /// Said of a field whose name sounds as if it were something else.
    Payload,
}

impl Role {
    pub(super) const MARKS: [Self; 6] =
        [Self::Id, Self::Event, Self::PerDelivery, Self::PublishedAt, Self::Skip, Self::Payload];

    /// As it is written.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Event => "event",
            Self::PerDelivery => "per_delivery",
            Self::PublishedAt => "published_at",
            Self::Skip => "skip",
            Self::Payload => "payload",
        }
    }
}

impl Shape {
    pub(super) fn read(
        variant: Option<Ident>,
        attributes: &[Attribute],
        fields: &Fields,
        container: &Container,
        cx: &mut Diagnostics,
    ) -> Self {
        let wire_name = variant
            .as_ref()
            .map(|name| serde::of(attributes).rename.unwrap_or_else(|| name.unraw().to_string()));
        let fields =
            fields.iter().zip(0..).map(|(field, at)| MessageField::read(field, at, container, cx)).collect();
        Self { variant, wire_name, fields }
    }

    /// The fields with this mark.
    pub(super) fn marked(&self, role: Role) -> impl Iterator<Item = (&MessageField, &Mark)> {
        self.fields
            .iter()
            .filter_map(move |field| Some((field, field.mark.as_ref().filter(|mark| mark.role == role)?)))
    }
}

impl MessageField {
    fn read(field: &Field, at: u32, container: &Container, cx: &mut Diagnostics) -> Self {
        let member = match &field.ident {
            Some(name) => Member::Named(name.clone()),
            None => Member::Unnamed(Index { index: at, span: Span::call_site() }),
        };
        let name = match &member {
            Member::Named(name) => name.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        };
        let mark = attributes::field(&name, &field.attrs, cx);
        Self {
            member,
            name,
            ty: field.ty.clone(),
            mark,
            is_marked: field.attrs.iter().any(|attribute| attribute.path().is_ident("message")),
            serde: serde::of(&field.attrs),
            container_default: container.default,
        }
    }

    /// Whether it is what other fields are compared under.
    pub(super) fn is_identity(&self) -> bool {
        matches!(&self.mark, Some(Mark { role: Role::Id | Role::Event, .. }))
    }

    /// Whether it is compared between deliveries. What serde does not read was not sent.
    pub(super) fn is_payload(&self) -> bool {
        matches!(&self.mark, None | Some(Mark { role: Role::Payload, .. })) && self.serde.skip.is_none()
    }

    /// Whether its type is an `Option`, whose default is *missing*.
    pub(super) fn is_option(&self) -> bool {
        matches!(&self.ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
    }

    /// Its type, as it was written.
    pub(super) fn shown_type(&self) -> String {
        self.ty.to_token_stream().to_string().replace(' ', "")
    }
}
