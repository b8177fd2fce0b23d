//! The tokens in the text of a key.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;

/// Reads tokens out of the text of a key. The compiler's own reader reports what it does not like by itself, without our
/// words; this one knows as much as a place can hold.
pub(crate) fn lex(text: &str, span: Span) -> Option<TokenStream> {
    let mut lexer = Lexer { rest: text, span };
    let tokens = lexer.until(None)?;
    lexer.rest.is_empty().then_some(tokens)
}

struct Lexer<'t> {
    rest: &'t str,
    span: Span,
}

impl<'t> Lexer<'t> {
    fn until(&mut self, close: Option<char>) -> Option<TokenStream> {
        let mut tokens = TokenStream::new();
        loop {
            self.rest = self.rest.trim_start();
            let Some(first) = self.rest.chars().next() else {
                return close.is_none().then_some(tokens);
            };
            if close == Some(first) {
                self.rest = &self.rest[1..];
                return Some(tokens);
            }
            let mut token = self.token(first)?;
            token.set_span(self.span);
            tokens.extend([token]);
        }
    }

    fn token(&mut self, first: char) -> Option<TokenTree> {
        if let Some(raw) = self.rest.strip_prefix("r#") {
            self.rest = raw;
            let word = self.word();
            let word = ident(word)?;
            let is_path = ["self", "Self", "super", "crate", "_"].iter().any(|path| word == path);
            return (!is_path).then(|| TokenTree::Ident(Ident::new_raw(&word.to_string(), self.span)));
        }
        if first.is_alphanumeric() || first == '_' {
            let word = self.word();
            return if first.is_ascii_digit() {
                let number: u32 = word.parse().ok()?;
                (number.to_string() == word).then(|| TokenTree::Literal(Literal::u32_unsuffixed(number)))
            } else {
                ident(word).map(TokenTree::Ident)
            };
        }
        self.rest = &self.rest[first.len_utf8()..];
        match first {
            '"' => {
                let end = self.rest.find('"')?;
                let text = &self.rest[..end];
                self.rest = &self.rest[end + 1..];
                (!text.contains('\\')).then(|| TokenTree::Literal(Literal::string(text)))
            }
            '(' | '[' | '{' => {
                let (close, delimiter) = match first {
                    '(' => (')', Delimiter::Parenthesis),
                    '[' => (']', Delimiter::Bracket),
                    _ => ('}', Delimiter::Brace),
                };
                let inner = self.until(Some(close))?;
                Some(TokenTree::Group(Group::new(delimiter, inner)))
            }
            punct if "=<>!~+-*/%^&|@.,;:#$?".contains(punct) => {
                let joint = self.rest.starts_with(|next| "=<>!~+-*/%^&|@.,;:#$?".contains(next));
                Some(TokenTree::Punct(Punct::new(punct, if joint { Spacing::Joint } else { Spacing::Alone })))
            }
            _ => None,
        }
    }

    fn word(&mut self) -> &'t str {
        let end =
            self.rest.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}

/// A word as an identifier, whether it is a keyword or not.
fn ident(word: &str) -> Option<Ident> {
    syn::parse::Parser::parse_str(Ident::parse_any, word).ok()
}
