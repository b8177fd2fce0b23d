//! What a key reads, by its type. The macros see no types of fields, so they hand each place to [`Read`]: types that people try as
//! parts and that are none are known here one by one, each with its class and so with its reason. All others go on as they are.

use std::any::TypeId;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::hash_map::{DefaultHasher, RandomState};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::mem::Discriminant;
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize,
};
use std::sync::{LazyLock, Mutex, OnceLock, RwLock};
use std::thread::ThreadId;
use std::time::{Duration, Instant, SystemTime};

use super::{
    AnyShapePart, ClockPart, FloatPart, KeyPart, ListPart, LockedPart, ProcessPart, RandomPart, ResultPart,
    UnitPart,
};

/// A place of a key, read.
///
/// A type's own method comes before that of [`ReadAny`]: this is how the type decides, in every crate and without a guess.
#[derive(Debug)]
pub struct Read<'v, P: ?Sized>(pub &'v P);

/// All types that are not known to be no parts.
pub trait ReadAny<'v> {
    /// What was read.
    type Value: ?Sized;

    /// It.
    fn idem_part(self) -> &'v Self::Value;
}

impl<'v, P: ?Sized> ReadAny<'v> for Read<'v, P> {
    type Value = P;

    #[inline]
    fn idem_part(self) -> &'v P {
        self.0
    }
}

/// Each type, and an `Option` of it, asks for the trait that says why it is none. Where a type has no parameters, the compiler would
/// not let it ask for what it will never have; `for<'never>` puts the question off until somebody reads one.
macro_rules! known {
    ($class:ident: $([$($parameters:tt)*] $ty:ty;)*) => {$(
        known!(@one $class [$($parameters)*] $ty);
        known!(@one $class [$($parameters)*] Option<$ty>);
    )*};
    (@one $class:ident [$($parameters:tt)*] $ty:ty) => {
        impl<'v, $($parameters)*> Read<'v, $ty> {
            /// What was read, if only it were a part.
            pub fn idem_part(self) -> &'v dyn KeyPart
            where
                for<'never> $ty: $class,
            {
                $class::part(self.0)
            }
        }
    };
}

known! {
    FloatPart:
        [] f32;
        [] f64;
}
known! {
    ClockPart:
        [] Instant;
        [] SystemTime;
        [] Duration;
}
#[cfg(feature = "chrono")]
known! {
    ClockPart:
        [Tz: chrono::TimeZone] chrono::DateTime<Tz>;
        [] chrono::NaiveDateTime;
        [] chrono::NaiveTime;
        [] chrono::TimeDelta;
}
#[cfg(feature = "time")]
known! {
    ClockPart:
        [] time::OffsetDateTime;
        [] time::PrimitiveDateTime;
        [] time::UtcDateTime;
        [] time::Time;
        [] time::Duration;
}
#[cfg(feature = "jiff")]
known! {
    ClockPart:
        [] jiff::Timestamp;
        [] jiff::Zoned;
        [] jiff::civil::DateTime;
        [] jiff::civil::Time;
}
#[cfg(feature = "bson")]
known! {
    ClockPart:
        [] bson::DateTime;
}
#[cfg(feature = "bson-2")]
known! {
    ClockPart:
        [] bson_2::DateTime;
}
known! {
    ListPart:
        [T] Vec<T>;
        [T] VecDeque<T>;
        [T] LinkedList<T>;
        [T] BinaryHeap<T>;
        [T] BTreeSet<T>;
        [K, V] BTreeMap<K, V>;
        [T, S] HashSet<T, S>;
        [K, V, S] HashMap<K, V, S>;
        [A, B] (A, B);
        [A, B, C] (A, B, C);
        [A, B, C, D] (A, B, C, D);
}
#[cfg(feature = "http")]
known! {
    ListPart:
        [T] http::HeaderMap<T>;
}
known! {
    ProcessPart:
        [T] *const T;
        [T] *mut T;
        [T] NonNull<T>;
        [T] AtomicPtr<T>;
        [T] Discriminant<T>;
        [] TypeId;
        [] ThreadId;
        [] AtomicBool;
        [] AtomicU8;
        [] AtomicU16;
        [] AtomicU32;
        [] AtomicU64;
        [] AtomicUsize;
        [] AtomicI8;
        [] AtomicI16;
        [] AtomicI32;
        [] AtomicI64;
        [] AtomicIsize;
        [R] fn() -> R;
}
known! {
    RandomPart:
        [] RandomState;
        [] DefaultHasher;
}
known! {
    AnyShapePart:
        [] serde_json::Value;
        [] serde_json::Number;
        [] serde_json::Map<String, serde_json::Value>;
}
known! {
    LockedPart:
        [T] Mutex<T>;
        [T] RwLock<T>;
        [T] Cell<T>;
        [T] RefCell<T>;
        [T] OnceCell<T>;
        [T] OnceLock<T>;
        [T] LazyLock<T>;
}
known! {
    ResultPart:
        [T, E] Result<T, E>;
}
known! {
    UnitPart:
        [] ();
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{Read, ReadAny as _};
    use crate::key::KeyText;

    fn text(render: impl FnOnce(&mut KeyText)) -> String {
        let mut text = KeyText::new();
        render(&mut text);
        text.finish().unwrap().to_owned()
    }

    #[test]
    fn what_is_read_is_the_part_itself() {
        let headers = HashMap::from([("id", "7")]);
        assert_eq!(text(|key| key.part("id", Read(&headers["id"]).idem_part(), None)), "7");
        assert_eq!(text(|key| key.part("id", Read("7").idem_part(), None)), "7");
        assert_eq!(text(|key| key.part("id", Read(&Some(7)).idem_part(), None)), "7");
    }

    #[test]
    fn bytes_are_no_list() {
        assert_eq!(text(|key| key.part("id", Read(&vec![1_u8, 255]).idem_part(), None)), "01ff");
        assert_eq!(text(|key| key.part("id", Read(&Some(vec![1_u8])).idem_part(), None)), "01");
    }

    #[test]
    fn a_parameter_goes_on_as_it_is() {
        fn part<P: crate::KeyPart>(value: &P) -> String {
            text(|key| key.part("id", Read(value).idem_part(), None))
        }
        assert_eq!(part(&7_u8), "7");
        assert_eq!(part(&vec![7_u8]), "07");
    }
}
