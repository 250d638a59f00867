//! Symbol records, which name things. A record contains a key (an address or a number) and a
//! string.
//!
//! The records differ in the type of the key. In some records, an owner precedes the key
//! (`RKH_TR_FWK_*` of `rkhtrc_record.h`). There is no padding between fields.

/// The kind of thing that a symbol record names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// Data at an address.
    Object,
    /// An active object, at an address.
    ActiveObject,
    /// A queue, at an address.
    Queue,
    /// A timer, at an address.
    Timer,
    /// Any sender of events.
    Actor,
    /// A function, at an address.
    Function,
    /// A state of an active object.
    State,
    /// A pseudostate of an active object.
    Pseudostate,
    /// A signal; the key is its number.
    Signal,
    /// An event pool. In 3.x the key is the pool's number, counted from 0; in older versions, its
    /// address.
    EventPool,
    /// A user event; the key is its number, counted from 0.
    UserEvent,
}

impl SymbolKind {
    /// Returns the more general kind that versions of RKH without this kind use instead.
    pub const fn broader(self) -> Option<Self> {
        match self {
            Self::ActiveObject | Self::Queue | Self::Timer | Self::Actor => Some(Self::Object),
            Self::Pseudostate => Some(Self::State),
            _ => None,
        }
    }
}

/// The arguments of a symbol record.
///
/// ```
/// use tracewell_wire::rkh::Symbol;
///
/// let symbol = Symbol { owner: None, key: 0x2000_0100, name: b"&blinky" };
/// let mut bytes = [0; 16];
/// assert_eq!(symbol.write(4, 4, &mut bytes), Some(12));
/// assert_eq!(symbol.spoken(), b"blinky");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol<'a> {
    /// The active object that a state belongs to; `None` in all other records.
    pub owner: Option<u32>,
    /// The address or number of the named thing.
    pub key: u32,
    /// The name, without its terminating zero.
    pub name: &'a [u8],
}

impl<'a> Symbol<'a> {
    /// Returns the name as Trazer shows it, without a leading `&`.
    pub fn spoken(&self) -> &'a [u8] {
        self.name.strip_prefix(b"&").unwrap_or(self.name)
    }

    /// Writes the arguments with an owner of `pointer` bytes and a key of `key_bytes` bytes.
    /// Returns their length, or `None` if `out` is too short or the name contains a zero.
    pub fn write(&self, pointer: u8, key_bytes: u8, out: &mut [u8]) -> Option<usize> {
        if self.name.contains(&0) {
            return None;
        }
        let mut at = 0;
        let owner = self.owner.map(|owner| (owner, pointer));
        for (value, bytes) in owner.into_iter().chain([(self.key, key_bytes)]) {
            let bytes = usize::from(bytes);
            out.get_mut(at..at + bytes)?.copy_from_slice(value.to_le_bytes().get(..bytes)?);
            at += bytes;
        }
        out.get_mut(at..at + self.name.len())?.copy_from_slice(self.name);
        at += self.name.len();
        *out.get_mut(at)? = 0;
        Some(at + 1)
    }
}
