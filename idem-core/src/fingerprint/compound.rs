//! Values made of values.

use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant,
};

use super::encoder::{Encoder, Failed, Tag};

/// A list of values or of fields whose end is still to come.
#[derive(Debug)]
pub struct Open<'e>(pub(super) &'e mut Encoder);

impl Open<'_> {
    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Failed> {
        self.0.tag(Tag::Field);
        self.0.text(name.as_bytes());
        value.serialize(&mut *self.0)
    }

    fn close(self) {
        self.0.tag(Tag::End);
    }
}

macro_rules! values {
    ($($kind:ident::$method:ident;)*) => {$(
        impl $kind for Open<'_> {
            type Ok = ();
            type Error = Failed;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
                value.serialize(&mut *self.0)
            }

            fn end(self) -> Result<(), Failed> {
                self.close();
                Ok(())
            }
        }
    )*};
}
values! {
    SerializeSeq::serialize_element;
    SerializeTuple::serialize_element;
    SerializeTupleStruct::serialize_field;
    SerializeTupleVariant::serialize_field;
}

macro_rules! fields {
    ($($kind:ident),*) => {$(
        impl $kind for Open<'_> {
            type Ok = ();
            type Error = Failed;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Failed> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), Failed> {
                self.close();
                Ok(())
            }
        }
    )*};
}
fields!(SerializeStruct, SerializeStructVariant);

/// A map whose end is still to come, and where its entries began.
#[derive(Debug)]
pub struct OpenMap<'e> {
    encoder: &'e mut Encoder,
    starts: Vec<usize>,
}

impl<'e> OpenMap<'e> {
    pub(super) fn new(encoder: &'e mut Encoder) -> Self {
        encoder.open_map();
        Self { encoder, starts: Vec::new() }
    }
}

impl SerializeMap for OpenMap<'_> {
    type Ok = ();
    type Error = Failed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failed> {
        self.starts.push(self.encoder.staged());
        key.serialize(&mut *self.encoder)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        value.serialize(&mut *self.encoder)
    }

    fn end(self) -> Result<(), Failed> {
        self.encoder.close_map(&self.starts);
        Ok(())
    }
}
