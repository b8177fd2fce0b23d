//! How `#[idempotent]` tells the registry of a handler: the same few tokens whether or not anybody asks for the table.
//!
//! A macro, and not a feature of the attribute's own crate: cargo builds that crate once for build scripts and for the program, so its
//! features would be those of either.

/// An entry of the table: `handler "function" ["key", …] .option(…) …`.
///
/// The handler is the name of a `static`, or `(expression)` where the function has none because its scope depends on type parameters.
///
/// The expansion of linkme has an `unsafe(link_section)` in it. It is proved by linkme that the `static` has the slice's type, and lints
/// do not look into another crate's macro: `#![forbid(unsafe_code)]` in the handler's crate stays what it was.
#[cfg(feature = "table")]
#[doc(hidden)]
#[macro_export]
macro_rules! __register {
    ($handler:ident $function:literal [$($key:literal),*] $($said:tt)*) => {
        #[$crate::private::linkme::distributed_slice($crate::private::HANDLERS)]
        #[linkme(crate = $crate::private::linkme)]
        static __IDEM_REGISTERED: $crate::private::RegisteredHandler =
            $crate::private::RegisteredHandler::new(
                &$handler,
                $crate::private::concat!($crate::private::module_path!(), "::", $function),
                &[$($key),*],
            ) $($said)*;
    };
    (($handler:expr) $function:literal $keys:tt $($said:tt)*) => {
        static __IDEM_SETTINGS: $crate::private::Handler = $handler;
        $crate::private::register! { __IDEM_SETTINGS $function $keys .expression() $($said)* }
    };
}

/// Nothing: nobody asks for the table.
#[cfg(not(feature = "table"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __register {
    ($($told:tt)*) => {};
}
