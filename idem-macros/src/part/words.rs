//! The text of a variant.

/// `PartiallyRefunded` as `partially_refunded`, `SEPADebit` as `sepa_debit`, `V2` as `v2`.
pub(super) fn snake_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut word = String::with_capacity(name.len() + 4);
    for (at, char) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| chars.get(before));
        let begins = char.is_uppercase()
            && before.is_some_and(|before| {
                let ends_capitals =
                    before.is_uppercase() && chars.get(at + 1).is_some_and(|next| next.is_lowercase());
                before.is_lowercase() || before.is_numeric() || ends_capitals
            });
        if begins {
            word.push('_');
        }
        word.extend(char.to_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn words_are_told_by_their_capitals() {
        for (name, word) in [
            ("Paid", "paid"),
            ("PartiallyRefunded", "partially_refunded"),
            ("SEPADebit", "sepa_debit"),
            ("DebitSEPA", "debit_sepa"),
            ("V2", "v2"),
            ("Level3Support", "level3_support"),
            ("A", "a"),
            ("Größe", "größe"),
            ("already_snake", "already_snake"),
        ] {
            assert_eq!(snake_case(name), word, "{name}");
        }
    }
}
