//! The whole way, from tokens to tokens, where no compiler is needed to judge.

use super::derived;

fn derive(item: &str) -> String {
    derived(item.parse().unwrap()).to_string()
}

#[test]
fn nothing_that_can_be_derived_on_makes_the_macro_panic() {
    for item in [
        "struct S;",
        "struct S {}",
        "struct S();",
        "struct S(u8, u8);",
        "struct S<T>(PhantomData<T>);",
        "struct S<'a, T: 'a, const N: usize>(&'a [T; N]) where T: Copy;",
        "enum E {}",
        "enum E { A(u8), B { b: u8 }, C = 3 }",
        "union U { a: u8 }",
        "#[key] struct S(u8);",
        "#[key()] struct S(u8);",
        "#[key = 3] struct S(u8);",
        "#[key(crate)] struct S(u8);",
        "#[key(crate = 3)] struct S(u8);",
        "struct S(#[key(rename = \"a\")] u8);",
        "enum E { #[key(rename)] A, #[key(rename = \"\")] B, #[key(rename = 3)] C, #[key(renam = \"d\")] D }",
        "enum E { r#A, #[key(rename = \"a\", rename = \"b\")] B }",
        "fn f() {}",
        "",
    ] {
        let _ = derive(item);
    }
}

#[test]
fn all_mistakes_come_out_of_one_compile_and_an_impl_stands() {
    let out = derive("enum Kind { #[key(renam = \"a\")] A, B(u8), #[key(rename = \"a\")] C }");
    assert_eq!(out.matches("compile_error").count(), 3, "{out}");
    assert!(out.contains("KeyPart for Kind"), "{out}");
}

#[test]
fn a_parameter_is_asked_for_nothing_but_what_its_field_needs() {
    let out = derive("struct Id<T, U> where U: Copy { value: Option<T>, of: PhantomData<U> }");
    assert!(out.contains("where U : Copy , Option < T > : :: idem :: __private :: KeyPart ,"), "{out}");
    assert!(!out.contains("self . of"), "{out}");
}
