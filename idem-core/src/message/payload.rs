//! The payload of a message, field by field, on its way into a fingerprint.

use std::marker::PhantomData;

use serde::Serialize;

use crate::call::Call;
use crate::fingerprint::{Encoder, Failed, Tag};
use crate::message::Message;
use crate::{Error, Fingerprint};

/// Takes in the payload of the messages of one call, in the form of a struct each.
///
/// The name of the type does not count, so that it can be changed; those of fields and variants do.
#[derive(Debug)]
pub struct Payload {
    /// Not there until a message is: most arguments are none.
    encoder: Option<Encoder>,
    fields: usize,
    failed: Option<Failed>,
}

/// A field that is compared between deliveries: anything `Serialize`.
#[diagnostic::on_unimplemented(
    message = "a message's payload is compared between deliveries, but `{Self}` cannot be",
    label = "this field is part of the payload",
    note = "derive `serde::Serialize` for `{Self}`, or leave the field out of the comparison: `#[message(skip)]`"
)]
pub trait PayloadField {
    #[doc(hidden)]
    fn write(&self, encoder: &mut Encoder) -> Result<(), Failed>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> PayloadField for T {
    fn write(&self, encoder: &mut Encoder) -> Result<(), Failed> {
        self.serialize(encoder)
    }
}

impl Payload {
    /// Nothing yet.
    #[allow(clippy::new_without_default, reason = "for expansions alone")]
    pub const fn new() -> Self {
        Self { encoder: None, fields: 0, failed: None }
    }

    /// Begins a message that is a struct.
    pub fn open(&mut self) {
        let encoder = self.encoder();
        encoder.tag(Tag::Struct);
        encoder.text(b"");
    }

    /// Begins a message that is this variant of an enum.
    pub fn open_variant(&mut self, variant: &'static str) {
        let encoder = self.encoder();
        encoder.tag(Tag::StructVariant);
        encoder.text(b"");
        encoder.text(variant.as_bytes());
        // Which variant it is counts by itself.
        self.fields += 1;
    }

    /// Adds a field.
    pub fn field<T: PayloadField + ?Sized>(&mut self, name: &'static str, value: &T) {
        self.field_with(name, |encoder| value.write(encoder));
    }

    /// Adds a field in the form that `#[serde(with = "…")]` gives it.
    pub fn field_with(&mut self, name: &'static str, write: impl FnOnce(&mut Encoder) -> Result<(), Failed>) {
        let encoder = self.encoder();
        encoder.tag(Tag::Field);
        encoder.text(name.as_bytes());
        if let Err(failed) = write(encoder) {
            self.failed.get_or_insert(failed);
        }
        self.fields += 1;
    }

    /// Ends the message.
    pub fn close(&mut self) {
        self.encoder().tag(Tag::End);
    }

    fn encoder(&mut self) -> &mut Encoder {
        self.encoder.get_or_insert_with(Encoder::new)
    }

    /// The fingerprint of all, if there is something to compare.
    #[inline]
    pub fn finish(self) -> Option<Result<Fingerprint, Error>> {
        // Most calls have none, which the compiler sees.
        if self.fields == 0 { None } else { self.fingerprint() }
    }

    fn fingerprint(self) -> Option<Result<Fingerprint, Error>> {
        let encoder = self.encoder?;
        let bytes = match self.failed {
            Some(failed) => Err(failed),
            None => encoder.finish(),
        };
        Some(bytes.map(Fingerprint::from_bytes).map_err(|failed| Error::payload_not_readable(&failed)))
    }
}

/// What a call is told of its only argument that is perhaps a message: by the argument's type, which takes the compiler less than to find
/// out what [`Probe`] asks. A type's own functions come before those of traits.
#[derive(Debug)]
pub struct Told<T: ?Sized>(PhantomData<T>);

impl<M: Message + ?Sized> Told<M> {
    /// The message's payload.
    #[inline]
    pub fn payload(call: &mut Call<'_>, message: &M) {
        let mut payload = Payload::new();
        message.__payload(&mut payload);
        call.check_payload(payload);
    }
}

/// Types that are no messages.
pub trait NotTold {
    /// Nothing.
    #[inline]
    fn payload<T: ?Sized>(_: &mut Call<'_>, _: &T) {}
}

impl<T: ?Sized> NotTold for Told<T> {}

/// An argument that is perhaps a message. Called as a method on a reference to it, `idem_payload` is that of [`PayloadOf`] if it is
/// one, and else that of [`NoPayload`], for which the compiler has to take one more reference.
#[derive(Debug)]
pub struct Probe<'a, T: ?Sized>(pub &'a T);

/// For messages.
pub trait PayloadOf {
    /// Adds the payload.
    fn idem_payload(&self, to: &mut Payload);
}

impl<T: Message + ?Sized> PayloadOf for Probe<'_, T> {
    fn idem_payload(&self, to: &mut Payload) {
        self.0.__payload(to);
    }
}

/// For all else.
pub trait NoPayload {
    /// Adds nothing.
    fn idem_payload(&self, to: &mut Payload);
}

impl<T: ?Sized> NoPayload for &Probe<'_, T> {
    #[inline]
    fn idem_payload(&self, _: &mut Payload) {}
}
