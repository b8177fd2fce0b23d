//! The words of a body, read from its text.
//!
//! Under `cargo check` a macro runs without optimisations, and each token that it looks at costs it several messages to the compiler. The
//! text of a whole body is one message, and the compiler, which is optimised, writes it.

/// One word, literal or sign. Spaces and comments are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lexeme<'t> {
    /// An identifier or a keyword, without the `r#` of a raw one.
    Word(&'t str),
    /// A text, a character or a number, as it was written.
    Literal(&'t str),
    /// One byte of all else: brackets, operators, the `'` of a lifetime.
    Sign(u8),
}

/// Reads a text that the compiler wrote of tokens.
#[derive(Clone)]
pub(crate) struct Lexemes<'t> {
    text: &'t str,
    at: usize,
}

// Plain loops over bytes throughout: without optimisations, iterators and `char`s cost several times that.
impl<'t> Lexemes<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn byte(&self, at: usize) -> u8 {
        let bytes = self.text.as_bytes();
        if at < bytes.len() { bytes[at] } else { 0 }
    }

    /// The text up to `end`, where the next lexeme begins.
    fn take(&mut self, start: usize, end: usize) -> &'t str {
        self.at = end;
        self.text.get(start..end).unwrap_or_default()
    }

    /// Where the word ends that goes on at `at`.
    fn word_end(&self, mut at: usize) -> usize {
        let bytes = self.text.as_bytes();
        while at < bytes.len() && CLASSES[bytes[at] as usize] >= DIGIT {
            at += 1;
        }
        at
    }

    /// Where a text in quotes ends whose first quote is at `at`.
    fn quoted_end(&self, mut at: usize, quote: u8) -> usize {
        let bytes = self.text.as_bytes();
        at += 1;
        while at < bytes.len() && bytes[at] != quote {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        at + 1
    }

    /// Where a raw text ends whose `#`s, or first quote, are at `at`; `None` if there is none.
    fn raw_end(&self, at: usize) -> Option<usize> {
        let mut open = at;
        while self.byte(open) == b'#' {
            open += 1;
        }
        if self.byte(open) != b'"' {
            return None;
        }
        let close = format!("\"{}", &self.text[at..open]);
        let rest = self.text.get(open + 1..)?;
        Some(rest.find(&close).map_or(self.text.len(), |length| open + 1 + length + close.len()))
    }

    /// Where a comment ends that begins at `at`. They nest.
    fn comment_end(&self, mut at: usize) -> usize {
        let bytes = self.text.as_bytes();
        if self.byte(at + 1) == b'/' {
            while at < bytes.len() && bytes[at] != b'\n' {
                at += 1;
            }
            return at;
        }
        let mut depth = 0_usize;
        while at < bytes.len() {
            match (bytes[at], self.byte(at + 1)) {
                (b'/', b'*') => depth += 1,
                (b'*', b'/') => depth -= 1,
                _ => {
                    at += 1;
                    continue;
                }
            }
            at += 2;
            if depth == 0 {
                break;
            }
        }
        at
    }

    /// The end of the number that goes on at `at`: `1_000u64`, `2.5`; not `0..n`, nor `1.max(2)`.
    fn number_end(&self, at: usize) -> usize {
        let end = self.word_end(at);
        if self.byte(end) == b'.' && self.byte(end + 1).is_ascii_digit() {
            self.word_end(end + 1)
        } else {
            end
        }
    }

    /// The end of the character whose quote is at `at`; `None` for a lifetime.
    fn character_end(&self, at: usize) -> Option<usize> {
        if self.byte(at + 1) == b'\\' {
            return Some(self.quoted_end(at, b'\''));
        }
        let length = self.text.get(at + 1..)?.chars().next()?.len_utf8();
        (self.byte(at + 1 + length) == b'\'').then_some(at + length + 2)
    }

    fn word(&mut self, start: usize) -> Lexeme<'t> {
        let end = self.word_end(start + 1);
        let next = self.byte(end);
        if next == b'"' || next == b'\'' || next == b'#' {
            let word = &self.text[start..end];
            let raw = matches!(word, "r" | "br" | "cr");
            if raw && let Some(end) = self.raw_end(end) {
                return Lexeme::Literal(self.take(start, end));
            }
            if (word == "b" && next != b'#') || (word == "c" && next == b'"') {
                let end = self.quoted_end(end, next);
                return Lexeme::Literal(self.take(start, end));
            }
            if word == "r" && next == b'#' {
                let word_end = self.word_end(end + 1);
                return Lexeme::Word(self.take(end + 1, word_end));
            }
        }
        Lexeme::Word(self.take(start, end))
    }
}

impl<'t> Iterator for Lexemes<'t> {
    type Item = Lexeme<'t>;

    fn next(&mut self) -> Option<Lexeme<'t>> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            if at >= bytes.len() {
                return None;
            }
            let is_comment = bytes[at] == b'/' && matches!(self.byte(at + 1), b'/' | b'*');
            if is_comment {
                at = self.comment_end(at);
            } else if CLASSES[bytes[at] as usize] == SPACE {
                at += 1;
            } else {
                break;
            }
        }
        Some(match CLASSES[bytes[at] as usize] {
            LETTER => self.word(at),
            DIGIT => {
                let end = self.number_end(at);
                Lexeme::Literal(self.take(at, end))
            }
            _ => {
                let end = match bytes[at] {
                    b'"' => Some(self.quoted_end(at, b'"')),
                    b'\'' => self.character_end(at),
                    _ => None,
                };
                if let Some(end) = end {
                    Lexeme::Literal(self.take(at, end))
                } else {
                    self.at = at + 1;
                    Lexeme::Sign(bytes[at])
                }
            }
        })
    }
}

const SIGN: u8 = 0;
const SPACE: u8 = 1;
const DIGIT: u8 = 2;
const LETTER: u8 = 3;

/// What each byte is. Beyond ASCII, outside of texts, there are only letters.
static CLASSES: [u8; 256] = {
    let mut classes = [SIGN; 256];
    let mut at = 0;
    while at < 256 {
        #[allow(clippy::cast_possible_truncation, reason = "less than 256")]
        let byte = at as u8;
        classes[at] = match byte {
            b' ' | b'\n' | b'\r' | b'\t' => SPACE,
            b'0'..=b'9' => DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => LETTER,
            _ => SIGN,
        };
        at += 1;
    }
    classes
};

#[cfg(test)]
mod tests {
    use super::{Lexeme, Lexemes};

    fn words(text: &str) -> Vec<&str> {
        let word = |lexeme| match lexeme {
            Lexeme::Word(word) => Some(word),
            _ => None,
        };
        Lexemes::of(text).filter_map(word).collect()
    }

    fn literals(text: &str) -> Vec<&str> {
        let literal = |lexeme| match lexeme {
            Lexeme::Literal(literal) => Some(literal),
            _ => None,
        };
        Lexemes::of(text).filter_map(literal).collect()
    }

    #[test]
    fn words_are_those_of_the_tokens() {
        for (text, expected) in [
            ("let größe = r#type.field;", vec!["let", "größe", "type", "field"]),
            ("for<'a> fn(&'a str) -> &'static T", vec!["for", "a", "fn", "a", "str", "static", "T"]),
            ("'outer: loop { break 'outer 'x' }", vec!["outer", "loop", "break", "outer"]),
            ("a // b \"\n c /* d /* e */ f \" */ g", vec!["a", "c", "g"]),
            ("x.0.1 + y.0.name + 1.max(z) + 0..n", vec!["x", "y", "name", "max", "z", "n"]),
            ("m!(r \"a\") + b'\\'' + b + c\"d\"", vec!["m", "r", "b"]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn a_literal_ends_where_its_own_quote_is() {
        for (text, expected) in [
            (r#"f("a \" b", 'c', '"', '\'', "d")"#, vec![r#""a \" b""#, "'c'", "'\"'", r"'\''", "\"d\""]),
            (
                "(r#\"a \"b\" c\"#, br\"d\\\", b\"e\", b'\"', \"f\")",
                vec!["r#\"a \"b\" c\"#", "br\"d\\\"", "b\"e\"", "b'\"'", "\"f\""],
            ),
            ("1_000u64 + 2.5 + 0xff", vec!["1_000u64", "2.5", "0xff"]),
            ("'ü' 'a", vec!["'ü'"]),
        ] {
            assert_eq!(literals(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_closed_ends_with_the_text() {
        for text in ["\"a", "'", "'\\", "r#\"a\"", "/* a", "b'", "r#", "\"a\\", "1."] {
            assert!(Lexemes::of(text).count() <= 2, "{text}");
        }
    }
}
