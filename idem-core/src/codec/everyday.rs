//! A reader of everyday results: structs of texts, whole numbers and what is made of these, in JSON without spaces, as
//! `serde_json` writes them.
//!
//! It takes a third of the time that `serde_json` takes, which reads any JSON from any source, and it can do less: a value of another
//! kind is handed to `serde_json` where it stands. What it returns is what `serde_json` would have, and where it gives up nothing is
//! said of the reason: the caller asks `serde_json` for the whole.

use std::fmt;

use serde_core::de::value::BorrowedStrDeserializer;
use serde_core::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::de::StrRead;

use crate::word::{HIGH, below, equal};

#[cfg(test)]
mod tests;

/// How deep structs may lie within each other. Beyond, it is `serde_json` that counts, so that no text fills the stack.
const DEPTH: u8 = 16;

/// The reader gave up.
#[derive(Debug)]
pub(super) struct NotEveryday;

impl fmt::Display for NotEveryday {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an everyday result")
    }
}

impl std::error::Error for NotEveryday {}

impl de::Error for NotEveryday {
    #[cold]
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// Reads one value, and nothing behind it.
#[inline]
pub(super) fn read<'de, T: de::Deserialize<'de>>(text: &'de str) -> Result<T, NotEveryday> {
    let mut reader = Reader { text, at: 0, depth: DEPTH };
    let value = T::deserialize(&mut reader)?;
    if reader.at == text.len() { Ok(value) } else { Err(NotEveryday) }
}

struct Reader<'de> {
    text: &'de str,
    /// What has been read, in bytes.
    at: usize,
    depth: u8,
}

impl<'de> Reader<'de> {
    #[inline]
    fn next_is(&self, byte: u8) -> bool {
        self.text.as_bytes().get(self.at) == Some(&byte)
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Result<(), NotEveryday> {
        if !self.next_is(byte) {
            return Err(NotEveryday);
        }
        self.at += 1;
        Ok(())
    }

    /// Takes a text without escapes; none of it if it is no such text.
    #[inline]
    fn plain_text(&mut self) -> Option<&'de str> {
        if !self.next_is(b'"') {
            return None;
        }
        let start = self.at + 1;
        let end = start + plain_length(self.text.as_bytes().get(start..)?);
        if self.text.as_bytes().get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// Takes the digits of a whole number without a sign, if they are so few that it fits; else none of them. A fraction behind them is met by
    /// whoever takes what follows.
    #[inline]
    fn digits(&mut self) -> Option<u64> {
        let start = self.at;
        let mut number = 0;
        let mut at = start;
        while let Some(digit) = self.text.as_bytes().get(at).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
            && at - start < 19
        {
            number = number * 10 + u64::from(digit);
            at += 1;
        }
        let has_more = matches!(self.text.as_bytes().get(at), Some(b'0'..=b'9'));
        let is_written_so = at == start + 1 || (at > start && !self.next_is(b'0'));
        if has_more || !is_written_so {
            return None;
        }
        self.at = at;
        Some(number)
    }

    /// Takes a number for `visitor`, or has `read` take it.
    #[inline]
    fn number<V: Visitor<'de>>(
        &mut self,
        visitor: V,
        read: impl FnOnce(&mut serde_json::Deserializer<StrRead<'de>>, V) -> serde_json::Result<V::Value>,
    ) -> Result<V::Value, NotEveryday> {
        match self.digits() {
            Some(number) => visitor.visit_u64(number),
            None => self.hand_on(|reader| read(reader, visitor)),
        }
    }

    /// Has `serde_json` read the value that begins here.
    #[inline(never)]
    fn hand_on<T>(
        &mut self,
        read: impl FnOnce(&mut serde_json::Deserializer<StrRead<'de>>) -> serde_json::Result<T>,
    ) -> Result<T, NotEveryday> {
        let mut reader = serde_json::Deserializer::from_str(self.text.get(self.at..).ok_or(NotEveryday)?);
        let value = read(&mut reader).map_err(|_| NotEveryday)?;
        self.at += reader.into_iter::<IgnoredAny>().byte_offset();
        Ok(value)
    }
}

/// How many bytes stand for themselves, before a quote, a backslash or a control.
#[inline]
fn plain_length(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = (below(word, b' ') | equal(word, b'"') | equal(word, b'\\')) & HIGH;
        if found != 0 {
            return at * 8 + (found.trailing_zeros() / 8) as usize;
        }
    }
    let stands_for_itself = |byte: &u8| !matches!(byte, 0..b' ' | b'"' | b'\\');
    bytes.len() - rest.len() + rest.iter().take_while(|byte| stands_for_itself(byte)).count()
}

/// Methods that hand the value on.
macro_rules! hand_on {
    ($($method:ident($($argument:ident: $ty:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $ty,)* visitor: V) -> Result<V::Value, NotEveryday> {
            self.hand_on(|reader| reader.$method($($argument,)* visitor))
        }
    )*};
}

/// Methods that take a whole number.
macro_rules! numbers {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotEveryday> {
            self.number(visitor, |reader, visitor| reader.$method(visitor))
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = NotEveryday;

    numbers! { deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 }

    hand_on! {
        deserialize_any()
        deserialize_bool()
        deserialize_i128()
        deserialize_u128()
        deserialize_f32()
        deserialize_f64()
        deserialize_char()
        deserialize_bytes()
        deserialize_byte_buf()
        deserialize_unit()
        deserialize_unit_struct(name: &'static str)
        deserialize_seq()
        deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_map()
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
        deserialize_identifier()
        deserialize_ignored_any()
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotEveryday> {
        match self.plain_text() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => self.hand_on(|reader| reader.deserialize_str(visitor)),
        }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotEveryday> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NotEveryday> {
        if self.next_is(b'n') {
            return self.hand_on(|reader| reader.deserialize_option(visitor));
        }
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, NotEveryday> {
        // What `serde_json` has arranged with its own types.
        if name.starts_with('$') {
            return self.hand_on(|reader| reader.deserialize_newtype_struct(name, visitor));
        }
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NotEveryday> {
        if !self.next_is(b'{') || self.depth == 0 || name.starts_with('$') {
            return self.hand_on(|reader| reader.deserialize_struct(name, fields, visitor));
        }
        self.at += 1;
        self.depth -= 1;
        let value = visitor.visit_map(Fields { reader: self, begun: false })?;
        self.depth += 1;
        self.take(b'}')?;
        Ok(value)
    }
}

/// The fields of a struct.
struct Fields<'r, 'de> {
    reader: &'r mut Reader<'de>,
    begun: bool,
}

impl<'de> MapAccess<'de> for Fields<'_, 'de> {
    type Error = NotEveryday;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, NotEveryday> {
        if self.reader.next_is(b'}') {
            return Ok(None);
        }
        if std::mem::replace(&mut self.begun, true) {
            self.reader.take(b',')?;
        }
        let name = self.reader.plain_text().ok_or(NotEveryday)?;
        seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, NotEveryday> {
        self.reader.take(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}
