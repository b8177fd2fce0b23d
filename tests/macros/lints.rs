//! Lints that a crate may forbid.

/// `#![forbid(unsafe_code)]`.
mod no_unsafe {
    #![forbid(unsafe_code)]
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> Result<u64, Error> {
        Ok(message.amount)
    }
}

/// `forbid` of the lints that macros like to allow.
mod forbidden_lints {
    /// A module with strict lints.
    pub mod app {
        #![forbid(
            unused_variables,
            unused_mut,
            unreachable_code,
            unused_must_use,
            unused_braces,
            non_snake_case
        )]
        #![allow(clippy::unused_async, clippy::needless_pass_by_value)]
        #![forbid(
            clippy::all,
            clippy::unwrap_used,
            clippy::needless_return,
            clippy::let_unit_value,
            clippy::used_underscore_binding,
            clippy::redundant_closure_call
        )]
        use crate::{Error, Message};
        use idem::idempotent;
        /// Charges.
        ///
        /// # Errors
        /// Never.
        #[idempotent(key = "msg:<message.id>")]
        pub async fn charge(message: Message) -> Result<u64, Error> {
            Ok(message.amount)
        }
        /// Charges.
        ///
        /// # Errors
        /// Never.
        #[idempotent(key = "msg:<message.id>")]
        pub fn charge_now(message: Message) -> Result<u64, Error> {
            Ok(message.amount)
        }
    }
}

/// `unused_qualifications`.
mod unused_qualifications {
    #![deny(unused_qualifications)]
    use crate::{Error, Message, idempotent};
    #[allow(unused_imports)]
    use core::{
        future::Future,
        option::Option::Some,
        result::Result::{Err, Ok},
    };
    #[allow(unused_imports)]
    use std::string::ToString;
    #[idempotent(key = "msg:<message.id>")]
    pub async fn charge(message: Message) -> Result<u64, Error> {
        Ok(message.amount)
    }
}

/// A set of restriction lints.
mod restriction_lints {
    /// A module with strict lints.
    pub mod app {
        #![deny(
            clippy::unwrap_used,
            clippy::expect_used,
            clippy::panic,
            clippy::unwrap_in_result,
            clippy::absolute_paths,
            clippy::shadow_reuse,
            clippy::shadow_same,
            clippy::shadow_unrelated,
            clippy::indexing_slicing,
            clippy::as_conversions,
            clippy::str_to_string,
            clippy::let_underscore_untyped,
            clippy::let_underscore_must_use,
            clippy::impl_trait_in_params,
            clippy::else_if_without_else,
            clippy::exit,
            clippy::mem_forget,
            clippy::print_stdout,
            clippy::print_stderr,
            clippy::dbg_macro,
            clippy::todo,
            clippy::rest_pat_in_fully_bound_structs,
            clippy::semicolon_inside_block,
            clippy::redundant_type_annotations,
            clippy::ref_patterns,
            clippy::wildcard_enum_match_arm,
            clippy::partial_pub_fields,
            clippy::try_err,
            clippy::map_err_ignore,
            clippy::allow_attributes_without_reason,
            clippy::field_scoped_visibility_modifiers,
            clippy::multiple_inherent_impl
        )]
        use crate::{Error, Message};
        use idem::idempotent;
        #[idempotent(key = "msg:<message.id>")]
        pub async fn a(message: Message) -> Result<u64, Error> {
            Ok(message.amount)
        }
        #[idempotent(key = "msg:<message.id>")]
        pub fn b(message: Message) -> Result<u64, Error> {
            Ok(message.amount)
        }
    }
}

/// `question_mark_used`, `implicit_return`, `std_instead_of_core`, `pattern_type_mismatch`, `single_call_fn`.
mod contradicting_lints {
    /// A module with strict lints.
    pub mod app {
        #![deny(
            clippy::question_mark_used,
            clippy::std_instead_of_core,
            clippy::std_instead_of_alloc,
            clippy::alloc_instead_of_core,
            clippy::pattern_type_mismatch,
            clippy::single_call_fn,
            clippy::missing_inline_in_public_items,
            clippy::implicit_return
        )]
        use crate::{Error, Message};
        use idem::idempotent;
        #[inline]
        #[idempotent(key = "msg:<message.id>")]
        pub async fn a(message: Message) -> Result<u64, Error> {
            return Ok(message.amount);
        }
        #[inline]
        #[idempotent(key = "msg:<message.id>")]
        pub fn b(message: Message) -> Result<u64, Error> {
            return Ok(message.amount);
        }
    }
}

/// `missing_docs`, `missing_debug_implementations` and rustdoc.
mod documented {
    #![deny(missing_docs, missing_debug_implementations, missing_copy_implementations)]
    use crate::{Error, Message, idempotent};
    /// H.
    #[derive(Debug)]
    pub struct H(String);
    impl H {
        /// Charges.
        #[idempotent(scope = "documented.1", key = "k:<self.0>:<message.id>")]
        pub async fn charge(&self, message: Message) -> Result<u64, Error> {
            Ok(message.amount)
        }
    }
}
