//! The options as they were written, with their spans. What they mean is found out in `check`.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Lit, LitInt, LitStr};

use crate::diagnostics::{At, Diagnostics};
use crate::rules;
use crate::tokens::{is_punct, unwrapped};

/// The options, in the order in which they were written.
#[derive(Default)]
pub(crate) struct Args {
    pub(crate) options: Vec<Written>,
    /// Whether there is something that could not be read; reported already.
    pub(crate) unread: bool,
}

/// One option.
pub(crate) struct Written {
    pub(crate) name: Ident,
    pub(crate) value: Value,
}

/// What was given to an option.
pub(crate) enum Value {
    /// Nothing: `name`.
    Nothing,
    /// `name = value`: the tokens as they came.
    Assigned(TokenStream),
    /// `name(…)`.
    Listed(Group),
}

impl Args {
    /// Splits the attribute's tokens into options. What cannot be read is reported and skipped up to the next comma.
    pub(crate) fn parse(attribute: TokenStream, cx: &mut Diagnostics) -> Self {
        let mut args = Self::default();
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                match option(input) {
                    Ok(written) if input.is_empty() || input.peek(syn::Token![,]) => {
                        args.options.push(written);
                    }
                    Ok(written) => {
                        let next: TokenTree = input.parse()?;
                        cx.report(
                            &rules::OPTION_SYNTAX,
                            next.span(),
                            format_args!("`{next}` cannot stand after the value of `{}`", written.name),
                            format_args!("put a comma before the next option"),
                        );
                        args.options.push(written);
                    }
                    Err(mistake) => {
                        args.unread = true;
                        cx.report(&rules::OPTION_SYNTAX, mistake.at, mistake.what, mistake.help);
                    }
                }
                skip_comma(input)?;
            }
            Ok(())
        };
        // The closure skips what it cannot read, so it has no errors of its own.
        let _ = parser.parse2(attribute);
        args
    }
}

/// What is wrong with an option's form.
struct Mistake {
    at: At,
    what: String,
    help: String,
}

fn option(input: ParseStream<'_>) -> Result<Written, Mistake> {
    if let Ok(bare) = input.fork().parse::<LitStr>() {
        return Err(Mistake {
            at: bare.span().into(),
            what: "a string by itself is not an option".to_owned(),
            help: format!("write `key = \"{}\"`", bare.value()),
        });
    }
    let at = At::from(input.span());
    let Ok(name) = input.call(Ident::parse_any) else {
        let what =
            input.fork().parse::<TokenTree>().map_or_else(|_| String::new(), |token| token.to_string());
        return Err(Mistake {
            at,
            what: format!("`{what}` is not an option"),
            help: "write `name = value`, for example `key = \"msg:<message.id>\"`".to_owned(),
        });
    };
    let no_value = |at| Mistake {
        at,
        what: format!("`{name} =` has no value"),
        help: format!("write `{name} = …`, or leave `{name}` out"),
    };
    if input.peek(syn::Token![=]) && !input.peek(syn::Token![==]) {
        let Ok(equals) = input.parse::<syn::Token![=]>() else { return Err(no_value(at)) };
        let start = input.cursor();
        // How far the value goes; its tokens are kept as they are.
        if input.is_empty() || input.peek(syn::Token![,]) || input.parse::<Expr>().is_err() {
            return Err(no_value(At::tokens(&equals)));
        }
        let (mut cursor, end) = (start, input.cursor());
        let mut value = TokenStream::new();
        while cursor != end {
            let Some((token, next)) = cursor.token_tree() else { break };
            value.extend([token]);
            cursor = next;
        }
        return Ok(Written { name, value: Value::Assigned(value) });
    }
    let group = input.step(|cursor| match cursor.token_tree() {
        Some((TokenTree::Group(group), rest)) if group.delimiter() == Delimiter::Parenthesis => {
            Ok((group, rest))
        }
        _ => Err(cursor.error("no group")),
    });
    match group {
        Ok(group) => Ok(Written { name, value: Value::Listed(group) }),
        Err(_) if input.is_empty() || input.peek(syn::Token![,]) => {
            Ok(Written { name, value: Value::Nothing })
        }
        Err(_) => Err(Mistake {
            at: input.span().into(),
            what: format!("`{name}` is followed by neither `=` nor a comma"),
            help: format!("write `{name} = …`"),
        }),
    }
}

fn skip_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() {
        let token: TokenTree = input.parse()?;
        if is_punct(&token, ',') {
            break;
        }
    }
    Ok(())
}

impl Value {
    /// Where the caret goes for a wrong value.
    pub(crate) fn at(&self, name: &Ident) -> At {
        match self {
            Self::Nothing => name.into(),
            Self::Assigned(tokens) => At::tokens(tokens),
            Self::Listed(group) => At::tokens(group),
        }
    }

    /// `"…"`, also out of a macro's fragment.
    pub(crate) fn string(&self) -> Option<LitStr> {
        let Self::Assigned(tokens) = self else { return None };
        string(tokens.clone())
    }

    /// A number without a sign.
    pub(crate) fn integer(&self) -> Option<LitInt> {
        let Self::Assigned(tokens) = self else { return None };
        match syn::parse2(unwrapped(tokens.clone())) {
            // Any suffix is a number to the lexer: `5f32`, `5apples`.
            Ok(Lit::Int(number)) => matches!(number.suffix(), "" | "u32").then_some(number),
            _ => None,
        }
    }

    /// A path, or a string that holds one.
    pub(crate) fn path(&self) -> Option<TokenStream> {
        let path = match (self.string(), self) {
            (Some(text), _) => text.parse().ok()?,
            (None, Self::Assigned(tokens)) => unwrapped(tokens.clone()),
            _ => return None,
        };
        syn::Path::parse_mod_style.parse2(path.clone()).ok()?;
        Some(path)
    }

    /// `["…", "…"]`.
    pub(crate) fn strings(&self) -> Option<Vec<LitStr>> {
        let Self::Assigned(tokens) = self else { return None };
        let group = crate::tokens::only_group(unwrapped(tokens.clone()))?;
        if group.delimiter() != Delimiter::Bracket {
            return None;
        }
        crate::tokens::split_commas(group.stream()).into_iter().map(string).collect()
    }

    /// Whether it is the single word `word`.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.word().is_some_and(|found| found == word)
    }

    /// The single word that it is.
    pub(crate) fn word(&self) -> Option<String> {
        let Self::Assigned(tokens) = self else { return None };
        syn::parse2::<Ident>(unwrapped(tokens.clone())).ok().map(|word| word.to_string())
    }
}

/// A string literal, also out of a macro's fragment.
pub(crate) fn string(tokens: TokenStream) -> Option<LitStr> {
    match syn::parse2(unwrapped(tokens)) {
        Ok(Lit::Str(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Args, Value};
    use crate::diagnostics::Diagnostics;

    fn parse(text: &str) -> (Vec<String>, bool) {
        let mut cx = Diagnostics::default();
        let args = Args::parse(text.parse().unwrap(), &mut cx);
        let shown = args.options.iter().map(|option| match &option.value {
            Value::Nothing => option.name.to_string(),
            Value::Assigned(value) => format!("{} = {value}", option.name),
            Value::Listed(group) => format!("{} {group}", option.name),
        });
        (shown.collect(), cx.is_empty())
    }

    #[test]
    fn options_are_split_at_their_commas() {
        let (options, clean) =
            parse("key = \"a\", store = f::<A, B>(1, 2), trust(a.b(), reason = \"r\"), crate = ::x,");
        assert!(clean);
        assert_eq!(options.len(), 4);
        assert_eq!(options[1].replace(' ', ""), "store=f::<A,B>(1,2)");
        assert_eq!(options[3].replace(' ', ""), "crate=::x");
    }

    #[test]
    fn what_is_no_option_is_reported_and_the_rest_still_read() {
        for text in
            ["key = , ttl = \"1s\"", "3, ttl = \"1s\"", "\"msg\", ttl = \"1s\"", "key ==, ttl = \"1s\""]
        {
            let (options, clean) = parse(text);
            assert!(!clean, "{text}");
            assert_eq!(options.last().map(String::as_str), Some("ttl = \"1s\""), "{text}");
        }
    }
}
