//! The whole way, from tokens to tokens, where no compiler is needed to judge.

use super::expanded;

fn expand(attribute: &str, item: &str) -> String {
    expanded(attribute.parse().unwrap(), item.parse().unwrap()).to_string()
}

#[test]
fn a_function_keeps_its_body_as_one_group() {
    let out = expand(
        "key = \"msg:<message.id>\"",
        "pub async fn charge(message: Message) -> Result<u64, Error> { Ok(message . amount * 2) }",
    );
    assert!(!out.contains("compile_error"), "{out}");
    assert!(out.contains("{ Ok (message . amount * 2) }"), "{out}");
    assert!(out.starts_with("pub async fn charge (message : Message) -> Result < u64 , Error > {"), "{out}");
}

/// Editors depend on it (`tests/editor/completes.py`), and most machines have none to notice.
#[test]
fn the_text_of_an_option_comes_after_all_of_its_tokens() {
    let attribute = "key = \"msg:<id>\", store = probe(), final_error = probe::judge";
    for item in [
        "fn f(id: u8) -> Result<(), E> { g() }",
        "#[track_caller] fn f(id: u8) -> Result<(), E> { g() }",
        "async fn f(id: u8) -> Result<(), E> { g().await }",
        "fn f(id: u8) -> Boxed<Result<(), E>> { Box::pin(async move { g().await }) }",
        "fn f<'a>(id: u8) -> Boxed<Result<(), E>> {
            Box::pin(async move {
                if let Some(__ret) = None::<Result<(), E>> { return __ret; }
                let id = id;
                let __ret: Result<(), E> = { g().await };
                #[allow(unreachable_code)] __ret
            })
        }",
    ] {
        let out = expand(attribute, item);
        assert!(!out.contains("compile_error"), "{out}");
        let text = out.find("\"probe()\"").expect("the table says where its records are");
        let token = out.rfind("probe ::").expect("it judges errors");
        assert!(token < text && out.rfind("probe ()").is_some_and(|token| token < text), "{out}");
    }
}

#[test]
fn nothing_that_can_be_written_makes_the_macro_panic() {
    let attributes = [
        "",
        "key",
        "key =",
        "key = 3",
        "key = \"\"",
        "key = \"<\"",
        "key = \"m:<\"",
        "key = \"m:<>>\"",
        "key = \"m:<a\"",
        "=",
        ",,,",
        "key(",
        "trust",
        "trust()",
        "trust(a)",
        "trust(a.b(), reason)",
        "allow(x)",
        "allow(key_prefix, reason = \"\")",
        "ttl = \"\"",
        "ttl = \"9999999999999999999w\"",
        "max_tries = 99999999999",
        "max_tries = -1",
        "scope_was = []",
        "scope_was = [1]",
        "payload",
        "payload()",
        "payload(a, , b)",
        "on_duplicate",
        "on_duplicate()",
        "on_duplicate(wait)",
        "crate",
        "crate = 3",
        "crate = \"<\"",
        "store",
        "store = ",
        "mode = \"\"",
        "key = [\"a\", 3]",
        "key = [\"m:<a>\"]",
        "'a",
        "# ! [x]",
        "key = \"m:<a.0.0>\", payload(a.0.0, a.1.)",
        "final_error",
        "once_per = 3",
        "require = \"all\"",
        "key = \"é:<a>\"",
    ];
    let items = [
        "",
        "fn",
        "fn f",
        "fn f()",
        "fn f();",
        "fn f() {}",
        "fn f(a: u8) -> Result<(), E> {}",
        "struct S;",
        "impl S { fn f() {} }",
        "trait T {}",
        "mod m;",
        "const X: u8 = 3;",
        "async fn f<",
        "fn f<T(",
        "fn f<T>(a",
        "fn f(self, a, b: , : c) -> {}",
        "fn f(#[key] a: &Key, #[attempt] b, #[steps] c: u8) -> ! {}",
        "pub(crate) const unsafe extern \"C\" fn f(a: u8, ...) {}",
        "fn f(a: u8) -> impl Future<Output = { async move {}",
        "fn f(a: u8) -> X { async }",
        "fn f(a: u8) -> X { Box::pin(async) }",
        "fn f(a: u8) -> X { Box::pin() }",
        "fn f(a: u8) -> X { move {} }",
        "fn f(a: u8) -> X { async move { let __ret } }",
        "fn f(a: u8) -> X { async move { let __ret: T = ; } }",
        "fn f(a: u8) -> X { async move { let __ret ; } }",
        "#![x]",
        "#",
        "#[x]",
        "fn f(a: u8) -> X where {} { #! }",
        "fn f(é: u8) {}",
        "fn f(a: u8) { # ! [allow(x)] ok }",
    ];
    for attribute in attributes {
        for item in items {
            if let (Ok(attribute), Ok(item)) = (attribute.parse(), item.parse()) {
                let _ = expanded(attribute, item).to_string();
            }
        }
    }
}

#[test]
fn keys_that_two_messages_could_share_are_refused() {
    let refused = |key: &str, rule: &str| {
        let out = expand(&format!("key = {key}"), "fn f(a: &str, b: &str) -> Result<u8, Error> { Ok(1) }");
        out.contains(&format!("idem::errors::{rule}"))
    };
    for between in ["", "x", "0", "é", " ", "#", "%", "%3A", "\u{7f}", "\\n"] {
        assert!(refused(&format!("\"k:<a>{between}<b>\""), "key_ambiguous"), "{between:?}");
    }
    for between in [":", "/", "~", ":é", "-x", "<<", ">>", "'"] {
        assert!(!refused(&format!("\"k:<a>{between}<b>\""), "key_ambiguous"), "{between:?}");
    }
    for list in ["[\"k:<a>\", \"k:<b>\"]", "[\"k:<a>\", \"k:x:<b>\"]", "[\"k:é<a>\", \"l:<a>\", \"k:é:<b>\"]"]
    {
        assert!(refused(list, "key_overlap"), "{list}");
    }
    for list in ["[\"k:<a>\", \"kk:<b>\"]", "[\"k:a:<a>\", \"k:b:<b>\"]", "[\"k:<a>\"]"] {
        assert!(!refused(list, "key_overlap"), "{list}");
    }
}

#[test]
fn a_number_has_no_foreign_unit() {
    let item = "fn f(a: &str) -> Result<u8, Error> { Ok(1) }";
    for tries in ["5apples", "5f32", "5i8"] {
        let out = expand(&format!("key = \"k:<a>\", max_tries = {tries}"), item);
        assert!(out.contains("idem::errors::option_value"), "{tries}");
    }
    assert!(!expand("key = \"k:<a>\", max_tries = 5u32", item).contains("compile_error"));
}

#[test]
fn all_mistakes_come_out_of_one_compile_and_the_function_stays() {
    let out = expand(
        "key = \"order:<order_id>\", ttl = \"7\", leese = \"3s\"",
        "async fn charge(order: u32) -> Result<u32, idem::Error> { Ok(order) }",
    );
    assert_eq!(out.matches("compile_error").count(), 3, "{out}");
    assert!(out.contains("async fn charge (order : u32)"), "{out}");
}

#[test]
fn a_handler_is_in_the_table_with_what_was_said_and_no_more() {
    let plain = expand("key = \"msg:<id>\"", "fn r#charge(id: u64) -> Result<u64, Error> { Ok(id) }");
    assert!(
        plain.contains(":: idem :: __private :: register ! { __IDEM_HANDLER \"charge\" [\"msg:<id>\"] }"),
        "{plain}"
    );
    let said = expand(
        "key = \"msg:<m.id()>\", store = & stores [0], redelivery = \"1s\", payload(m . amount), once_per = \"customer\", \
         trust(m . id (), reason = \"the broker's\"), crate = ::once",
        "fn charge(m: M, stores: &[S]) -> Result<u64, Error> { Ok(1) }",
    );
    let expected = ":: once :: __private :: register ! { __IDEM_HANDLER \"charge\" [\"msg:<m.id()>\"] . in_store (\"&stores[0]\") \
        . redelivered_for (1u64 , 0u32) . compares (& [\"m.amount\"]) . once_for (\"customer\") \
        . trusting (& [(\"m.id()\" , \"the broker's\")]) }";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_scope_that_depends_on_types_is_in_the_table_as_its_text() {
    let out = expand(
        "key = \"msg:<id>\", scope = T :: NAME, ttl = \"1s\"",
        "fn charge<T: Named>(id: u64) -> Result<u64, Error> { Ok(id) }",
    );
    let entry = out.split_once("register ! {").unwrap().1.split_once("\"charge\"").unwrap().0;
    assert!(entry.contains(":: Handler :: here (\"T::NAME\")") && entry.contains(":: ttl ("), "{entry}");
}
