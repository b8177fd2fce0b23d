//! The one text of each type of another crate.

#[allow(unused_imports, reason = "which of them are used depends on the features")]
use super::{ErrorKind, key_of, text_of};

#[cfg(feature = "bytes")]
#[test]
fn bytes_are_lower_case_hex_and_no_bytes_are_missing() {
    use bytes::Bytes;

    assert_eq!(text_of(&Bytes::from_static(&[0x00, 0x0a, 0xff])), "000aff");
    assert_eq!(key_of(&Bytes::new()).unwrap_err().kind(), ErrorKind::MissingKeyPart);
}

#[cfg(feature = "rust_decimal")]
#[test]
fn equal_decimals_have_one_text() {
    use rust_decimal::Decimal;

    let decimal = |text: &str| text.parse::<Decimal>().unwrap();
    for (written, text) in
        [("1.0", "1"), ("1.50", "1.5"), ("100", "100"), ("-0.10", "-0.1"), ("0.000", "0"), ("-0", "0")]
    {
        assert_eq!(text_of(&decimal(written)), text, "{written}");
    }
}

#[cfg(feature = "chrono")]
#[test]
fn a_date_of_chrono_is_iso_8601() {
    let date = |year, month, day| chrono::NaiveDate::from_ymd_opt(year, month, day).unwrap();
    assert_eq!(text_of(&date(2026, 11, 30)), "2026-11-30");
    assert_eq!(text_of(&date(476, 9, 4)), "0476-09-04");
    assert_eq!(text_of(&date(-44, 3, 15)), "-000044-03-15");
    assert_eq!(text_of(&date(12_026, 1, 2)), "+012026-01-02");
}

#[cfg(feature = "time")]
#[test]
fn a_date_of_time_is_iso_8601() {
    use time::{Date, Month};

    let date = |year, month, day| Date::from_calendar_date(year, month, day).unwrap();
    assert_eq!(text_of(&date(2026, Month::November, 30)), "2026-11-30");
    assert_eq!(text_of(&date(-44, Month::March, 15)), "-000044-03-15");
}

#[cfg(feature = "jiff")]
#[test]
fn a_date_of_jiff_is_iso_8601() {
    use jiff::civil::date;

    assert_eq!(text_of(&date(2026, 11, 30)), "2026-11-30");
    assert_eq!(text_of(&date(-44, 3, 15)), "-000044-03-15");
}

#[cfg(feature = "bytestring")]
#[test]
fn a_byte_string_is_its_text() {
    assert_eq!(text_of(&bytestring::ByteString::from_static("a b")), "a%20b");
}

#[cfg(feature = "compact_str")]
#[test]
fn a_compact_string_is_its_text() {
    assert_eq!(text_of(&compact_str::CompactString::const_new("a b")), "a%20b");
}

#[cfg(feature = "smol_str")]
#[test]
fn a_small_string_is_its_text() {
    assert_eq!(text_of(&smol_str::SmolStr::new_static("a b")), "a%20b");
}

#[cfg(feature = "http")]
#[test]
fn a_method_is_its_name() {
    assert_eq!(text_of(&http::Method::POST), "POST");
    assert_eq!(text_of(&http::Method::from_bytes(b"PURGE").unwrap()), "PURGE");
}

#[cfg(feature = "semver")]
#[test]
fn a_version_is_all_of_it() {
    assert_eq!(text_of(&semver::Version::parse("1.2.3-beta.1+build.7").unwrap()), "1.2.3-beta.1+build.7");
}

#[cfg(feature = "url")]
#[test]
fn a_url_is_as_its_crate_writes_it_and_its_percent_signs_are_encoded() {
    let url = url::Url::parse("HTTPS://Example.com:443/a%20b?x=1#top").unwrap();
    assert_eq!(text_of(&url), "https://example.com/a%2520b?x=1%23top");
}

#[cfg(feature = "amq-protocol-types")]
#[test]
fn a_short_string_is_its_text() {
    use amq_protocol_types::ShortString;

    assert_eq!(text_of(&ShortString::from("order 7")), "order%207");
    assert_eq!(key_of(&Some(ShortString::from(""))).unwrap_err().kind(), ErrorKind::MissingKeyPart);
    assert_eq!(key_of(&ShortString::from("null")).unwrap_err().kind(), ErrorKind::MissingKeyPart);
}

#[cfg(feature = "async-nats")]
#[test]
fn a_subject_is_its_text() {
    assert_eq!(text_of(&async_nats::Subject::from("orders.eu.7")), "orders.eu.7");
}
