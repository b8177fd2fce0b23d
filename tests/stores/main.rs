//! Every store and every wrapper here runs the conformance suite, and so do stores that are broken on purpose, which it must
//! catch.

mod broken;
mod memory;
mod reference;
mod scratch;
mod seen;
mod sqlite;
mod wrapped;
