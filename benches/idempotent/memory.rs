//! What the other table has, too.

#[path = "../memory/annotated.rs"]
pub(crate) mod annotated;
#[path = "../memory/contender.rs"]
#[allow(dead_code, reason = "other contenders are in the other table alone")]
pub(crate) mod contender;
#[path = "../memory/rounds.rs"]
pub(crate) mod rounds;
