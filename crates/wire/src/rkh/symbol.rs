//! Records that name things: an address or a number, and a text.
//!
//! The records differ in what the key is and in whether an owner comes before it
//! (`RKH_TR_FWK_*` of `rkhtrc_record.h`); the layout is that of the fields, without padding.

/// What a symbol record names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// Data at an address.
    Object,
    /// An active object.
    ActiveObject,
    /// A queue.
    Queue,
    /// A timer.
    Timer,
    /// Anything that posts events.
    Actor,
    /// A function.
    Function,
    /// A state of an active object.
    State,
    /// A pseudostate of an active object.
    Pseudostate,
    /// A signal, by number.
    Signal,
    /// An event pool: by number, from 0 on, in 3.x; before that by address.
    EventPool,
    /// A user event, by number from 0 on.
    UserEvent,
}

impl SymbolKind {
    /// The kind under which a version without this one names the same thing.
    pub const fn broader(self) -> Option<Self> {
        match self {
            Self::ActiveObject | Self::Queue | Self::Timer | Self::Actor => Some(Self::Object),
            Self::Pseudostate => Some(Self::State),
            _ => None,
        }
    }
}

/// The arguments of a symbol record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol<'a> {
    /// The active object that a state belongs to; `None` in all other records.
    pub owner: Option<u32>,
    /// Address or number.
    pub key: u32,
    /// The name, without the zero that ends it.
    pub name: &'a [u8],
}

impl<'a> Symbol<'a> {
    /// The name as Trazer shows it: without one leading `&`.
    pub fn spoken(&self) -> &'a [u8] {
        self.name.strip_prefix(b"&").unwrap_or(self.name)
    }

    /// Writes the arguments with an owner of `pointer` bytes and a key of `key_bytes`; how many
    /// bytes they took, `None` where `out` is too short or the name has a zero in it.
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
