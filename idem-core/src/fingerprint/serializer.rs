//! How serde's kinds of values become those of the format.

use serde::{Serialize, Serializer};

use super::compound::{Open, OpenMap};
use super::encoder::{Encoder, Failed, Tag};

macro_rules! by_value {
    ($($method:ident($integer:ty) as $form:ident;)*) => {$(
        fn $method(self, value: $integer) -> Result<(), Failed> {
            self.$form(value.into());
            Ok(())
        }
    )*};
}

impl<'e> Serializer for &'e mut Encoder {
    type Ok = ();
    type Error = Failed;
    type SerializeSeq = Open<'e>;
    type SerializeTuple = Open<'e>;
    type SerializeTupleStruct = Open<'e>;
    type SerializeTupleVariant = Open<'e>;
    type SerializeMap = OpenMap<'e>;
    type SerializeStruct = Open<'e>;
    type SerializeStructVariant = Open<'e>;

    by_value! {
        serialize_u8(u8) as natural;
        serialize_u16(u16) as natural;
        serialize_u32(u32) as natural;
        serialize_u64(u64) as natural;
        serialize_u128(u128) as natural;
        serialize_i8(i8) as signed;
        serialize_i16(i16) as signed;
        serialize_i32(i32) as signed;
        serialize_i64(i64) as signed;
        serialize_i128(i128) as signed;
        serialize_f32(f32) as float;
        serialize_f64(f64) as float;
    }

    fn serialize_bool(self, value: bool) -> Result<(), Failed> {
        self.tag(if value { Tag::True } else { Tag::False });
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Failed> {
        self.tag(Tag::Char);
        self.text(value.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Failed> {
        self.tag(Tag::Str);
        self.text(value.as_bytes());
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Failed> {
        self.tag(Tag::Bytes);
        self.text(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Failed> {
        self.tag(Tag::None);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failed> {
        self.tag(Tag::Some);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Failed> {
        self.tag(Tag::Unit);
        Ok(())
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<(), Failed> {
        self.tag(Tag::UnitStruct);
        self.text(name.as_bytes());
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Failed> {
        self.tag(Tag::NewtypeStruct);
        self.text(name.as_bytes());
        value.serialize(self)
    }

    fn serialize_unit_variant(self, name: &'static str, _: u32, variant: &'static str) -> Result<(), Failed> {
        self.variant(Tag::UnitVariant, name, variant);
        Ok(())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Failed> {
        self.variant(Tag::NewtypeVariant, name, variant);
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'e>, Failed> {
        self.tag(Tag::Seq);
        Ok(Open(self))
    }

    fn serialize_tuple(self, _: usize) -> Result<Open<'e>, Failed> {
        self.tag(Tag::Tuple);
        Ok(Open(self))
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Open<'e>, Failed> {
        self.tag(Tag::TupleStruct);
        self.text(name.as_bytes());
        Ok(Open(self))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'e>, Failed> {
        self.variant(Tag::TupleVariant, name, variant);
        Ok(Open(self))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<OpenMap<'e>, Failed> {
        Ok(OpenMap::new(self))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Open<'e>, Failed> {
        self.tag(Tag::Struct);
        self.text(name.as_bytes());
        Ok(Open(self))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'e>, Failed> {
        self.variant(Tag::StructVariant, name, variant);
        Ok(Open(self))
    }

    fn is_human_readable(&self) -> bool {
        true
    }
}

impl Encoder {
    fn variant(&mut self, tag: Tag, name: &str, variant: &str) {
        self.tag(tag);
        self.text(name.as_bytes());
        self.text(variant.as_bytes());
    }
}
