//! The one text of each kind of id of another crate, and what each takes for missing.

#[allow(unused_imports, reason = "which of them are used depends on the features")]
use super::{ErrorKind, key_of, text_of};

#[cfg(feature = "uuid")]
#[test]
fn a_uuid_is_lower_case_with_hyphens_and_nil_and_max_are_missing() {
    use uuid::{NonNilUuid, Uuid};

    let id = Uuid::parse_str("8F14E45F-CEEA-467F-A0E6-91B22C38E1C4").unwrap();
    assert_eq!(text_of(&id), "8f14e45f-ceea-467f-a0e6-91b22c38e1c4");
    assert_eq!(text_of(&NonNilUuid::new(id).unwrap()), "8f14e45f-ceea-467f-a0e6-91b22c38e1c4");
    for unset in [Uuid::nil(), Uuid::max()] {
        assert_eq!(key_of(&unset).unwrap_err().kind(), ErrorKind::MissingKeyPart, "{unset}");
    }
}

#[cfg(feature = "ulid")]
#[test]
fn a_ulid_is_upper_case_and_nil_is_missing() {
    use ulid::Ulid;

    let id = Ulid::from_string("01arz3ndektsv4rrffq69g5fav").unwrap();
    assert_eq!(text_of(&id), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert_eq!(key_of(&Ulid::nil()).unwrap_err().kind(), ErrorKind::MissingKeyPart);
}

#[cfg(feature = "rusty_ulid")]
#[test]
fn a_ulid_of_rusty_ulid_is_the_same() {
    use rusty_ulid::Ulid;

    let id: Ulid = "01arz3ndektsv4rrffq69g5fav".parse().unwrap();
    assert_eq!(text_of(&id), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert_eq!(key_of(&Ulid::from(0_u128)).unwrap_err().kind(), ErrorKind::MissingKeyPart);
}

/// The example of the format's authors.
#[cfg(any(feature = "ksuid", feature = "svix-ksuid"))]
const KSUID: &str = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";

#[cfg(feature = "ksuid")]
#[test]
fn a_ksuid_is_27_digits_of_base_62_and_nil_is_missing() {
    use ksuid::Ksuid;

    assert_eq!(text_of(&Ksuid::from_base62(KSUID).unwrap()), KSUID);
    assert_eq!(text_of(&Ksuid::new(0, [1; 16])).len(), 27);
    assert_eq!(key_of(&Ksuid::new(0, [0; 16])).unwrap_err().kind(), ErrorKind::MissingKeyPart);
}

#[cfg(feature = "svix-ksuid")]
#[test]
fn a_ksuid_of_svix_is_the_same() {
    use svix_ksuid::{Ksuid, KsuidLike as _, KsuidMs};

    assert_eq!(text_of(&KSUID.parse::<Ksuid>().unwrap()), KSUID);
    assert_eq!(text_of(&KsuidMs::from_base62(KSUID).unwrap()), KSUID);
    assert_eq!(key_of(&Ksuid::from_bytes([0; 20])).unwrap_err().kind(), ErrorKind::MissingKeyPart);
    assert_eq!(key_of(&KsuidMs::from_bytes([0; 20])).unwrap_err().kind(), ErrorKind::MissingKeyPart);
}

#[cfg(feature = "xid")]
#[test]
fn an_xid_is_20_digits_of_base_32_and_nil_is_missing() {
    let id: xid::Id = "9m4e2mr0ui3e8a215n4g".parse().unwrap();
    assert_eq!(text_of(&id), "9m4e2mr0ui3e8a215n4g");
    assert_eq!(key_of(&xid::Id([0; 12])).unwrap_err().kind(), ErrorKind::MissingKeyPart);
}

#[cfg(feature = "scru128")]
#[test]
fn a_scru128_is_25_digits_in_lower_case_and_nil_is_missing() {
    use scru128::Id;

    let id: Id = "036Z8PUQ4TSXSIGK6O19Y164Q".parse().unwrap();
    assert_eq!(text_of(&id), "036z8puq4tsxsigk6o19y164q");
    assert_eq!(key_of(&Id::from_u128(0)).unwrap_err().kind(), ErrorKind::MissingKeyPart);
}

/// Two versions, one text.
#[cfg(any(feature = "bson", feature = "bson-2"))]
macro_rules! bson {
    ($bson:ident) => {{
        use $bson::Uuid;
        use $bson::oid::ObjectId;

        let id = ObjectId::parse_str("507F1F77BCF86CD799439011").unwrap();
        assert_eq!(text_of(&id), "507f1f77bcf86cd799439011");
        assert_eq!(key_of(&ObjectId::from_bytes([0; 12])).unwrap_err().kind(), ErrorKind::MissingKeyPart);
        let id = Uuid::parse_str("8F14E45F-CEEA-467F-A0E6-91B22C38E1C4").unwrap();
        assert_eq!(text_of(&id), "8f14e45f-ceea-467f-a0e6-91b22c38e1c4");
        for unset in [[0; 16], [0xff; 16]] {
            assert_eq!(key_of(&Uuid::from_bytes(unset)).unwrap_err().kind(), ErrorKind::MissingKeyPart);
        }
    }};
}

#[cfg(feature = "bson")]
#[test]
fn an_object_id_is_lower_case_hex_and_zeros_are_missing() {
    bson!(bson);
}

#[cfg(feature = "bson-2")]
#[test]
fn an_object_id_of_bson_2_is_the_same() {
    bson!(bson_2);
}

/// The example of the specification of type ids.
#[cfg(any(feature = "mti", feature = "type-safe-id"))]
const TYPE_ID: &str = "user_01h455vb4pex5vsknk084sn02q";

#[cfg(feature = "mti")]
#[test]
fn a_type_id_is_its_prefix_and_its_suffix_and_nil_and_max_are_missing() {
    use mti::prelude::MagicTypeId;

    let id = |text: &str| text.parse::<MagicTypeId>().unwrap();
    assert_eq!(text_of(&id(TYPE_ID)), TYPE_ID);
    assert_eq!(text_of(&id("01h455vb4pex5vsknk084sn02q")), "01h455vb4pex5vsknk084sn02q");
    for unset in ["user_00000000000000000000000000", "user_7zzzzzzzzzzzzzzzzzzzzzzzzz"] {
        assert_eq!(key_of(&id(unset)).unwrap_err().kind(), ErrorKind::MissingKeyPart, "{unset}");
    }
}

#[cfg(feature = "type-safe-id")]
#[test]
fn a_type_safe_id_is_its_type_and_its_suffix_and_nil_and_max_are_missing() {
    use type_safe_id::{StaticType, TypeSafeId};

    #[derive(Default)]
    struct User;
    impl StaticType for User {
        const TYPE: &'static str = "user";
    }

    let id = |text: &str| text.parse::<TypeSafeId<User>>().unwrap();
    assert_eq!(text_of(&id(TYPE_ID)), TYPE_ID);
    for unset in ["user_00000000000000000000000000", "user_7zzzzzzzzzzzzzzzzzzzzzzzzz"] {
        assert_eq!(key_of(&id(unset)).unwrap_err().kind(), ErrorKind::MissingKeyPart, "{unset}");
    }
}
