//! Ids of other crates, each behind a feature that has the crate's name.
//!
//! All of them have a nil, which is what most of them `Default` to: it stands where an id was never set, and is missing.

#[allow(unused_imports, reason = "without any of the features, nothing here is")]
use super::{KeyPart, KeyWriter};

/// Ids that display their canonical text.
macro_rules! ids {
    ($($(#[$doc:meta])* $feature:literal $ty:ty, $id:ident => $is_nil:expr;)*) => {$(
        $(#[$doc])*
        #[cfg(feature = $feature)]
        #[diagnostic::do_not_recommend]
        impl KeyPart for $ty {
            fn write(&self, out: &mut KeyWriter<'_>) {
                let $id = self;
                if $is_nil {
                    out.missing();
                } else {
                    out.display($id);
                }
            }
        }
    )*};
}
ids! {
    /// Crockford's base 32, in upper case. The nil ULID is missing.
    "ulid" ulid::Ulid, id => id.is_nil();
    /// Crockford's base 32, in upper case. The nil ULID is missing.
    "rusty_ulid" rusty_ulid::Ulid, id => u128::from(*id) == 0;
    /// 20 digits of base 32, in lower case. The nil id is missing.
    "xid" xid::Id, id => id.0 == [0; 12];
    /// 25 digits of base 36, in lower case. The nil id is missing.
    "scru128" scru128::Id, id => id.to_u128() == 0;
    /// 24 hex digits, in lower case. The one of zeros is missing.
    "bson" bson::oid::ObjectId, id => id.bytes() == [0; 12];
    /// 24 hex digits, in lower case. The one of zeros is missing.
    "bson-2" bson_2::oid::ObjectId, id => id.bytes() == [0; 12];
    /// Lower-case hex with hyphens. Nil and max are missing.
    "bson" bson::Uuid, id => matches!(u128::from_be_bytes(id.bytes()), 0 | u128::MAX);
    /// Lower-case hex with hyphens. Nil and max are missing.
    "bson-2" bson_2::Uuid, id => matches!(u128::from_be_bytes(id.bytes()), 0 | u128::MAX);
    /// As the specification of type ids has it: `user_01h455vb4pex5vsknk084sn02q`. Those of the nil and the max UUID are missing.
    "mti" mti::prelude::MagicTypeId, id => matches!(id.suffix().to_uuid().as_u128(), 0 | u128::MAX);
}

/// Not all versions of them display it.
macro_rules! ksuids {
    ($($feature:literal $ty:ty, $id:ident => $bytes:expr, $text:expr;)*) => {$(
        /// 27 digits of base 62. The nil KSUID is missing.
        #[cfg(feature = $feature)]
        #[diagnostic::do_not_recommend]
        impl KeyPart for $ty {
            fn write(&self, out: &mut KeyWriter<'_>) {
                let $id = self;
                if $bytes.iter().all(|byte| *byte == 0) {
                    out.missing();
                } else {
                    out.text(&$text);
                }
            }
        }
    )*};
}
ksuids! {
    "ksuid" ksuid::Ksuid, id => id.as_bytes(), id.to_base62();
    "svix-ksuid" svix_ksuid::Ksuid, id => svix_ksuid::KsuidLike::bytes(id), svix_ksuid::KsuidLike::to_base62(id);
    "svix-ksuid" svix_ksuid::KsuidMs, id => svix_ksuid::KsuidLike::bytes(id), svix_ksuid::KsuidLike::to_base62(id);
}

/// As the specification of type ids has it: `user_01h455vb4pex5vsknk084sn02q`. Those of the nil and the max UUID are missing.
#[cfg(feature = "type-safe-id")]
#[diagnostic::do_not_recommend]
impl<T: type_safe_id::Type> KeyPart for type_safe_id::TypeSafeId<T> {
    fn write(&self, out: &mut KeyWriter<'_>) {
        if matches!(self.uuid().as_u128(), 0 | u128::MAX) {
            out.missing();
        } else {
            out.display(self);
        }
    }
}

/// Lower-case hex with hyphens. The nil and the max UUID are missing.
#[cfg(feature = "uuid")]
#[diagnostic::do_not_recommend]
impl KeyPart for uuid::Uuid {
    fn write(&self, out: &mut KeyWriter<'_>) {
        if self.is_nil() || self.is_max() {
            out.missing();
        } else {
            out.text(self.hyphenated().encode_lower(&mut uuid::Uuid::encode_buffer()));
        }
    }
}

/// As [`uuid::Uuid`].
#[cfg(feature = "uuid")]
#[diagnostic::do_not_recommend]
impl KeyPart for uuid::NonNilUuid {
    fn write(&self, out: &mut KeyWriter<'_>) {
        self.get().write(out);
    }
}
