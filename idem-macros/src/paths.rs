//! The one door to what the expansion needs: `::idem::__private`, or the user's `crate = …`.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use crate::names;

/// Where idem is.
pub(crate) struct Paths {
    private: TokenStream,
}

impl Paths {
    pub(crate) fn to(krate: Option<&TokenStream>) -> Self {
        let site = names::site();
        let private = if let Some(krate) = krate {
            quote_spanned!(site=> #krate::__private)
        } else {
            quote_spanned!(site=> ::idem::__private)
        };
        Self { private }
    }

    /// `::idem::__private`.
    pub(crate) fn private(&self) -> &TokenStream {
        &self.private
    }
}
