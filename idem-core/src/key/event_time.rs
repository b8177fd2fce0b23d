//! The one kind of moment that can be a part of a key.

use std::fmt;

use super::{KeyPart, KeyWriter};

/// When the thing itself happened, as the message says: set once by whoever saw it happen, stored with it, and sent along.
///
/// Use it **only beside the id of an entity**, as in `reading:<m.meter_id>:<m.taken_at()>`: two events share a millisecond sooner
/// than one thinks, and a key of the time alone makes them one. Not for the times of a broker (sent, enqueued, received), which
/// are others when the message is published again, and never for the clock of the handler.
///
/// The precision is stated, since a time changes its digits on its way through databases and JSON: what is finer is cut off
/// towards the past. The text is RFC 3339 in UTC with all digits of that precision, `2026-11-30T14:03:27.120Z`, so one moment has one
/// text, and two precisions never share one.
///
/// Made in a `const fn`, it is proved like any other getter:
///
/// ```
/// # extern crate idem_core as idem;
/// use idem::EventTime;
///
/// struct Reading {
///     meter_id: u64,
///     taken_at_ms: i64,
/// }
///
/// impl Reading {
///     const fn taken_at(&self) -> EventTime {
///         EventTime::from_unix_millis(self.taken_at_ms)
///     }
/// }
///
/// let reading = Reading { meter_id: 7, taken_at_ms: 1_796_047_407_120 };
/// assert_eq!(reading.taken_at().to_string(), "2026-11-30T14:03:27.120Z");
/// ```
///
/// `chrono` has `timestamp_millis()` for it, `time` has `unix_timestamp()`, `jiff` has `as_millisecond()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventTime {
    /// Since 1970-01-01T00:00:00Z, in the unit of the precision.
    ticks: i64,
    precision: Precision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Precision {
    Second,
    Millisecond,
    Microsecond,
}

impl EventTime {
    /// A moment to the second: seconds since 1970-01-01T00:00:00Z, without leap seconds.
    pub const fn from_unix_seconds(seconds: i64) -> Self {
        Self { ticks: seconds, precision: Precision::Second }
    }

    /// A moment to the millisecond: milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
    pub const fn from_unix_millis(millis: i64) -> Self {
        Self { ticks: millis, precision: Precision::Millisecond }
    }

    /// A moment to the microsecond: microseconds since 1970-01-01T00:00:00Z, without leap seconds.
    ///
    /// Some databases and all of JavaScript keep less: then this is another moment after a republish.
    pub const fn from_unix_micros(micros: i64) -> Self {
        Self { ticks: micros, precision: Precision::Microsecond }
    }
}

impl fmt::Display for EventTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (per_second, digits) = match self.precision {
            Precision::Second => (1, 0),
            Precision::Millisecond => (1_000, 3),
            Precision::Microsecond => (1_000_000, 6),
        };
        let seconds = self.ticks.div_euclid(per_second);
        let (year, month, day) = civil(seconds.div_euclid(86_400));
        // A year of more than four digits is written with its sign, as ISO 8601 asks for.
        if (0..=9999).contains(&year) {
            write!(f, "{year:04}")?;
        } else {
            write!(f, "{year:+07}")?;
        }
        let of_day = seconds.rem_euclid(86_400);
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        write!(f, "-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if digits > 0 {
            write!(f, ".{:0digits$}", self.ticks.rem_euclid(per_second))?;
        }
        f.write_str("Z")
    }
}

/// As it is displayed.
impl KeyPart for EventTime {
    fn write(&self, out: &mut KeyWriter<'_>) {
        out.display(self);
    }
}

/// Year, month and day of the Gregorian calendar, from days since 1970-01-01.
const fn civil(days: i64) -> (i64, i64, i64) {
    // Days since 0000-03-01, in eras of 400 years: a year that begins in March has its leap day at its end.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let since_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * since_march + 2) / 5 + 1;
    let month = if since_march < 10 { since_march + 3 } else { since_march - 9 };
    let year = era * 400 + year_of_era + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}
