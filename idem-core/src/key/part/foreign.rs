//! Texts and other values of other crates, each behind a feature that has the crate's name.
//!
//! None of them is recommended: the compiler's list of what else is a part is the same whichever features are on.

#[allow(unused_imports, reason = "without any of the features, nothing here is")]
use super::{KeyPart, KeyWriter};

/// Types that are text, whichever way they keep it.
macro_rules! texts {
    ($($feature:literal $ty:ty, $as_str:ident;)*) => {$(
        #[cfg(feature = $feature)]
        #[diagnostic::do_not_recommend]
        impl KeyPart for $ty {
            #[inline]
            fn write(&self, out: &mut KeyWriter<'_>) {
                super::written(self.$as_str(), out);
            }
        }
    )*};
}
texts! {
    "amq-protocol-types" amq_protocol_types::ShortString, as_str;
    "async-nats" async_nats::Subject, as_str;
    "bytestring" bytestring::ByteString, as_ref;
    "compact_str" compact_str::CompactString, as_str;
    "http" http::Method, as_str;
    "smol_str" smol_str::SmolStr, as_str;
    "url" url::Url, as_str;
}

/// Lower-case hex, two digits a byte. Empty bytes are missing.
#[cfg(feature = "bytes")]
#[diagnostic::do_not_recommend]
impl KeyPart for bytes::Bytes {
    fn write(&self, out: &mut KeyWriter<'_>) {
        self.as_ref().write(out);
    }
}

/// Without trailing zeros and without a negative zero: `1.0` and `1.00` are equal, so they have one text.
#[cfg(feature = "rust_decimal")]
#[diagnostic::do_not_recommend]
impl KeyPart for rust_decimal::Decimal {
    fn write(&self, out: &mut KeyWriter<'_>) {
        out.display(self.normalize());
    }
}

/// All of it, with its build metadata.
#[cfg(feature = "semver")]
#[diagnostic::do_not_recommend]
impl KeyPart for semver::Version {
    fn write(&self, out: &mut KeyWriter<'_>) {
        out.display(self);
    }
}
