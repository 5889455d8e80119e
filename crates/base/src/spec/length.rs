//! Lengths of queues that depend on no link: a number of packets or bytes.

use super::error::{At, SpecError};
use super::limit::Limit;
use super::value::Value;
use super::{Schema, Spec, json};

/// Defines a limit of some kinds only, with the words for them and the pattern that matches them.
macro_rules! length {
    ($(#[doc = $doc:literal])* $name:ident, $allowed:literal, $pattern:literal, $kinds:pat) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(Limit);

        impl $name {
            /// The limit.
            pub const fn limit(&self) -> &Limit {
                &self.0
            }
        }

        impl Spec for $name {
            fn schema() -> Schema {
                json!({"title": $allowed, "type": "string", "pattern": $pattern})
            }

            fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
                match Limit::read(value, at) {
                    Ok(limit) if matches!(limit, $kinds) => Ok(Self(limit)),
                    Ok(Limit::Unlimited) => Err(at.error(value, "is not a length").allowed($allowed)),
                    Ok(_) => Err(at.error(value, "depends on a link").allowed($allowed)),
                    Err(error) => Err(error.allowed($allowed)),
                }
            }

            fn write(&self) -> Value {
                self.0.write()
            }
        }
    };
}

length!(
    /// A number of packets or bytes.
    Length,
    r#""15 packets" or "30 kB""#,
    r"^\s*[0-9._]+\s*(packets?|B|kB|MB|GB|KiB|MiB|GiB)\s*$",
    Limit::Packets(_) | Limit::Bytes(_)
);

length!(
    /// A number of packets or bytes, or no limit.
    Ring,
    r#""7 packets", "10 kB", or "unlimited""#,
    r"^\s*(unlimited|[0-9._]+\s*(packets?|B|kB|MB|GB|KiB|MiB|GiB))\s*$",
    Limit::Packets(_) | Limit::Bytes(_) | Limit::Unlimited
);

impl Length {
    /// So many packets.
    pub const fn packets(packets: u64) -> Self {
        Self(Limit::Packets(packets))
    }
}
