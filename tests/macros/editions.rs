//! What depends on the edition.

/// Edition 2018.
mod whole_captures {
    use crate::{Error, Message, idempotent};
    pub struct H {
        total: u64,
        note: String,
    }
    impl H {
        #[idempotent(scope = "whole_captures.1", key = "k:<self.note>:<message.id>")]
        pub async fn a(&mut self, message: Message) -> Result<u64, Error> {
            self.total += message.amount;
            Ok(self.total)
        }
    }
    #[idempotent(key = "msg:<message.id>")]
    pub fn b(message: Message) -> Result<String, Error> {
        let Message { id, .. } = message;
        Ok(id)
    }
}

/// Edition 2024: tail temporaries and `if let` scopes.
mod tail_temporaries {
    use crate::{Error, idempotent};
    use std::sync::Mutex;
    static M: Mutex<u64> = Mutex::new(1);
    #[idempotent(key = "msg:<n>")]
    pub async fn f(n: u64) -> Result<u64, Error> {
        if let Some(x) = M.lock().unwrap().checked_add(n) {
            Ok(x)
        } else {
            *M.lock().unwrap() = 0;
            Ok(0)
        }
    }
    #[test]
    fn a_lock_is_released_as_in_the_plain_function() {
        crate::install_store();
        assert_eq!(futures::executor::block_on(f(1)).unwrap(), 2);
        assert!(M.try_lock().is_ok());
    }
}
