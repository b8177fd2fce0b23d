//! The driver, against a store that is the machine itself and loses answers on demand.
#![allow(clippy::items_after_statements, reason = "a handler stands beside the call that it is for")]
#![allow(clippy::type_complexity, reason = "boxed futures, written out")]

mod async_driver;
mod batch;
mod blocking_driver;
mod cancellation;
mod extremes;
mod model;
mod results;
mod settings;
mod threads;
