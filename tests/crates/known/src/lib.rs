//! Nothing: see the test.
