//! The facts, and how the attribute asks for them in a `const`: by the type, whether it is a message or not.

use std::marker::PhantomData;

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The identity: given once, the same at each delivery.
    Id,
    /// The identity of the fact, which a republish keeps too.
    Event,
    /// Another one at each delivery.
    PerDelivery,
    /// When the message was published.
    PublishedAt,
    /// Not part of the payload, and no identity.
    Skipped,
    /// All else.
    Payload,
}

/// What the fields of a message are, by their names.
#[derive(Debug)]
pub struct Facts(&'static [(&'static str, Role)]);

impl Facts {
    /// The fields in the order of their declaration.
    pub const fn new(fields: &'static [(&'static str, Role)]) -> Self {
        Self(fields)
    }

    const fn role(&self, field: &str) -> Option<Role> {
        let mut at = 0;
        while at < self.0.len() {
            let (name, role) = self.0[at];
            if same(name, field) {
                return Some(role);
            }
            at += 1;
        }
        None
    }

    /// Stops the compiler unless the only field that is read could be the identity: both questions in one.
    ///
    /// # Panics
    /// As [`demand`](Self::demand) does.
    #[track_caller]
    pub const fn demand_identity(facts: Option<&Self>, field: &str, per_delivery: &str, no_identity: &str) {
        Self::demand(!Self::is_per_delivery(facts, field), per_delivery);
        Self::demand(Self::may_identify(facts, field), no_identity);
    }

    /// Whether the field is another one at each delivery, as far as is known.
    pub const fn is_per_delivery(facts: Option<&Self>, field: &str) -> bool {
        match facts {
            Some(facts) => matches!(facts.role(field), Some(Role::PerDelivery)),
            None => false,
        }
    }

    /// Whether the message itself says that the field stays the same, whatever its name tells.
    pub const fn vouches_for(facts: Option<&Self>, field: &str) -> bool {
        match facts {
            Some(facts) => matches!(facts.role(field), Some(Role::Id | Role::Event | Role::PublishedAt)),
            None => false,
        }
    }

    /// Stops the compiler, where the question was asked, with what there is to say.
    ///
    /// # Panics
    /// Unless the answer is right: at compile time, as it is called in constants alone.
    #[track_caller]
    pub const fn demand(is_right: bool, else_say: &str) {
        assert!(is_right, "{}", else_say);
    }

    /// Whether the field could be the identity: all could of which nothing is known.
    pub const fn may_identify(facts: Option<&Self>, field: &str) -> bool {
        match facts {
            Some(facts) => matches!(facts.role(field), Some(Role::Id | Role::Event) | None),
            None => true,
        }
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Answers for each type: `FactsOf::<T>::__FACTS` is its own constant if `T` is a message, and that of [`NoFacts`] if it is not,
/// as a type's own constants come before those of traits.
#[derive(Debug)]
pub struct FactsOf<T: ?Sized>(PhantomData<T>);

impl<M: crate::Message + ?Sized> FactsOf<M> {
    /// The message's.
    pub const __FACTS: Option<&'static Facts> = Some(M::__FACTS);
}

/// Types of which nothing is known.
pub trait NoFacts {
    /// None.
    const __FACTS: Option<&'static Facts> = None;
}

impl<T: ?Sized> NoFacts for FactsOf<T> {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Facts, FactsOf, NoFacts as _, Role};
    use crate::message::{Message, Payload};

    struct Payment;

    impl Message for Payment {
        const __FACTS: &'static Facts =
            &Facts::new(&[("id", Role::Id), ("tag", Role::PerDelivery), ("amount", Role::Payload)]);

        fn __payload(&self, _: &mut Payload) {}
    }

    #[test]
    fn a_message_is_known_by_its_type_also_behind_pointers() {
        const FACTS: [Option<&Facts>; 4] = [
            FactsOf::<Payment>::__FACTS,
            FactsOf::<&Payment>::__FACTS,
            FactsOf::<Arc<Payment>>::__FACTS,
            FactsOf::<&mut Box<Payment>>::__FACTS,
        ];
        for facts in FACTS {
            assert!(Facts::is_per_delivery(facts, "tag") && !Facts::may_identify(facts, "tag"));
            assert!(!Facts::is_per_delivery(facts, "id") && Facts::may_identify(facts, "id"));
            assert!(!Facts::is_per_delivery(facts, "amount") && !Facts::may_identify(facts, "amount"));
        }
    }

    #[test]
    fn of_what_is_not_known_nothing_is_said() {
        let unknown = FactsOf::<String>::__FACTS;
        assert!(Facts::may_identify(unknown, "tag") && !Facts::is_per_delivery(unknown, "tag"));
        // A field of what the message dereferences to.
        let facts = FactsOf::<Payment>::__FACTS;
        assert!(Facts::may_identify(facts, "elsewhere") && !Facts::is_per_delivery(facts, "elsewhere"));
    }
}
