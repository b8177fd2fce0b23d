//! Whether a body has to be parsed at all: most bodies that send a key hold nothing that could be wrong with it.
//!
//! Only what can never lead to a finding is left out. A word counts wherever it stands, in whatever case, with or without `_`.

use std::sync::LazyLock;

use super::{calls, flow, order, random, sinks};
use crate::known::carriers::carries;
use crate::known::{self, conversions, minted, names};
use crate::lexemes::{Lexeme, Lexemes};

/// The last lexemes, the newest first.
type Before<'t> = [Lexeme<'t>; 5];

/// Whether parsing a body with this text could find anything. `fresh` says that one of its arguments is another one at each attempt, or
/// has no order.
pub(super) fn is_to_be_parsed(text: &str, fresh: bool) -> bool {
    let mut seen = Seen { fresh, ..Seen::default() };
    let mut lexemes = Lexemes::of(text);
    let mut before: Before<'_> = [Lexeme::Sign(0); 5];
    while let Some(lexeme) = lexemes.next() {
        match lexeme {
            Lexeme::Word(word) => seen.word(word),
            Lexeme::Literal(literal) => seen.literal(literal, &before, lexemes.clone()),
            Lexeme::Sign(sign) => seen.sign(sign, &before),
        }
        if seen.is_enough() {
            return true;
        }
        before = [lexeme, before[0], before[1], before[2], before[3]];
    }
    false
}

/// What a body mentions.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is seen or not")]
struct Seen {
    /// A place that a key goes to.
    carrier: bool,
    /// Something that may be another one on every attempt, or in every process.
    fresh: bool,
    /// A text that may come to such a place as it is written.
    text: bool,
    /// A text that a function is given, which may be known by another name.
    text_in_call: bool,
    renames: bool,
    /// What is a mistake by itself.
    mints: bool,
}

impl Seen {
    fn is_enough(&self) -> bool {
        self.mints || self.carrier && (self.fresh || self.text || self.text_in_call && self.renames)
    }

    fn word(&mut self, word: &str) {
        match SUSPECTS.of(word) {
            None => {}
            Some(Suspect::Carrier) => self.carrier = true,
            Some(Suspect::Fresh) => self.fresh = true,
            Some(Suspect::Mints) => self.mints = true,
            Some(Suspect::Renames) => self.renames = true,
        }
        self.carrier = self.carrier || carries(word).is_some();
    }

    fn sign(&mut self, sign: u8, before: &Before<'_>) {
        match (sign, before) {
            // `key!(…)`.
            (b'!', [Lexeme::Word("key"), ..]) => self.carrier = true,
            // `as *const T`.
            (b'*', [Lexeme::Word("as"), ..])
            // `api.message().create(…)`.
            | (b')', [Lexeme::Sign(b'('), Lexeme::Word("message"), Lexeme::Sign(b'.'), ..]) => self.fresh = true,
            // `COUNTER += 1` and `COUNTER <<= 1` of a `static mut`; `<=` and its like are taken for that.
            (b'=', [Lexeme::Sign(_), Lexeme::Word(name), ..] | [Lexeme::Sign(_), Lexeme::Sign(_), Lexeme::Word(name), ..]) => {
                self.fresh = self.fresh || name.as_bytes()[0].is_ascii_uppercase();
            }
            _ => {}
        }
    }

    fn literal(&mut self, literal: &str, before: &Before<'_>, after: Lexemes<'_>) {
        if !literal.starts_with(['"', 'r', 'b', 'c']) {
            return;
        }
        let is_name = carries(literal).is_some();
        self.carrier |= is_name;
        // `{:p}`.
        self.fresh |= literal.contains("p}");
        if self.text || !literal.starts_with(['"', 'r']) {
            return;
        }
        // A text that names a place, and none at all, are nobody's key.
        if literal.starts_with('"') && !literal.contains('\\') && (is_name || literal.len() == 2) {
            return;
        }
        match Stands::at(before, after) {
            Stands::Harmless => {}
            Stands::InCall => self.text_in_call = true,
            Stands::Anywhere => self.text = true,
        }
    }
}

/// Where a text stands.
enum Stands {
    /// Where nothing takes it any further.
    Harmless,
    /// In a call of a function that does not give it back, if it is the function of that name.
    InCall,
    Anywhere,
}

impl Stands {
    fn at(before: &Before<'_>, mut after: Lexemes<'_>) -> Self {
        let next = after.next();
        let ends = matches!(next, Some(Lexeme::Sign(b')' | b',')));
        match before {
            // `format!("…", …)`: the text that is made is another one.
            [Lexeme::Sign(b'(' | b'[' | b'{'), Lexeme::Sign(b'!'), Lexeme::Word(name), ..]
                if conversions::formats(name) || conversions::logs(name) || conversions::diverges(name) =>
            {
                Self::Harmless
            }
            // `0..f("…")` is no method.
            [Lexeme::Sign(b'('), Lexeme::Word(_), Lexeme::Sign(b'.'), Lexeme::Sign(b'.'), _] => {
                Self::Anywhere
            }
            // `.expect("…")`, `.post("…")`, `.header("…", value)`.
            [Lexeme::Sign(b'('), Lexeme::Word(name), Lexeme::Sign(b'.'), ..] if ends => {
                let keeps = conversions::maps(name) || conversions::falls_back(name);
                if keeps || *name == "id" || carries(name).is_some() {
                    Self::Anywhere
                } else {
                    Self::Harmless
                }
            }
            // `sqlx::query("…")`.
            [Lexeme::Sign(b'('), Lexeme::Word(name), around @ ..] if ends => {
                let is_kept_by = |name: &str| name == "Idempotent" || carries(name).is_some();
                let keeps = name.as_bytes()[0].is_ascii_uppercase()
                    || calls::may_give_back(name)
                    || is_kept_by(name)
                    || match around {
                        [Lexeme::Sign(b':'), Lexeme::Sign(b':'), Lexeme::Word(of)] => is_kept_by(of),
                        [Lexeme::Sign(b':'), ..] => true,
                        _ => false,
                    };
                if keeps { Self::Anywhere } else { Self::InCall }
            }
            // `status == "…"`.
            [
                Lexeme::Sign(b'='),
                Lexeme::Sign(b'=' | b'!'),
                Lexeme::Word(_) | Lexeme::Sign(b')' | b']' | b'?'),
                ..,
            ] if matches!(next, Some(Lexeme::Sign(b')' | b'}' | b',' | b';' | b'&' | b'|' | b'{'))) => {
                Self::Harmless
            }
            // A pattern.
            _ if next == Some(Lexeme::Sign(b'=')) && after.next() == Some(Lexeme::Sign(b'>')) => {
                Self::Harmless
            }
            _ => Self::Anywhere,
        }
    }
}

/// What a word may mean.
#[derive(Clone, Copy)]
enum Suspect {
    Carrier,
    Fresh,
    Mints,
    Renames,
}

/// Names of all tables that a body is judged by, by a hash of their letters and digits. Two with one hash cost a parse.
struct Suspects(Vec<Vec<(u32, Suspect)>>);

const BUCKETS: u32 = 1024;

static SUSPECTS: LazyLock<Suspects> = LazyLock::new(|| {
    let mut suspects = Suspects(vec![Vec::new(); BUCKETS as usize]);
    suspects.add(Suspect::Mints, minted::words());
    suspects.add(Suspect::Carrier, sinks::BUILDERS_OF_EVENTS);
    suspects.add(Suspect::Carrier, ["new_with_id", "Idempotent", "start_workflow"]);
    suspects.add(Suspect::Renames, ["use", "type"]);
    suspects.add(Suspect::Fresh, known::words_in_bodies());
    suspects.add(Suspect::Fresh, names::in_bodies());
    suspects.add(Suspect::Fresh, flow::OF_A_TRY);
    suspects.add(Suspect::Fresh, order::UNORDERED);
    suspects.add(Suspect::Fresh, random::DRAWING);
    // Variables of the environment, counters, addresses.
    suspects.add(Suspect::Fresh, ["env", "option_env", "swap", "raw", "as_ptr", "as_mut_ptr"]);
    suspects
});

impl Suspects {
    fn add(&mut self, suspect: Suspect, words: impl IntoIterator<Item = &'static str>) {
        for word in words {
            let hash = hash(word);
            self.0[(hash % BUCKETS) as usize].push((hash, suspect));
        }
    }

    fn of(&self, word: &str) -> Option<Suspect> {
        let hash = hash(word);
        let bucket = &self.0[(hash % BUCKETS) as usize];
        let mut at = 0;
        while at < bucket.len() {
            if bucket[at].0 == hash {
                return Some(bucket[at].1);
            }
            at += 1;
        }
        None
    }
}

/// Of the letters and digits alone, in lower case: `deliveryTag` and `delivery_tag` are one word.
fn hash(word: &str) -> u32 {
    let bytes = word.as_bytes();
    let mut hash = 0_u32;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        at += 1;
        if byte != b'_' {
            // The bit that tells upper from lower case; it is set in each digit.
            hash = hash.wrapping_mul(31).wrapping_add(u32::from(byte | 0x20));
        }
    }
    // The last bits tell which bucket it is.
    hash ^ (hash >> 11)
}
