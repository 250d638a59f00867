//! The target of an image: its byte order and the size of `ULONG`.
//!
//! The target is a type, not a value, so that recording an event needs no branch on the target.

use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::Width;

/// Byte order and word size of a target. A sealed trait: only the four types in this module
/// implement it.
pub trait Target: sealed::Sealed {
    /// Byte order of every number in the image.
    const ORDER: ByteOrder;
    /// Size of a word. With [`Width::Bits32`], addresses and values are truncated to their low 32
    /// bits, as in ports that keep `ULONG` at 32 bits on a 64-bit machine.
    const WIDTH: Width;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! target {
    ($(#[$doc:meta])* $name:ident, $order:ident, $width:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl sealed::Sealed for $name {}

        impl Target for $name {
            const ORDER: ByteOrder = ByteOrder::$order;
            const WIDTH: Width = Width::$width;
        }
    };
}

target!(
    /// Little endian, 32-bit words, as on nearly every target.
    Little32, Little, Bits32
);
target!(
    /// Big endian, 32-bit words.
    Big32, Big, Bits32
);
target!(
    /// Little endian, 64-bit words. TraceX cannot read these.
    Little64, Little, Bits64
);
target!(
    /// Big endian, 64-bit words. TraceX cannot read these.
    Big64, Big, Bits64
);

/// 32-bit words in the byte order of the machine that this code runs on.
#[cfg(target_endian = "little")]
pub type Native32 = Little32;
/// 32-bit words in the byte order of the machine that this code runs on.
#[cfg(target_endian = "big")]
pub type Native32 = Big32;
