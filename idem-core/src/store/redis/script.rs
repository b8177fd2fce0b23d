//! The scripts, one for each kind of operation.

use std::sync::LazyLock;

use crate::machine::Operation;

/// A script, in the forms in which servers may have it.
pub(super) struct Script {
    /// For error messages: to do what.
    pub(super) doing: &'static str,
    forms: LazyLock<[Form; 4]>,
}

/// One form, and the name under which a server has it once it was loaded: its SHA-1, in hex.
struct Form {
    text: String,
    hash: String,
}

/// Which form a server gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// With the line of flags, which servers older than 7 cannot read.
    pub(super) flags: bool,
    /// With the server's clock. For tests, the last two arguments can say what time it is: seconds, and microseconds.
    pub(super) time: bool,
}

macro_rules! scripts {
    ($($name:ident = $file:literal, $doing:literal;)+) => {$(
        pub(super) static $name: Script =
            Script { doing: $doing, forms: LazyLock::new(|| forms(include_str!($file))) };
    )+};
}

scripts! {
    CLAIM = "claim.lua", "claim a message";
    END = "end.lua", "record how an attempt ended";
    END_QUICK = "end_quick.lua", "record how an attempt ended";
    END_MANY = "end_many.lua", "record how attempts ended";
    RENEW = "renew.lua", "renew a lease";
    RELEASE = "release.lua", "give a claim back";
    WITHDRAW = "withdraw.lua", "take a grant back";
    FORGET = "forget.lua", "delete a record";
    INSPECT = "inspect.lua", "look at a record";
}

/// What a new connection makes sure of.
pub(super) static EVERYDAY: [&Script; 6] = [&CLAIM, &END, &END_QUICK, &END_MANY, &RENEW, &RELEASE];

impl Script {
    pub(super) fn of(operation: &Operation) -> &'static Self {
        match operation {
            Operation::Claim(_) => &CLAIM,
            Operation::Renew(_) => &RENEW,
            Operation::Complete(_) | Operation::Fail(_) => &END,
            Operation::Release(_) => &RELEASE,
            Operation::Forget { .. } => &FORGET,
            Operation::Inspect => &INSPECT,
        }
    }

    pub(super) fn text(&self, dialect: Dialect) -> &str {
        &self.form(dialect).text
    }

    pub(super) fn hash(&self, dialect: Dialect) -> &str {
        &self.form(dialect).hash
    }

    fn form(&self, dialect: Dialect) -> &Form {
        &self.forms[usize::from(dialect.flags) + 2 * usize::from(dialect.time)]
    }
}

fn forms(file: &str) -> [Form; 4] {
    [(false, false), (true, false), (false, true), (true, true)].map(|(flags, time)| {
        let text = match file.split_once('\n') {
            Some((first, rest)) if first.starts_with("#!") && !flags => rest,
            _ => file,
        };
        // The server goes on deleting by its own clock, so records live longer there than the handed in time says.
        let text = if time {
            text.to_owned()
        } else {
            text.replace("redis.call('TIME')", "{ ARGV[#ARGV - 1], ARGV[#ARGV] }")
                .replace("1000) + 1", "1000) + 3600000")
        };
        let hash = redis::Script::new(&text).get_hash().to_owned();
        Form { text, hash }
    })
}
