//! The text of the moment at which something happened.

use idem_core::EventTime;

use super::*;

#[test]
fn it_is_rfc_3339_in_utc_with_all_digits_of_its_precision() {
    assert_eq!(text_of(&EventTime::from_unix_seconds(1_796_047_407)), "2026-11-30T14:03:27Z");
    assert_eq!(text_of(&EventTime::from_unix_millis(1_796_047_407_120)), "2026-11-30T14:03:27.120Z");
    assert_eq!(text_of(&EventTime::from_unix_micros(1_796_047_407_000_045)), "2026-11-30T14:03:27.000045Z");
    assert_eq!(text_of(&EventTime::from_unix_millis(0)), "1970-01-01T00:00:00.000Z");
}

#[test]
fn what_was_before_1970_is_cut_towards_the_past() {
    assert_eq!(text_of(&EventTime::from_unix_millis(-1)), "1969-12-31T23:59:59.999Z");
    assert_eq!(text_of(&EventTime::from_unix_seconds(-62_167_219_201)), "-000001-12-31T23:59:59Z");
}

#[test]
fn leap_days_and_the_ends_of_time_have_their_dates() {
    assert_eq!(text_of(&EventTime::from_unix_seconds(951_782_400)), "2000-02-29T00:00:00Z");
    assert_eq!(text_of(&EventTime::from_unix_seconds(4_107_542_399)), "2100-02-28T23:59:59Z");
    assert_eq!(text_of(&EventTime::from_unix_seconds(4_107_542_400)), "2100-03-01T00:00:00Z");
    assert_eq!(text_of(&EventTime::from_unix_seconds(253_402_300_800)), "+010000-01-01T00:00:00Z");
    assert_eq!(text_of(&EventTime::from_unix_micros(i64::MAX)), "+294247-01-10T04:00:54.775807Z");
    // Far beyond any calendar, still one text and no overflow.
    assert_ne!(
        text_of(&EventTime::from_unix_seconds(i64::MAX)),
        text_of(&EventTime::from_unix_seconds(i64::MIN))
    );
}

#[test]
fn its_colons_are_encoded_where_one_ends_the_part() {
    let mut key = KeyText::new();
    key.literal("reading:");
    key.part("m.taken_at()", &EventTime::from_unix_seconds(0), Some(b':'));
    key.literal(":");
    key.part("m.meter_id", &7, None);
    assert_eq!(key.finish().unwrap(), "reading:1970-01-01T00%3A00%3A00Z:7");
}
