//! Types that people try as parts and that are none, known one by one, wherever they were read from: the type of an argument stands in
//! the macro's sight, that of a field does not.
//!
//! The attribute reads a place as `place(&message.id).idem_part()`, and the compiler looks for a method of what is read before it takes
//! another reference of it. So a type that is known here comes to its own trait, and all others to [`ReadAny`].
//! A field that there is not is an error as it was, and no second one.

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

// The traits are written out, since the compiler shows their lines to whoever reads such a type.

/// Floating-point numbers.
pub trait ReadFloat: Sized {
    /// It, if only it were a part.
    fn idem_part(&self) -> &dyn KeyPart
    where
        Self: FloatPart,
    {
        FloatPart::part(self)
    }
}

/// Clocks and moments.
pub trait ReadClock: Sized {
    /// It, if only it were a part.
    fn idem_part(&self) -> &dyn KeyPart
    where
        Self: ClockPart,
    {
        ClockPart::part(self)
    }
}

/// Maps, lists and sets.
pub trait ReadList: Sized {
    /// It, if only it were a part.
    fn idem_part(&self) -> &dyn KeyPart
    where
        Self: ListPart,
    {
        ListPart::part(self)
    }
}

/// What belongs to a process, or to one build.
pub trait ReadProcess: Sized {
    /// It, if only it were a part.
    fn idem_part(&self) -> &dyn KeyPart
    where
        Self: ProcessPart,
    {
        ProcessPart::part(self)
    }
}

/// Random sources and hashers.
pub trait ReadRandom: Sized {
    /// It, if only it were a part.
    fn idem_part(&self) -> &dyn KeyPart
    where
        Self: RandomPart,
    {
        RandomPart::part(self)
    }
}

/// Values of any shape.
pub trait ReadAnyShape: Sized {
    /// It, if only it were a part.
    fn idem_part(&self) -> &dyn KeyPart
    where
        Self: AnyShapePart,
    {
        AnyShapePart::part(self)
    }
}

/// What is behind a lock or in a cell.
pub trait ReadLocked: Sized {
    /// It, if only it were a part.
    fn idem_part(&self) -> &dyn KeyPart
    where
        Self: LockedPart,
    {
        LockedPart::part(self)
    }
}

/// Results.
pub trait ReadResult: Sized {
    /// It, if only it were a part.
    fn idem_part(&self) -> &dyn KeyPart
    where
        Self: ResultPart,
    {
        ResultPart::part(self)
    }
}

/// The unit.
pub trait ReadUnit: Sized {
    /// It, if only it were a part.
    fn idem_part(&self) -> &dyn KeyPart
    where
        Self: UnitPart,
    {
        UnitPart::part(self)
    }
}

/// All else: the reference itself.
pub trait ReadAny<'v, P: ?Sized> {
    /// It.
    fn idem_part(&self) -> &'v P;
}

impl<'v, P: ?Sized> ReadAny<'v, P> for &'v P {
    #[inline]
    fn idem_part(&self) -> &'v P {
        self
    }
}

/// What is read. Where idem is not to be found, it has no type, and so no method that could be missing.
#[inline]
pub const fn place<P: ?Sized>(place: &P) -> &P {
    place
}

/// Each type, and an `Option` of it.
macro_rules! known {
    ($read:ident: $([$($parameters:tt)*] $ty:ty;)*) => {$(
        impl<$($parameters)*> $read for $ty {}
        impl<$($parameters)*> $read for Option<$ty> {}
    )*};
}

known! {
    ReadFloat:
        [] f32;
        [] f64;
}
known! {
    ReadClock:
        [] Instant;
        [] SystemTime;
        [] Duration;
}
#[cfg(feature = "chrono")]
known! {
    ReadClock:
        [Tz: chrono::TimeZone] chrono::DateTime<Tz>;
        [] chrono::NaiveDateTime;
        [] chrono::NaiveTime;
        [] chrono::TimeDelta;
}
#[cfg(feature = "time")]
known! {
    ReadClock:
        [] time::OffsetDateTime;
        [] time::PrimitiveDateTime;
        [] time::UtcDateTime;
        [] time::Time;
        [] time::Duration;
}
#[cfg(feature = "jiff")]
known! {
    ReadClock:
        [] jiff::Timestamp;
        [] jiff::Zoned;
        [] jiff::civil::DateTime;
        [] jiff::civil::Time;
}
#[cfg(feature = "bson")]
known! {
    ReadClock:
        [] bson::DateTime;
}
#[cfg(feature = "bson-2")]
known! {
    ReadClock:
        [] bson_2::DateTime;
}
known! {
    ReadList:
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
    ReadList:
        [T] http::HeaderMap<T>;
}
known! {
    ReadProcess:
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
    ReadRandom:
        [] RandomState;
        [] DefaultHasher;
}
known! {
    ReadAnyShape:
        [] serde_json::Value;
        [] serde_json::Number;
        [] serde_json::Map<String, serde_json::Value>;
}
known! {
    ReadLocked:
        [T] Mutex<T>;
        [T] RwLock<T>;
        [T] Cell<T>;
        [T] RefCell<T>;
        [T] OnceCell<T>;
        [T] OnceLock<T>;
        [T] LazyLock<T>;
}
known! {
    ReadResult:
        [T, E] Result<T, E>;
}
known! {
    ReadUnit:
        [] ();
}
