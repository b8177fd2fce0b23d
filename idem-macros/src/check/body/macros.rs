//! Macros whose arguments can be read: those that make text, and those that hold expressions between commas.

use std::rc::Rc;

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, Macro, Token};

use super::at;
use super::flow::{Flow, address};
use super::order;
use super::value::{Source, Value};
use crate::known::{self, Form, HOST_VARIABLES, Kind, Mention, conversions};
use crate::tokens::{is_punct, only_group};

impl Flow {
    pub(super) fn macro_call(&mut self, called: &Macro) -> Value {
        let name = called.path.segments.last().map_or_else(String::new, |last| last.ident.to_string());
        let name = name.as_str();
        if name == "json" {
            return self.json(called.tokens.clone());
        }
        if name == "doc" || name == "rawdoc" {
            let members = TokenTree::Group(Group::new(Delimiter::Brace, called.tokens.clone()));
            return self.json(members.into());
        }
        if name == "key" && is_ours(&called.path) {
            return self.key_macro(called.tokens.clone());
        }
        if let Some(value) = self.known_macro(called, name) {
            return value;
        }
        if conversions::logs(name) {
            // What goes to a log is nobody's key.
            self.quiet += 1;
            self.parts(called.tokens.clone());
            self.quiet -= 1;
            return Value::Clean;
        }
        let Ok(arguments) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(called.tokens.clone())
        else {
            return self.free_form(name, called.tokens.clone());
        };
        if conversions::formats(name) {
            return self.formatted(arguments.iter());
        }
        match name {
            "write" | "writeln" => {
                let text = self.formatted(arguments.iter().skip(1));
                if let Some(target) = arguments.first() {
                    self.mixed_into(target, &text);
                    self.appended(target, "write");
                }
                Value::Clean
            }
            "vec" => {
                let values = self.all(&arguments);
                Value::one_of(&values)
            }
            "join" | "try_join" => {
                let waited = arguments.iter().map(|argument| self.awaited(argument));
                let waited: Vec<Value> = waited.collect();
                Value::record(waited.into_iter().enumerate().map(|(at, value)| (at.to_string(), value)))
            }
            "dbg" => self.all(&arguments).into_iter().next().unwrap_or(Value::Clean),
            name => {
                for argument in &arguments {
                    self.argument(argument);
                }
                if conversions::diverges(name) { Value::Never } else { Value::Clean }
            }
        }
    }

    /// `nanoid!()`, `env!("CARGO_PKG_VERSION")`.
    fn known_macro(&mut self, called: &Macro, name: &str) -> Option<Value> {
        let mention = Mention {
            form: Form::Macro,
            called: true,
            arguments: !called.tokens.is_empty(),
            ..Mention::of_path(&called.path)
        };
        let commas = called.tokens.clone().into_iter().filter(|token| is_punct(token, ',')).count();
        if name == "nanoid" && commas >= 2 {
            // With a generator of the caller's own it is as good as that.
            return None;
        }
        if let Some(value) = self.source(&mention, at(called)) {
            return Some(value);
        }
        let variable = syn::parse2::<syn::LitStr>(called.tokens.clone()).ok()?.value();
        if !matches!(name, "env" | "option_env") || !HOST_VARIABLES.contains(&variable.as_str()) {
            return None;
        }
        let family = known::family_of("env!")?;
        Some(Value::Fresh(Rc::new(Source {
            at: at(called),
            shown: format!("{name}!(\"{variable}\")"),
            gives: family.gives,
            kind: Kind::Fresh,
            shown_where_used: false,
        })))
    }

    /// An argument of a macro; `name = value` names it, and assigns nothing.
    fn argument(&mut self, argument: &Expr) -> Value {
        match argument {
            Expr::Assign(named) => self.expr(&named.right),
            argument => self.expr(argument),
        }
    }

    /// `format!("{}:{now}", id)`.
    fn formatted<'e>(&mut self, arguments: impl Iterator<Item = &'e Expr>) -> Value {
        let mut values = Vec::new();
        for argument in arguments {
            let template = match argument {
                Expr::Lit(lit) => match &lit.lit {
                    Lit::Str(text) if values.is_empty() => Some(text),
                    _ => None,
                },
                _ => None,
            };
            match template {
                Some(text) if writes_address(&text.value()) => values.push(address(at(text), "{:p}")),
                Some(text) => values.extend(captures(&text.value()).into_iter().filter_map(|name| {
                    match self.scopes.get(&name)?.clone() {
                        Value::Fresh(source) if source.shown_where_used => {
                            Some(Value::Fresh(Rc::new(source.used_at(at(text)))))
                        }
                        value => Some(order::shown(value)),
                    }
                })),
                None => {
                    let value = self.argument(argument);
                    values.push(order::shown(value));
                }
            }
        }
        Value::made_of(&values)
    }

    /// What is no list of expressions: `select!` with its arms, a macro that holds statements, `name => value`.
    fn free_form(&mut self, name: &str, tokens: TokenStream) -> Value {
        if let Ok(statements) = syn::Block::parse_within.parse2(tokens.clone()) {
            return self.maybe(|flow| {
                flow.scopes.open();
                flow.statements(&statements);
                flow.scopes.close();
                Value::Clean
            });
        }
        let value = self.parts(tokens);
        if name == "select" { value } else { Value::Clean }
    }

    /// `json!({ "idempotency_key": key })`.
    fn json(&mut self, tokens: TokenStream) -> Value {
        let group = only_group(tokens.clone());
        match group {
            Some(group) if group.delimiter() == Delimiter::Brace => {
                let mut members = Vec::new();
                for member in split(group.stream(), ',') {
                    let tokens: Vec<TokenTree> = member.into_iter().collect();
                    let Some(colon) = colon(&tokens) else { continue };
                    let written: TokenStream = tokens[colon + 1..].iter().cloned().collect();
                    let value = self.json(written.clone());
                    let Ok(name) = syn::parse2::<Expr>(tokens[..colon].iter().cloned().collect()) else {
                        continue;
                    };
                    self.member(&name, &value, &written);
                    if let Expr::Lit(syn::ExprLit { lit: Lit::Str(name), .. }) = &name {
                        members.push((name.value(), value));
                    }
                }
                Value::record(members)
            }
            Some(group) if group.delimiter() == Delimiter::Bracket => {
                let values: Vec<Value> =
                    split(group.stream(), ',').into_iter().map(|element| self.json(element)).collect();
                Value::out_of(&values)
            }
            _ => syn::parse2::<Expr>(tokens).map_or(Value::Clean, |expr| self.expr(&expr)),
        }
    }

    /// Whatever can be read between commas: expressions, `name => value` and `"name": value`. The value of one of the arms.
    fn parts(&mut self, tokens: TokenStream) -> Value {
        let mut one = Value::Never;
        for part in split(tokens, ',').into_iter().flat_map(|part| split(part, ';')) {
            let part: Vec<TokenTree> =
                part.into_iter().skip_while(|token| is_punct(token, '%') || is_punct(token, '?')).collect();
            let arrow = part.windows(2).position(|pair| is_punct(&pair[0], '=') && is_punct(&pair[1], '>'));
            let parse = |tokens: &[TokenTree]| syn::parse2::<Expr>(tokens.iter().cloned().collect()).ok();
            if let Some(arrow) = arrow {
                let Some(written) = parse(&part[arrow + 2..]) else { continue };
                // `result = future => …` of a `select!`.
                if let Some((pattern, future)) = arm(&part[..arrow]) {
                    self.scopes.open();
                    let waited = self.awaited(&future);
                    self.bind(&pattern, &waited);
                    let value = self.expr(&written);
                    self.scopes.close();
                    one = one.or(value);
                } else {
                    let value = self.expr(&written);
                    if let Some(name) = parse(&part[..arrow]) {
                        self.member(&name, &value, &written);
                    }
                }
                continue;
            }
            let named = matches!(part.first(), Some(TokenTree::Literal(_))).then(|| colon(&part)).flatten();
            if let Some(colon) = named
                && let (Some(name), Some(written)) = (parse(&part[..colon]), parse(&part[colon + 1..]))
            {
                let value = self.expr(&written);
                self.member(&name, &value, &written);
            } else if let Some(expr) = parse(&part) {
                self.argument(&expr);
            }
        }
        one
    }
}

/// `key!`, `idem::key!`; not the `key!` of another crate that is named.
fn is_ours(path: &syn::Path) -> bool {
    path.segments.len() < 2 || path.segments.iter().any(|segment| segment.ident == "idem")
}

/// Splits at a sign outside of all brackets.
fn split(tokens: TokenStream, sign: char) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for token in tokens {
        if is_punct(&token, sign) {
            parts.push(TokenStream::new());
        } else if let Some(last) = parts.last_mut() {
            last.extend([token]);
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The first single colon.
fn colon(tokens: &[TokenTree]) -> Option<usize> {
    let mut joined = false;
    tokens.iter().position(|token| {
        let TokenTree::Punct(punct) = token else {
            joined = false;
            return false;
        };
        let single = punct.as_char() == ':' && punct.spacing() == Spacing::Alone && !joined;
        joined = punct.as_char() == ':' && punct.spacing() == Spacing::Joint;
        single
    })
}

/// `pattern = future`, before the `=>` of an arm.
fn arm(tokens: &[TokenTree]) -> Option<(syn::Pat, Expr)> {
    let equals = tokens.iter().position(|token| is_punct(token, '='))?;
    let part = |tokens: &[TokenTree]| tokens.iter().cloned().collect::<TokenStream>();
    let pattern = syn::Pat::parse_multi.parse2(part(&tokens[..equals])).ok()?;
    Some((pattern, syn::parse2(part(&tokens[equals + 1..])).ok()?))
}

/// The places of a format string: a name, and what stands after the colon.
fn places(template: &str) -> Vec<(String, String)> {
    let template = template.replace("{{", "").replace("}}", "");
    let places = template.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(place, _)| place));
    places
        .map(|place| {
            let (name, how) = place.split_once(':').unwrap_or((place, ""));
            (name.trim().to_owned(), how.trim().to_owned())
        })
        .collect()
}

/// Whether a format string writes an address: `{:p}`, `{message:#p}`.
fn writes_address(template: &str) -> bool {
    places(template).iter().any(|(_, how)| how.ends_with('p'))
}

/// The names that a format string captures: of values, and of widths and precisions.
fn captures(template: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (name, how) in places(template) {
        let widths = how.split_inclusive('$').filter_map(|part| part.strip_suffix('$'));
        let last_name = |text: &str| {
            let start = text.rfind(|char: char| !(char.is_alphanumeric() || char == '_'));
            text[start.map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8))..].to_owned()
        };
        names.extend(widths.map(last_name).chain([name]));
    }
    names.retain(|name| !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit()));
    names
}
