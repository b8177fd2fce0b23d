//! Durations as people write them: `30s`, `7d`, `1h30m`, `500ms`, `2 weeks`. The units are those of the crate `humantime`.

use std::time::Duration;

/// What is wrong with a duration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DurationError {
    Empty,
    /// A number without a unit: `30`.
    NoUnit(String),
    UnknownUnit(String),
    /// Not a digit where a number has to be.
    NoNumber,
    Zero,
    TooLong,
}

/// Reads a duration.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(DurationError::Empty);
    }
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        if number.is_empty() {
            return Err(DurationError::NoNumber);
        }
        let number: u64 = number.parse().map_err(|_| DurationError::TooLong)?;
        let after = after.trim_start();
        let letters = after.find(|char: char| !char.is_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let nanos = match unit {
            "" => return Err(DurationError::NoUnit(number.to_string())),
            "ns" | "nsec" | "nanos" => 1,
            "us" | "usec" | "µs" => 1_000,
            "ms" | "msec" | "millis" => MILLI,
            "s" | "sec" | "secs" | "second" | "seconds" => 1_000 * MILLI,
            "m" | "min" | "mins" | "minute" | "minutes" => MINUTE,
            "h" | "hr" | "hrs" | "hour" | "hours" => 60 * MINUTE,
            "d" | "day" | "days" => DAY,
            "w" | "wk" | "wks" | "week" | "weeks" => 7 * DAY,
            // As humantime has them: 30.44 and 365.25 days.
            "M" | "month" | "months" => 2_630_016 * 1_000 * MILLI,
            "y" | "yr" | "yrs" | "year" | "years" => 31_557_600 * 1_000 * MILLI,
            unknown => return Err(DurationError::UnknownUnit(unknown.to_owned())),
        };
        let nanos = u128::from(number) * nanos;
        let part = Duration::new(
            u64::try_from(nanos / 1_000_000_000).map_err(|_| DurationError::TooLong)?,
            u32::try_from(nanos % 1_000_000_000).unwrap_or(0),
        );
        total = total.checked_add(part).ok_or(DurationError::TooLong)?;
        rest = after.trim_start();
    }
    if total.is_zero() { Err(DurationError::Zero) } else { Ok(total) }
}

const MILLI: u128 = 1_000_000;
const MINUTE: u128 = 60_000 * MILLI;
const DAY: u128 = 24 * 60 * MINUTE;

/// Writes a duration, as short as [`parse`] reads it.
pub(crate) fn show(duration: Duration) -> String {
    let mut nanos = duration.as_nanos();
    let units = [
        ("d", DAY),
        ("h", 60 * MINUTE),
        ("m", MINUTE),
        ("s", 1_000 * MILLI),
        ("ms", MILLI),
        ("us", 1_000),
        ("ns", 1),
    ];
    let mut text = String::new();
    for (unit, size) in units {
        if nanos >= size {
            text.push_str(&(nanos / size).to_string());
            text.push_str(unit);
            nanos %= size;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{DurationError, parse, show};
    use std::time::Duration;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("30s", 30),
            ("7d", 604_800),
            ("1h30m", 5_400),
            ("1h 30m", 5_400),
            ("2 weeks", 1_209_600),
            ("15min", 900),
            (" 1 day 1 sec ", 86_401),
            ("1y", 31_557_600),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("0s 1ns"), Ok(Duration::from_nanos(1)));
    }

    #[test]
    fn what_is_no_duration_says_what_is_wrong() {
        assert_eq!(parse(""), Err(DurationError::Empty));
        assert_eq!(parse("30"), Err(DurationError::NoUnit("30".to_owned())));
        assert_eq!(parse("3 fortnights"), Err(DurationError::UnknownUnit("fortnights".to_owned())));
        assert_eq!(parse("-3s"), Err(DurationError::NoNumber));
        assert_eq!(parse("1.5s"), Err(DurationError::NoUnit("1".to_owned())));
        assert_eq!(parse("0s"), Err(DurationError::Zero));
        assert_eq!(parse("99999999999999999999s"), Err(DurationError::TooLong));
        assert_eq!(parse("18446744073709551615y"), Err(DurationError::TooLong));
        assert_eq!(parse("18446744073709551615s 1s"), Err(DurationError::TooLong));
    }

    #[test]
    fn a_shown_duration_reads_back() {
        for text in ["30s", "7d", "1h30m", "500ms", "1d1ns"] {
            assert_eq!(parse(text).map(show), Ok(text.to_owned()));
        }
    }
}
