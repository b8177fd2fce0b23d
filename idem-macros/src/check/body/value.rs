//! What is known about a value.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::closures::Function;
use crate::diagnostics::At;
use crate::known::Kind;
use crate::known::minted::Operation;

/// What is known about the value of an expression.
#[derive(Clone)]
pub(super) enum Value {
    /// Nothing against it.
    Clean,
    /// There is none: the expression does not return.
    Never,
    /// A text whose letters are known.
    Text(Rc<str>),
    /// Made by the attempt, or out of something that was.
    Fresh(Rc<Source>),
    /// Came out of a function that was given something fresh among other things. As a whole it may be fresh; its fields need not be.
    Mixed(Rc<Source>),
    /// A collection, or what comes out of one, in any order. Each of its entries is clean; see `order`.
    Unordered(Rc<Source>),
    /// A struct or a tuple, field by field.
    Record(Rc<BTreeMap<String, Value>>),
    /// A generator of numbers that begins with what the message says: the same numbers on every attempt.
    Seeded,
    /// A closure or a function of this body; as a value, it is what it gives.
    Function(Rc<Function>),
    /// The request of an operation that makes a token of its own.
    Builder(Rc<Builder>),
}

/// Where a fresh value comes from.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) at: At,
    /// As it was written.
    pub(super) shown: String,
    /// "a new id on every attempt".
    pub(super) gives: &'static str,
    pub(super) kind: Kind,
    /// A binding, which is shown where it is used.
    pub(super) shown_where_used: bool,
}

impl Source {
    /// A binding where it is used; what is made from that is shown there too.
    pub(super) fn used_at(&self, at: At) -> Self {
        Self { at, shown_where_used: false, ..self.clone() }
    }
}

/// A request that is being built.
#[derive(Clone)]
pub(super) struct Builder {
    pub(super) operation: &'static Operation,
    pub(super) at: At,
    pub(super) has_token: bool,
}

impl Value {
    pub(super) fn record(fields: impl IntoIterator<Item = (String, Self)>) -> Self {
        Self::Record(Rc::new(fields.into_iter().collect()))
    }

    /// What is fresh in it, however deep.
    pub(super) fn fresh(&self) -> Option<&Rc<Source>> {
        match self {
            Self::Fresh(source) | Self::Mixed(source) => Some(source),
            Self::Record(fields) => {
                let mut found = fields.values().filter_map(Self::fresh);
                let first = found.next()?;
                if first.kind == Kind::Fresh { Some(first) } else { found.next().or(Some(first)) }
            }
            Self::Function(function) => function.gives.fresh(),
            _ => None,
        }
    }

    /// What it is when it is one part of a larger whole. A default then is no more than an empty part.
    pub(super) fn part(&self) -> Option<&Rc<Source>> {
        self.fresh().filter(|source| source.kind == Kind::Fresh)
    }

    pub(super) fn is_never(&self) -> bool {
        matches!(self, Self::Never)
    }

    /// What a constructor gives that is given one thing, and holds it.
    pub(super) fn holding(value: Self) -> Self {
        if value.fresh().is_some() { Self::record([("0".to_owned(), value)]) } else { Self::Clean }
    }

    /// What such a one holds.
    pub(super) fn held(&self) -> Option<&Self> {
        match self {
            Self::Record(fields) if fields.len() == 1 => fields.get("0"),
            _ => None,
        }
    }

    /// One of several entries, of which nobody knows which.
    pub(super) fn one_of(values: &[Self]) -> Self {
        let alone = values.len() == 1;
        values.iter().cloned().fold(Self::Never, |one, value| match value {
            // An empty part among others.
            Self::Fresh(source) if source.kind == Kind::Default && !alone => one.or(Self::Clean),
            value => one.or(value),
        })
    }

    /// A field of it.
    pub(super) fn field(&self, name: &str) -> Self {
        match self {
            Self::Record(fields) => fields.get(name).cloned().unwrap_or(Self::Clean),
            // `.0` of a newtype.
            Self::Fresh(source) if name.starts_with(|first: char| first.is_ascii_digit()) => {
                Self::Fresh(Rc::clone(source))
            }
            _ => Self::Clean,
        }
    }

    /// It, with a field changed.
    pub(super) fn with_field(&self, name: &str, value: Self) -> Self {
        match self {
            Self::Record(fields) => {
                let mut fields = BTreeMap::clone(fields);
                fields.insert(name.to_owned(), value);
                Self::Record(Rc::new(fields))
            }
            Self::Clean => Self::record([(name.to_owned(), value)]),
            other => other.clone(),
        }
    }

    /// A text or a number that is made of these.
    pub(super) fn made_of<'v>(parts: impl IntoIterator<Item = &'v Self>) -> Self {
        let parts: Vec<&Self> = parts.into_iter().collect();
        if parts.iter().any(|part| part.is_never()) {
            return Self::Never;
        }
        let fresh = match &parts[..] {
            [only] => only.fresh(),
            parts => parts.iter().find_map(|part| part.part()),
        };
        fresh.map_or(Self::Clean, |source| Self::Fresh(Rc::clone(source)))
    }

    /// What comes out of a function that nobody can look into.
    pub(super) fn out_of<'v>(arguments: impl IntoIterator<Item = &'v Self>) -> Self {
        match Self::made_of(arguments) {
            Self::Fresh(source) if source.kind == Kind::Fresh => Self::Mixed(source),
            Self::Never => Self::Never,
            _ => Self::Clean,
        }
    }

    /// One of the two, as it happens.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, value) | (value, Self::Never) => value,
            (Self::Fresh(a), Self::Fresh(b)) => {
                Self::Fresh(if a.kind == Kind::Fresh || b.kind != Kind::Fresh { a } else { b })
            }
            (Self::Fresh(source), _) | (_, Self::Fresh(source)) => Self::Fresh(source),
            (Self::Record(a), Self::Record(b)) => {
                let mut fields = BTreeMap::clone(&a);
                for (name, value) in b.iter() {
                    let known = fields.remove(name).unwrap_or(Self::Clean);
                    fields.insert(name.clone(), known.or(value.clone()));
                }
                Self::Record(Rc::new(fields))
            }
            (Self::Mixed(source), _) | (_, Self::Mixed(source)) => Self::Mixed(source),
            (Self::Record(fields), _) | (_, Self::Record(fields)) => Self::Record(fields),
            (Self::Unordered(source), _) | (_, Self::Unordered(source)) => Self::Unordered(source),
            (Self::Builder(a), Self::Builder(b)) => {
                if a.has_token {
                    Self::Builder(a)
                } else {
                    Self::Builder(b)
                }
            }
            (Self::Builder(builder), _) | (_, Self::Builder(builder)) => Self::Builder(builder),
            (Self::Text(a), Self::Text(b)) if a == b => Self::Text(a),
            _ => Self::Clean,
        }
    }
}
