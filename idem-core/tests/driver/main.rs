//! The driver, against a store that is the machine itself and loses answers on demand.

mod async_driver;
mod blocking_driver;
mod cancellation;
mod extremes;
mod model;
mod results;
mod settings;
mod threads;
