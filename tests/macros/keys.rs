//! The key and its options.

/// An optional part.
mod optional_part {
    use crate::{Error, idempotent};
    #[idempotent(key = "m:<note>")]
    pub fn f(note: Option<u64>) -> Result<u64, Error> {
        Ok(note.unwrap_or(0))
    }
    #[test]
    fn none_is_a_missing_part() {
        crate::install_store();
        assert!(f(None).is_err());
        assert_eq!(f(Some(3)).unwrap(), 3);
    }
}

/// Braces, angle brackets, raw strings, non-ASCII and escapes in the key.
mod escapes {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = r#"msg:{x}"é<<<message.id>>>"#)]
    pub fn f(message: Message) -> Result<u64, Error> {
        Ok(message.amount)
    }
    #[test]
    fn brackets_are_escaped_by_doubling() {
        crate::install_store();
        assert_eq!(f(Message { id: "a".into(), amount: 1 }).unwrap(), 1);
    }
}

/// One function name in two modules.
mod one_name_in_two_modules {
    use crate::{Error, idempotent};
    mod orders {
        use super::*;
        #[idempotent(key = "msg:<n>")]
        pub fn handle(n: u64) -> Result<u64, Error> {
            Ok(n + 1)
        }
    }
    mod refunds {
        use super::*;
        #[idempotent(key = "msg:<n>")]
        pub fn handle(n: u64) -> Result<u64, Error> {
            Ok(n + 2)
        }
    }
    #[test]
    fn two_modules_have_two_scopes() {
        crate::install_store();
        assert_eq!(orders::handle(1).unwrap(), 2);
        assert_eq!(refunds::handle(1).unwrap(), 3);
    }
}
