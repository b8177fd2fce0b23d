//! Looking at tokens without parsing them.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

pub(crate) fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

pub(crate) fn is_ident(token: &TokenTree, wanted: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == wanted)
}

/// Keeps count of `<` and `>`, where `->` and `=>` are no brackets.
#[derive(Default)]
struct Angles {
    depth: usize,
    after_dash: bool,
}

impl Angles {
    fn see(&mut self, token: &TokenTree) {
        if is_punct(token, '<') {
            self.depth += 1;
        } else if is_punct(token, '>') && !self.after_dash {
            self.depth = self.depth.saturating_sub(1);
        }
        self.after_dash = is_punct(token, '-') || is_punct(token, '=');
    }
}

/// The place of the `>` that closes the `<` at the start.
pub(crate) fn angle_end(tokens: &[TokenTree]) -> Option<usize> {
    let mut angles = Angles::default();
    tokens.iter().position(|token| {
        angles.see(token);
        angles.depth == 0
    })
}

/// Splits types, patterns or arguments at their commas, of which `HashMap<A, B>` has none.
pub(crate) fn split_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let mut angles = Angles::default();
    let mut parts = Vec::new();
    let mut part = TokenStream::new();
    for token in tokens {
        angles.see(&token);
        if angles.depth == 0 && is_punct(&token, ',') {
            parts.push(std::mem::take(&mut part));
        } else {
            part.extend([token]);
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// The group that is all of `tokens`.
pub(crate) fn only_group(tokens: TokenStream) -> Option<Group> {
    let mut tokens = tokens.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) => Some(group),
        _ => None,
    }
}

/// Takes the groups without delimiters off that macro fragments come in.
pub(crate) fn unwrapped(tokens: TokenStream) -> TokenStream {
    match only_group(tokens.clone()) {
        Some(group) if group.delimiter() == Delimiter::None => unwrapped(group.stream()),
        _ => tokens,
    }
}

/// Whether one of the identifiers for which `wanted` says yes occurs anywhere in `tokens`.
pub(crate) fn any_ident(tokens: TokenStream, wanted: &mut dyn FnMut(&Ident) -> bool) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => wanted(&ident),
        TokenTree::Group(group) => any_ident(group.stream(), wanted),
        _ => false,
    })
}

/// Replaces each `impl Trait` of a type by `_`, which is how expressions have to write it.
pub(crate) fn without_impl_trait(ty: TokenStream) -> (TokenStream, bool) {
    let mut found = false;
    let mut out = TokenStream::new();
    let mut skipping: Option<Angles> = None;
    for token in ty {
        if let Some(angles) = &mut skipping {
            let closes = is_punct(&token, '>') && !angles.after_dash && angles.depth == 0;
            let ends = closes || (angles.depth == 0 && is_punct(&token, ','));
            if !ends {
                angles.see(&token);
                continue;
            }
            skipping = None;
        }
        match token {
            TokenTree::Ident(ident) if ident == "impl" => {
                found = true;
                skipping = Some(Angles::default());
                out.extend([TokenTree::Ident(Ident::new("_", ident.span()))]);
            }
            TokenTree::Group(group) => {
                let (inner, inside) = without_impl_trait(group.stream());
                if inside {
                    found = true;
                    let mut replaced = Group::new(group.delimiter(), inner);
                    replaced.set_span(group.span());
                    out.extend([TokenTree::Group(replaced)]);
                } else {
                    out.extend([TokenTree::Group(group)]);
                }
            }
            other => out.extend([other]),
        }
    }
    (out, found)
}

/// The named lifetimes in a type, `'a`, in order.
pub(crate) fn lifetimes(tokens: &TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    let mut quote = false;
    for token in tokens.clone() {
        match &token {
            TokenTree::Ident(name)
                if quote && name != "static" && name != "_" && !name.to_string().starts_with("r#") =>
            {
                let name = format!("'{name}");
                if !found.contains(&name) {
                    found.push(name);
                }
            }
            TokenTree::Group(group) => {
                for name in lifetimes(&group.stream()) {
                    if !found.contains(&name) {
                        found.push(name);
                    }
                }
            }
            _ => {}
        }
        quote = is_punct(&token, '\'');
    }
    found
}

/// Tokens as text that is the same whoever prints it: a space where two words would run together, and none elsewhere.
pub(crate) fn source(tokens: &TokenStream) -> String {
    let mut text = String::new();
    write_source(tokens.clone(), &mut text);
    text
}

fn write_source(tokens: TokenStream, text: &mut String) {
    for token in tokens {
        if let TokenTree::Group(group) = token {
            let (open, close) = match group.delimiter() {
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::Brace => ("{", "}"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::None => ("", ""),
            };
            text.push_str(open);
            write_source(group.stream(), text);
            text.push_str(close);
            continue;
        }
        let token = token.to_string();
        let word = |char: Option<char>| char.is_some_and(|char| char.is_alphanumeric() || char == '_');
        if word(text.chars().next_back()) && word(token.chars().next()) {
            text.push(' ');
        }
        text.push_str(&token);
    }
}

#[cfg(test)]
mod tests {
    use super::source;

    #[test]
    fn source_text_has_spaces_only_between_words() {
        for (written, text) in [
            ("self . store", "self.store"),
            ("& stores [ 0 ] . clone ( )", "&stores[0].clone()"),
            ("pick :: < Store > ( a as u64 , \"two words\" )", "pick::<Store>(a as u64,\"two words\")"),
            ("{ let x = 1 ; f ( & mut x ) }", "{let x=1;f(&mut x)}"),
        ] {
            assert_eq!(source(&written.parse().unwrap()), text);
        }
    }
}
