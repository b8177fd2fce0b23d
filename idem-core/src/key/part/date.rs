//! Dates of business: the day that a statement is of, the day that a run is for.
//!
//! Not moments: those have several texts, are rarely unique, and may be *now*.

use super::KeyPart;
use crate::key::KeyWriter;

/// ISO 8601, as in `2026-11-30`, and the same whichever crate has read the date. Years of more than four digits, and those before
/// the year 0, are written with a sign and at least six digits, as the standard asks for.
fn date(out: &mut KeyWriter<'_>, year: i32, month: u32, day: u32) {
    if (0..=9999).contains(&year) {
        out.display(format_args!("{year:04}-{month:02}-{day:02}"));
    } else {
        out.display(format_args!("{year:+07}-{month:02}-{day:02}"));
    }
}

/// A date of business that came in the message, as in `2026-11-30`.
#[cfg(feature = "chrono")]
#[diagnostic::do_not_recommend]
impl KeyPart for chrono::NaiveDate {
    fn write(&self, out: &mut KeyWriter<'_>) {
        use chrono::Datelike as _;
        date(out, self.year(), self.month(), self.day());
    }
}

/// A date of business that came in the message, as in `2026-11-30`.
#[cfg(feature = "time")]
#[diagnostic::do_not_recommend]
impl KeyPart for time::Date {
    fn write(&self, out: &mut KeyWriter<'_>) {
        date(out, self.year(), u8::from(self.month()).into(), self.day().into());
    }
}

/// A date of business that came in the message, as in `2026-11-30`.
#[cfg(feature = "jiff")]
#[diagnostic::do_not_recommend]
impl KeyPart for jiff::civil::Date {
    fn write(&self, out: &mut KeyWriter<'_>) {
        date(out, self.year().into(), self.month().unsigned_abs().into(), self.day().unsigned_abs().into());
    }
}
