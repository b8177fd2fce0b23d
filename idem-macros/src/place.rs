//! A place: what the key reads. A root, and from there fields, indices and methods without arguments.

use std::fmt;

use proc_macro2::{Delimiter, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::ext::IdentExt;

use crate::names;
use crate::tokens::is_punct;

mod lexer;

pub(crate) use lexer::lex;

/// A place.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// How many `*` stand in front.
    derefs: usize,
    pub(crate) root: Root,
    steps: Vec<Step>,
}

/// Where a place begins.
#[derive(Clone, Debug)]
pub(crate) enum Root {
    /// An argument, or a name that its pattern binds, or a const parameter.
    Name(Ident),
    /// `self`.
    This,
    /// `Self::CONST`.
    OfType(TokenStream),
}

#[derive(Clone, Debug)]
enum Step {
    Field(Ident),
    Index(Literal),
    Subscript(TokenStream),
    Call(Ident),
}

/// A name in a place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) text: String,
    /// Whether it is a method's.
    pub(crate) called: bool,
}

/// Why something is not a place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PlaceError {
    Empty,
    /// A call with arguments: the method's name.
    Arguments(String),
    /// Anything else.
    NotAPlace,
}

/// Words that not even `r#` makes a name of, and the one that is no field's after a dot.
const NEVER_FIELDS: [&str; 6] = ["_", "self", "Self", "super", "crate", "await"];

impl Place {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self, PlaceError> {
        let mut tokens = tokens.into_iter().peekable();
        let mut derefs = 0;
        while tokens.next_if(|token| is_punct(token, '*')).is_some() {
            derefs += 1;
        }
        let root = match tokens.next() {
            None if derefs == 0 => return Err(PlaceError::Empty),
            Some(TokenTree::Ident(this)) if this == "self" => Root::This,
            Some(TokenTree::Ident(ty)) if ty == "Self" => {
                let path: TokenStream = tokens.by_ref().take(3).collect();
                let path: Vec<TokenTree> = path.into_iter().collect();
                match &path[..] {
                    [a, b, TokenTree::Ident(_)] if is_punct(a, ':') && is_punct(b, ':') => {}
                    _ => return Err(PlaceError::NotAPlace),
                }
                Root::OfType(std::iter::once(TokenTree::Ident(ty)).chain(path).collect())
            }
            Some(TokenTree::Ident(name)) => Root::Name(name),
            _ => return Err(PlaceError::NotAPlace),
        };
        let mut steps = Vec::new();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(dot) if dot.as_char() == '.' => match tokens.next() {
                    Some(TokenTree::Ident(name)) if NEVER_FIELDS.iter().any(|never| name == never) => {
                        return Err(PlaceError::NotAPlace);
                    }
                    Some(TokenTree::Ident(name)) => {
                        let call = tokens.next_if(
                            |token| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis),
                        );
                        steps.push(match call {
                            Some(TokenTree::Group(group)) if !group.stream().is_empty() => {
                                return Err(PlaceError::Arguments(name.to_string()));
                            }
                            Some(_) => Step::Call(name),
                            None => Step::Field(name),
                        });
                    }
                    Some(TokenTree::Literal(index)) => steps.extend(indices(&index)?),
                    _ => return Err(PlaceError::NotAPlace),
                },
                TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                    let index: Vec<TokenTree> = group.stream().into_iter().collect();
                    if !matches!(&index[..], [TokenTree::Literal(_)]) {
                        return Err(PlaceError::NotAPlace);
                    }
                    steps.push(Step::Subscript(group.stream()));
                }
                _ => return Err(PlaceError::NotAPlace),
            }
        }
        Ok(Self { derefs, root, steps })
    }

    /// Whether it is nothing but its root.
    pub(crate) fn is_bare(&self) -> bool {
        self.derefs == 0 && self.steps.is_empty()
    }

    /// Whether it is its root, or a field of it, or of one of these.
    pub(crate) fn is_of_fields(&self) -> bool {
        self.derefs == 0 && self.steps.iter().all(|step| matches!(step, Step::Field(_) | Step::Index(_)))
    }

    /// Whether reading it calls a method, which could read anything.
    pub(crate) fn calls(&self) -> bool {
        self.methods().next().is_some()
    }

    /// The methods that it calls.
    pub(crate) fn methods(&self) -> impl Iterator<Item = &Ident> {
        self.steps.iter().filter_map(|step| match step {
            Step::Call(name) => Some(name),
            _ => None,
        })
    }

    /// The place before its last step, if that is a call: `message.id` of `message.id.trim()`.
    pub(crate) fn without_last_call(&self) -> Option<Self> {
        let (Step::Call(_), steps) = self.steps.split_last()? else { return None };
        Some(Self { steps: steps.to_vec(), ..self.clone() })
    }

    /// The place on which it first calls `method`, if it does: `message.parent` of `message.parent.unwrap().id`.
    pub(crate) fn before_call(&self, method: &str) -> Option<Self> {
        let at = self.steps.iter().position(|step| matches!(step, Step::Call(name) if name == method))?;
        Some(Self { steps: self.steps[..at].to_vec(), ..self.clone() })
    }

    /// Whether it begins with a call of its root's.
    pub(crate) fn begins_with_a_call(&self) -> bool {
        matches!(self.steps.first(), Some(Step::Call(_)))
    }

    /// The names in it, from the root on: of arguments, fields and methods, and text in brackets. `self` has none.
    pub(crate) fn names(&self) -> Vec<Named> {
        let root = match &self.root {
            Root::Name(name) => Some(Named { text: name.unraw().to_string(), called: false }),
            Root::This | Root::OfType(_) => None,
        };
        let steps = self.steps.iter().filter_map(|step| match step {
            Step::Field(name) => Some(Named { text: name.unraw().to_string(), called: false }),
            Step::Call(name) => Some(Named { text: name.unraw().to_string(), called: true }),
            Step::Subscript(index) => {
                let text = syn::parse2::<syn::LitStr>(index.clone()).ok()?.value();
                Some(Named { text, called: false })
            }
            Step::Index(_) => None,
        });
        root.into_iter().chain(steps).collect()
    }

    /// The field that it reads first, if it begins so: `id` of `message.id.0`.
    pub(crate) fn first_field(&self) -> Option<String> {
        match self.steps.first()? {
            Step::Field(name) => Some(name.unraw().to_string()),
            Step::Index(index) => Some(index.to_string()),
            Step::Subscript(_) | Step::Call(_) => None,
        }
    }

    /// The expression that reads it. `root` is the token of the binding itself, which knows where it was bound; the rest is
    /// shown at `span` and belongs to the macro, so that lints do not take it for hand-written.
    pub(crate) fn read(&self, root: &TokenStream, span: Span) -> TokenStream {
        let site = names::site_at(span);
        let mut read: TokenStream = std::iter::repeat_with(|| {
            let mut star = Punct::new('*', Spacing::Alone);
            star.set_span(site);
            TokenTree::Punct(star)
        })
        .take(self.derefs)
        .collect();
        read.extend(root.clone());
        for step in &self.steps {
            read.extend(match step {
                Step::Field(name) => {
                    let name = placed(name, site);
                    quote_spanned!(site=> .#name)
                }
                Step::Index(index) => {
                    let mut index = index.clone();
                    index.set_span(site);
                    quote_spanned!(site=> .#index)
                }
                Step::Subscript(index) => quote_spanned!(site=> [#index]),
                Step::Call(name) => {
                    let name = placed(name, site);
                    quote_spanned!(site=> .#name())
                }
            });
        }
        read
    }
}

/// The name at `site`; a keyword, as of `<message.type>`, becomes the raw identifier that it has to be.
fn placed(name: &Ident, site: Span) -> Ident {
    let mut name = match syn::parse2::<Ident>(TokenTree::Ident(name.clone()).into()) {
        Ok(name) => name,
        Err(_) if name != "self" && name != "super" && name != "crate" && name != "Self" && name != "_" => {
            Ident::new_raw(&name.unraw().to_string(), name.span())
        }
        Err(_) => name.clone(),
    };
    name.set_span(site);
    name
}

/// `.0`, or `.0.1`, which a lexer takes for a number with a fraction.
fn indices(literal: &Literal) -> Result<Vec<Step>, PlaceError> {
    literal
        .to_string()
        .split('.')
        .map(|index| match index.parse::<u32>() {
            Ok(number) if number.to_string() == index => Ok(Step::Index(Literal::u32_unsuffixed(number))),
            _ => Err(PlaceError::NotAPlace),
        })
        .collect()
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..self.derefs {
            f.write_str("*")?;
        }
        match &self.root {
            Root::Name(name) => write!(f, "{name}")?,
            Root::This => f.write_str("self")?,
            Root::OfType(path) => f.write_str(&path.to_string().replace(' ', ""))?,
        }
        self.steps.iter().try_for_each(|step| match step {
            Step::Field(name) => write!(f, ".{name}"),
            Step::Index(index) => write!(f, ".{index}"),
            Step::Subscript(index) => write!(f, "[{index}]"),
            Step::Call(name) => write!(f, ".{name}()"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, PlaceError, lex};
    use proc_macro2::Span;

    fn parse(text: &str) -> Result<String, PlaceError> {
        Place::parse(lex(text, Span::call_site()).ok_or(PlaceError::NotAPlace)?)
            .map(|place| place.to_string())
    }

    #[test]
    fn places_are_roots_with_fields_indices_and_calls() {
        for text in [
            "message.id",
            "pair.0.1",
            "xs[0]",
            "headers[\"event-id\"].value",
            "**self",
            "self.tenant.to_lowercase()",
            "Self::FEE",
            "N",
            "r#type.id",
            "message.offset().get()",
            "größe.länge",
        ] {
            assert_eq!(parse(text), Ok(text.to_owned()));
        }
        assert_eq!(parse(" message . id "), Ok("message.id".to_owned()));
    }

    #[test]
    fn whatever_else_is_written_is_refused_without_a_panic() {
        assert_eq!(parse(""), Err(PlaceError::Empty));
        assert_eq!(parse("  "), Err(PlaceError::Empty));
        assert_eq!(parse("m.get(1)"), Err(PlaceError::Arguments("get".to_owned())));
        for text in [
            "message.",
            ".id",
            "message..id",
            "{ message.id.push('x'); 1 }",
            "a + b",
            "a::b",
            "f()",
            "1",
            "m.0x1",
            "m.01",
            "m[",
            "m]",
            "m[i]",
            "m.id.await",
            "\"",
            "m.\"",
            "'a",
            "r#",
            "r#self",
            "\\",
            "m.é²",
            "Self",
            "Self::",
            "*",
            "m[0",
            "a b",
            "\u{0}",
        ] {
            assert_eq!(parse(text), Err(PlaceError::NotAPlace), "{text:?}");
        }
    }
}
