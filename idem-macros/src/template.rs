//! The grammar of a key: literal text, and places between `<` and `>`; `<<` and `>>` stand for `<` and `>`.

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Literal text, with its escapes undone.
    Literal(String),
    /// What stands between `<` and `>`.
    Place(String),
}

/// What is wrong with a template.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TemplateError {
    /// `<` without `>`: from there on.
    Unclosed(String),
    /// A single `>` outside of a place.
    Unopened,
}

/// Splits a template into its pieces. Adjacent literals are one, and there are no empty ones.
pub(crate) fn split(template: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['<', '>']) {
        literal.push_str(&rest[..at]);
        let bracket = &rest[at..=at];
        let after = &rest[at + 1..];
        if let Some(after) = after.strip_prefix(bracket) {
            literal.push_str(bracket);
            rest = after;
        } else if bracket == ">" {
            return Err(TemplateError::Unopened);
        } else {
            let Some(end) = place_end(after) else {
                return Err(TemplateError::Unclosed(rest[at..].to_owned()));
            };
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(Piece::Place(after[..end].to_owned()));
            rest = &after[end + 1..];
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

/// Where the `>` is that ends a place. Brackets inside, as of `random::<u64>()`, come in pairs; text in quotes has none.
fn place_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quoted = false;
    for (at, char) in text.char_indices() {
        match char {
            '"' => quoted = !quoted,
            '<' if !quoted => depth += 1,
            '>' if !quoted && depth == 0 => return Some(at),
            '>' if !quoted => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The prefix of a template that begins with this literal: `[a-z][a-z0-9_.-]*` before the first colon.
pub(crate) fn prefix(literal: &str) -> Option<&str> {
    let (prefix, _) = literal.split_once(':')?;
    let mut chars = prefix.chars();
    let begins = chars.next().is_some_and(|first| first.is_ascii_lowercase());
    let goes_on = chars
        .all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || matches!(char, '_' | '.' | '-'));
    (begins && goes_on).then_some(prefix)
}

/// A template with places in braces, as format strings have them, as it was meant; `None` if there are no braces.
pub(crate) fn from_braces(template: &str) -> Option<String> {
    let (before, rest) = template.split_once('{')?;
    let (place, after) = rest.split_once('}')?;
    let place = place.trim_matches(|sign: char| sign == ':' || sign == '?');
    if place.is_empty() || place.contains(['{', '<', '>']) {
        return None;
    }
    let after = from_braces(after).unwrap_or_else(|| after.to_owned());
    Some(format!("{before}<{place}>{after}"))
}

/// A template with a prefix: its first word made into one, or `msg:` in front.
pub(crate) fn with_prefix(template: &str) -> String {
    let literal = &template[..template.find('<').unwrap_or(template.len())];
    let word = literal.split_once(':').map_or(literal, |(word, _)| word);
    let rest = template[word.len()..].trim_start_matches(':');
    let lower = word.trim().trim_end_matches(['-', '_', '.', '/', ' ']).to_ascii_lowercase();
    let lower = lower.replace([' ', '/'], "-");
    if prefix(&format!("{lower}:")).is_some() {
        format!("{lower}:{rest}")
    } else {
        format!("msg:{}", template.trim_start_matches([':', ' ']))
    }
}

/// Literal text as it stands in a key: `%`, `#`, space, controls and all that is not ASCII are percent-encoded.
pub(crate) fn encode(literal: &str) -> String {
    let mut text = String::with_capacity(literal.len());
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0').to_ascii_uppercase();
    for byte in literal.bytes() {
        if byte.is_ascii_graphic() && byte != b'%' && byte != b'#' {
            text.push(char::from(byte));
        } else {
            text.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Piece, TemplateError, encode, from_braces, prefix, split, with_prefix};

    fn literal(text: &str) -> Piece {
        Piece::Literal(text.to_owned())
    }

    fn place(text: &str) -> Piece {
        Piece::Place(text.to_owned())
    }

    #[test]
    fn literals_and_places_alternate() {
        assert_eq!(split("msg:<message.id>"), Ok(vec![literal("msg:"), place("message.id")]));
        assert_eq!(split("a:<b><c>"), Ok(vec![literal("a:"), place("b"), place("c")]));
        assert_eq!(split(""), Ok(vec![]));
        assert_eq!(split("m:<>"), Ok(vec![literal("m:"), place("")]));
    }

    #[test]
    fn doubled_brackets_stand_for_themselves() {
        assert_eq!(
            split("k:{x}é<<<message.id>>>"),
            Ok(vec![literal("k:{x}é<"), place("message.id"), literal(">")])
        );
        assert_eq!(split("a:<<b>>"), Ok(vec![literal("a:<b>")]));
    }

    #[test]
    fn brackets_inside_of_a_place_come_in_pairs() {
        assert_eq!(
            split("m:<random::<u64>()>!"),
            Ok(vec![literal("m:"), place("random::<u64>()"), literal("!")])
        );
        assert_eq!(split("m:<h[\"a>b\"]>"), Ok(vec![literal("m:"), place("h[\"a>b\"]")]));
    }

    #[test]
    fn an_unpaired_bracket_is_a_mistake() {
        assert_eq!(split("m:<message.id"), Err(TemplateError::Unclosed("<message.id".to_owned())));
        assert_eq!(split("m:message.id>"), Err(TemplateError::Unopened));
        assert_eq!(split("m:<a:<b>"), Err(TemplateError::Unclosed("<a:<b>".to_owned())));
    }

    #[test]
    fn a_prefix_is_lower_case_and_ends_with_a_colon() {
        assert_eq!(prefix("msg:"), Some("msg"));
        assert_eq!(prefix("a-b.c_1:x:"), Some("a-b.c_1"));
        for none in ["", ":", "msg", "Msg:", "1a:", "m é:"] {
            assert_eq!(prefix(none), None, "{none}");
        }
    }

    #[test]
    fn what_was_meant_is_offered() {
        for (written, meant) in [
            ("<message.id>", "msg:<message.id>"),
            (":<message.id>", "msg:<message.id>"),
            ("Order:<id>", "order:<id>"),
            ("order-<id>", "order:<id>"),
            ("Order Paid:<id>", "order-paid:<id>"),
            ("1a:<id>", "msg:1a:<id>"),
            ("<a>:<b>", "msg:<a>:<b>"),
        ] {
            assert_eq!(with_prefix(written), meant);
        }
        assert_eq!(from_braces("msg:{message.id}"), Some("msg:<message.id>".to_owned()));
        assert_eq!(from_braces("a:{x:?}:{y}!"), Some("a:<x>:<y>!".to_owned()));
        for none in ["msg", "msg:{}", "msg:{", "msg:{<a>}"] {
            assert_eq!(from_braces(none), None, "{none}");
        }
    }

    #[test]
    fn a_literal_is_encoded_to_printable_ascii() {
        assert_eq!(encode("a b%#é~"), "a%20b%25%23%C3%A9~");
    }
}
