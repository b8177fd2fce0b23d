//! The handler's settings: a constant expression.

use std::time::Duration;

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

use crate::model::{Function, Scope};
use crate::names;

/// The statement that makes the settings: one `static` for each function, if its scope is the same for each call.
pub(super) fn statement(function: &Function) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let name = names::handler();
    let value = value(function);
    match function.scope {
        Scope::Path | Scope::Constant(_) => {
            quote_spanned!(site=> static #name: #private::Handler = #value;)
        }
        Scope::Dependent(_) => {
            let name = names::local_handler();
            quote_spanned!(site=> let #name = #value;)
        }
    }
}

/// A reference to them.
pub(super) fn reference(function: &Function) -> TokenStream {
    let site = names::site();
    let name = match function.scope {
        Scope::Path | Scope::Constant(_) => names::handler(),
        Scope::Dependent(_) => names::local_handler(),
    };
    quote_spanned!(site=> &#name)
}

fn value(function: &Function) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let scope = match &function.scope {
        Scope::Path => {
            let name = function.item.name.to_string();
            let name = name.trim_start_matches("r#");
            quote_spanned!(site=> #private::concat!(#private::module_path!(), "::", #name))
        }
        Scope::Constant(scope) | Scope::Dependent(scope) => scope.clone(),
    };
    with_scope(function, &scope)
}

/// The settings, of this scope.
pub(super) fn with_scope(function: &Function, scope: &TokenStream) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let settings = &function.settings;
    // One call and no macro for file and line: this is compiled once for each handler.
    let mut handler = quote_spanned!(site=> #private::Handler::here(#scope));
    let mut set = |method: &str, value: TokenStream| {
        let method = Ident::new(method, site);
        handler = quote_spanned!(site=> #private::Handler::#method(#handler, #value));
    };
    if !settings.scope_was.is_empty() {
        let scopes = &settings.scope_was;
        set("scope_was", quote_spanned!(site=> &[#(#scopes),*]));
    }
    let windows = [
        ("ttl", settings.ttl),
        ("keep", settings.keep),
        ("lease", settings.lease),
        ("max_hold", settings.max_hold),
    ];
    for (method, window) in windows {
        if let Some(window) = window {
            set(method, duration(function, window));
        }
    }
    if let Some(tries) = settings.max_tries {
        set("max_tries", quote_spanned!(site=> #tries));
    }
    let variants = [
        ("on_lapse", "OnLapse", settings.on_lapse),
        ("mode", "Mode", settings.mode),
        ("require", "StoreClass", settings.require),
    ];
    for (method, of, variant) in variants {
        if let Some(variant) = variant {
            let (of, variant) = (Ident::new(of, site), Ident::new(variant, site));
            set(method, quote_spanned!(site=> #private::#of::#variant));
        }
    }
    if let Some(wait) = settings.wait {
        let wait = duration(function, wait);
        set("on_duplicate", quote_spanned!(site=> #private::OnDuplicate::Wait(#wait)));
    }
    handler
}

fn duration(function: &Function, duration: Duration) -> TokenStream {
    let site = names::site();
    let private = function.paths.private();
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    quote_spanned!(site=> #private::Duration::new(#seconds, #nanos))
}
