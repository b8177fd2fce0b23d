//! The function as it was written: its tokens kept as they came, split where the attribute has to look.
//!
//! The body, the signature and other attributes are never printed from a syntax tree: a tree forgets the groups that keep
//! `$e * 2` right when `$e` is `2 + 2`, and refuses syntax that is newer than it.

use std::cell::OnceCell;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::parse::Parser;

use crate::tokens::{angle_end, is_ident, is_punct, only_group, split_commas};

mod supplied;

/// A function with a body.
pub(crate) struct Item {
    pub(crate) attributes: Vec<Attribute>,
    /// Visibility, qualifiers, `fn`, name and generics.
    pub(crate) head: TokenStream,
    pub(crate) name: Ident,
    pub(crate) constness: Option<Span>,
    pub(crate) asyncness: Option<Span>,
    /// The names of its type parameters.
    pub(crate) types: Vec<Ident>,
    /// Its const parameters: names and types.
    pub(crate) consts: Vec<(Ident, TokenStream)>,
    /// What stands between `<` and `>`.
    pub(crate) generics: TokenStream,
    pub(crate) parens: Group,
    pub(crate) arguments: Vec<Argument>,
    /// `->`, if there is one.
    pub(crate) arrow: TokenStream,
    pub(crate) output: TokenStream,
    pub(crate) where_clause: TokenStream,
    pub(crate) body: Group,
    text: OnceCell<String>,
}

/// One attribute above or below ours.
pub(crate) struct Attribute {
    pub(crate) tokens: TokenStream,
    /// The first name of its path.
    pub(crate) name: Option<Ident>,
}

/// One argument.
pub(crate) struct Argument {
    /// All of it, without the helper attributes that are ours.
    pub(crate) tokens: TokenStream,
    /// Its `#[cfg]` attributes.
    pub(crate) cfgs: TokenStream,
    pub(crate) helper: Option<(Helper, Ident)>,
    pub(crate) kind: ArgumentKind,
}

pub(crate) enum ArgumentKind {
    /// `self` in any form.
    Receiver(Ident),
    Typed {
        pattern: TokenStream,
        ty: TokenStream,
        bindings: Vec<Ident>,
    },
    /// What this parser does not know; the compiler will.
    Opaque,
}

/// An attribute that marks an argument which the macro supplies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Helper {
    Key,
    Attempt,
    Steps,
}

/// Why the item is not a function with a body.
pub(crate) struct NotAFunction {
    pub(crate) at: Span,
    /// "an impl block", "a trait", …
    pub(crate) what: &'static str,
    /// A function, but declared only.
    pub(crate) no_body: Option<Ident>,
}

impl Item {
    pub(crate) fn parse(item: TokenStream) -> Result<Self, NotAFunction> {
        let mut tokens: Vec<TokenTree> = item.into_iter().collect();
        // A whole item out of a `$item:item` fragment comes in one group.
        if let [TokenTree::Group(group)] = &tokens[..]
            && group.delimiter() == Delimiter::None
        {
            tokens = group.stream().into_iter().collect();
        }
        let (attributes, rest) = attributes(&tokens);
        let fn_at = fn_keyword(rest)?;
        let qualifier = |word: &str| {
            rest[..fn_at].iter().find_map(|token| match token {
                TokenTree::Ident(ident) if ident == word => Some(ident.span()),
                _ => None,
            })
        };
        let not_a_function =
            || NotAFunction { at: rest[fn_at].span(), what: "something else", no_body: None };
        let Some(TokenTree::Ident(name)) = rest.get(fn_at + 1) else { return Err(not_a_function()) };
        let mut at = fn_at + 2;
        let mut generics = TokenStream::new();
        if rest.get(at).is_some_and(|token| is_punct(token, '<')) {
            let end = angle_end(&rest[at..]).ok_or_else(not_a_function)?;
            generics = rest[at + 1..at + end].iter().cloned().collect();
            at += end + 1;
        }
        let Some(TokenTree::Group(parens)) = rest.get(at) else { return Err(not_a_function()) };
        let (tail, body) = match rest.last() {
            Some(TokenTree::Group(group)) if rest.len() > at + 1 => match braces(group) {
                Some(body) => (&rest[at + 1..rest.len() - 1], body),
                None => return Err(declared(name)),
            },
            _ => return Err(declared(name)),
        };
        let (output, where_clause) = match tail
            .iter()
            .position(|token| matches!(token, TokenTree::Ident(ident) if ident == "where"))
        {
            Some(at) => (&tail[..at], &tail[at..]),
            None => (tail, &tail[tail.len()..]),
        };
        let arrow_len = if output.first().is_some_and(|token| is_punct(token, '-')) { 2 } else { 0 };
        let (types, consts) = parameters(&generics);
        let mut item = Self {
            attributes,
            head: rest[..at].iter().cloned().collect(),
            name: name.clone(),
            constness: qualifier("const"),
            asyncness: qualifier("async"),
            types,
            consts,
            generics,
            parens: parens.clone(),
            arguments: split_commas(parens.stream()).into_iter().map(Argument::parse).collect(),
            arrow: output[..arrow_len.min(output.len())].iter().cloned().collect(),
            output: output[arrow_len.min(output.len())..].iter().cloned().collect(),
            where_clause: where_clause.iter().cloned().collect(),
            body,
            text: OnceCell::new(),
        };
        supplied::forget_lifetimes(&mut item);
        Ok(item)
    }

    /// What is in its body, as text: written once, and by the compiler. See `lexemes`.
    pub(crate) fn text(&self) -> &str {
        self.text.get_or_init(|| self.body.stream().to_string())
    }

    pub(crate) fn receiver(&self) -> Option<&Ident> {
        self.arguments.iter().find_map(|argument| match &argument.kind {
            ArgumentKind::Receiver(this) => Some(this),
            _ => None,
        })
    }

    /// The arguments that the caller gives: all but those that the macro supplies.
    pub(crate) fn given(&self) -> impl Iterator<Item = &Argument> + Clone {
        self.arguments.iter().filter(|argument| argument.helper.is_none())
    }
}

impl Argument {
    fn parse(tokens: TokenStream) -> Self {
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        let (attributes, rest) = attributes(&all);
        let mut helper = None;
        let mut cfgs = TokenStream::new();
        let mut kept = TokenStream::new();
        for attribute in attributes {
            match attribute.name {
                Some(name) if Helper::named(&name).is_some() && helper.is_none() => {
                    helper = Helper::named(&name).map(|helper| (helper, name));
                }
                name => {
                    if name.is_some_and(|name| name == "cfg") {
                        cfgs.extend(attribute.tokens.clone());
                    }
                    kept.extend(attribute.tokens);
                }
            }
        }
        kept.extend(rest.iter().cloned());
        Self { tokens: kept, cfgs, helper, kind: ArgumentKind::parse(rest) }
    }

    /// The names that it brings into the body.
    pub(crate) fn bindings(&self) -> &[Ident] {
        match &self.kind {
            ArgumentKind::Receiver(this) => std::slice::from_ref(this),
            ArgumentKind::Typed { bindings, .. } => bindings,
            ArgumentKind::Opaque => &[],
        }
    }
}

impl ArgumentKind {
    fn parse(tokens: &[TokenTree]) -> Self {
        let colon = (0..tokens.len()).find(|&at| {
            let is_colon = |at: usize| tokens.get(at).is_some_and(|token| is_punct(token, ':'));
            is_colon(at) && !is_colon(at + 1) && (at == 0 || !is_colon(at - 1))
        });
        let before = &tokens[..colon.unwrap_or(tokens.len())];
        if let Some(TokenTree::Ident(last)) = before.last()
            && last == "self"
        {
            return Self::Receiver(last.clone());
        }
        let Some(colon) = colon else { return Self::Opaque };
        let pattern: TokenStream = before.iter().cloned().collect();
        let bindings = bindings(pattern.clone());
        Self::Typed { pattern, ty: tokens[colon + 1..].iter().cloned().collect(), bindings }
    }
}

impl Helper {
    fn named(name: &Ident) -> Option<Self> {
        match name.to_string().as_str() {
            "key" => Some(Self::Key),
            "attempt" => Some(Self::Attempt),
            "steps" => Some(Self::Steps),
            _ => None,
        }
    }
}

/// The names that a pattern binds, in order.
pub(crate) fn bindings(pattern: TokenStream) -> Vec<Ident> {
    let mut names = Vec::new();
    if let Ok(pattern) = syn::Pat::parse_multi.parse2(pattern) {
        let whole = matches!(&pattern, syn::Pat::Ident(_));
        collect(&pattern, &mut names);
        // `None` in a pattern is a constant; as the whole pattern it can only be a name.
        names.retain(|name| whole || !name.to_string().starts_with(|first: char| first.is_uppercase()));
    }
    names
}

fn collect(pattern: &syn::Pat, names: &mut Vec<Ident>) {
    match pattern {
        syn::Pat::Ident(binding) => {
            names.push(binding.ident.clone());
            if let Some((_, inner)) = &binding.subpat {
                collect(inner, names);
            }
        }
        syn::Pat::Or(or) => {
            if let Some(first) = or.cases.first() {
                collect(first, names);
            }
        }
        syn::Pat::Paren(inner) => collect(&inner.pat, names),
        syn::Pat::Reference(inner) => collect(&inner.pat, names),
        syn::Pat::Slice(inner) => inner.elems.iter().for_each(|pattern| collect(pattern, names)),
        syn::Pat::Tuple(inner) => inner.elems.iter().for_each(|pattern| collect(pattern, names)),
        syn::Pat::TupleStruct(inner) => inner.elems.iter().for_each(|pattern| collect(pattern, names)),
        syn::Pat::Struct(inner) => inner.fields.iter().for_each(|field| collect(&field.pat, names)),
        _ => {}
    }
}

/// Splits leading outer attributes off.
fn attributes(tokens: &[TokenTree]) -> (Vec<Attribute>, &[TokenTree]) {
    let mut found = Vec::new();
    let mut rest = tokens;
    while let [hash, TokenTree::Group(group), after @ ..] = rest {
        if !is_punct(hash, '#') || group.delimiter() != Delimiter::Bracket {
            break;
        }
        let name = match group.stream().into_iter().next() {
            Some(TokenTree::Ident(name)) => Some(name),
            _ => None,
        };
        found.push(Attribute { tokens: rest[..2].iter().cloned().collect(), name });
        rest = after;
    }
    (found, rest)
}

/// Splits the inner attributes of a body off, which may only stand at the start of a function.
pub(crate) fn inner_attributes(item: &Item, body: TokenStream) -> (TokenStream, TokenStream) {
    // Most bodies begin with something else, and go on as they are. (`//!` is an attribute too.)
    if !item.text().starts_with(['#', '/']) {
        return (TokenStream::new(), body);
    }
    let mut tokens = body.into_iter().peekable();
    let mut attributes = Vec::new();
    let mut rest: Vec<TokenTree> = Vec::new();
    while let Some(hash) = tokens.next_if(|token| is_punct(token, '#')) {
        let Some(bang) = tokens.next_if(|token| is_punct(token, '!')) else {
            rest.push(hash);
            break;
        };
        attributes.extend([hash, bang]);
        attributes.extend(tokens.next());
    }
    (attributes.into_iter().collect(), rest.into_iter().chain(tokens).collect())
}

/// Where `fn` is, if nothing before it says that this is another kind of item.
fn fn_keyword(tokens: &[TokenTree]) -> Result<usize, NotAFunction> {
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(ident) => {
                let what = match ident.to_string().as_str() {
                    "fn" => return Ok(at),
                    "impl" => "an impl block",
                    "trait" => "a trait",
                    "struct" => "a struct",
                    "enum" => "an enum",
                    "union" => "a union",
                    "mod" => "a module",
                    "static" => "a static",
                    "type" => "a type alias",
                    "use" => "a `use`",
                    "macro_rules" => "a macro",
                    "pub" | "crate" | "default" | "const" | "async" | "unsafe" | "safe" | "extern" => {
                        continue;
                    }
                    _ if at > 0 && is_ident(&tokens[at - 1], "const") => "a constant",
                    _ => "something else",
                };
                return Err(NotAFunction { at: ident.span(), what, no_body: None });
            }
            TokenTree::Group(group) if group.delimiter() != Delimiter::Brace => {}
            TokenTree::Literal(_) => {}
            other => return Err(NotAFunction { at: other.span(), what: "something else", no_body: None }),
        }
    }
    Err(NotAFunction {
        at: tokens.first().map_or_else(Span::call_site, TokenTree::span),
        what: "something else",
        no_body: None,
    })
}

fn declared(name: &Ident) -> NotAFunction {
    NotAFunction { at: name.span(), what: "a function without a body", no_body: Some(name.clone()) }
}

/// The braces of a body, also if a `$body:block` fragment has wrapped them.
fn braces(group: &Group) -> Option<Group> {
    match group.delimiter() {
        Delimiter::Brace => Some(group.clone()),
        Delimiter::None => braces(&only_group(group.stream())?),
        _ => None,
    }
}

/// The names of type parameters, and the names and types of const parameters.
fn parameters(generics: &TokenStream) -> (Vec<Ident>, Vec<(Ident, TokenStream)>) {
    let (mut types, mut consts) = (Vec::new(), Vec::new());
    for parameter in split_commas(generics.clone()) {
        let all: Vec<TokenTree> = parameter.into_iter().collect();
        match attributes(&all).1 {
            [TokenTree::Ident(keyword), TokenTree::Ident(name), _colon, ty @ ..] if keyword == "const" => {
                let ty = ty.iter().take_while(|token| !is_punct(token, '=')).cloned().collect();
                consts.push((name.clone(), ty));
            }
            [TokenTree::Ident(name), ..] => types.push(name.clone()),
            _ => {}
        }
    }
    (types, consts)
}
