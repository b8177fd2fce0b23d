//! The attribute of idem.
#![forbid(unsafe_code)]
