//! One slot of the object registry.
//!
//! | 32-bit | 64-bit | name | content |
//! |---|---|---|---|
//! | 0 | 0 | available | 1 = may be reused, 0 = object alive |
//! | 1 | 1 | type | object type code, 0 = never used |
//! | 2 | 2 | reserved1 | threads: 0x80 OR (priority >> 8) |
//! | 3 | 3 | reserved2 | threads: priority AND 0xFF |
//! | 4 | 8 | object pointer | address of the control block |
//! | 8 | 16 | parameter 1 | depends on the type |
//! | 12 | 24 | parameter 2 | depends on the type |
//! | 16 | 32 | name | bytes up to the first NUL; stale memory after it |

use super::{Layout, Width};

/// A registry slot. The name borrows from the image.
///
/// ```
/// use tracewell_wire::ByteOrder;
/// use tracewell_wire::threadx::{Layout, RegistrySlot, Width, ids};
///
/// let [reserved1, reserved2] = RegistrySlot::priority_bytes(300);
/// let slot = RegistrySlot {
///     available: 0,
///     object_type: ids::object::THREAD,
///     reserved1,
///     reserved2,
///     pointer: 0x2000_1000,
///     parameter1: 0x2000_2000,
///     parameter2: 1024,
///     name: b"control",
/// };
/// let layout = Layout { order: ByteOrder::Little, width: Width::Bits32, name_size: 32 };
/// let mut bytes = [0; 48];
/// slot.write(layout, &mut bytes).unwrap();
/// assert_eq!(RegistrySlot::read(layout, &bytes), Some(slot));
/// assert_eq!(slot.priority(), Some(300));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegistrySlot<'a> {
    /// 1 if the slot can be reused, 0 while its object exists. Despite its name, the field
    /// describes the slot, not the object.
    pub available: u8,
    /// Object type code, one of [`super::ids::object`]; 0 in a slot that was never used.
    pub object_type: u8,
    /// For threads, the flag 0x80 and the upper two bits of the priority.
    pub reserved1: u8,
    /// For threads, the lower eight bits of the priority.
    pub reserved2: u8,
    /// Address of the object's control block.
    pub pointer: u64,
    /// First parameter; its meaning depends on the type.
    pub parameter1: u64,
    /// Second parameter; its meaning depends on the type.
    pub parameter2: u64,
    /// Name without its NUL, at most `name_size` bytes in an unspecified encoding.
    pub name: &'a [u8],
}

impl<'a> RegistrySlot<'a> {
    /// Returns the priority that a thread had when it was registered, or `None` if the kernel did
    /// not record it. Releases 5.x leave both bytes 0.
    pub const fn priority(&self) -> Option<u16> {
        if self.reserved1 & 0x80 == 0 {
            return None;
        }
        Some(((self.reserved1 as u16 & 3) << 8) | self.reserved2 as u16)
    }

    /// Returns the two reserved bytes of a thread with this priority.
    pub const fn priority_bytes(priority: u16) -> [u8; 2] {
        [0x80 | (priority >> 8) as u8, priority as u8]
    }

    /// Reads the slot at the start of `bytes`. Returns `None` if the bytes are too few.
    pub fn read(layout: Layout, bytes: &'a [u8]) -> Option<Self> {
        let bytes = bytes.get(..layout.registry_slot_size())?;
        let at = Offsets::of(layout);
        let name = bytes.get(at.name..at.name + usize::from(layout.name_size))?;
        // A name that fills its field has no NUL.
        let length = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        let &[available, object_type, reserved1, reserved2] = bytes.first_chunk()?;
        Some(Self {
            available,
            object_type,
            reserved1,
            reserved2,
            pointer: layout.word(bytes, at.pointer)?,
            parameter1: layout.word(bytes, at.parameter1)?,
            parameter2: layout.word(bytes, at.parameter2)?,
            name: name.get(..length)?,
        })
    }

    /// Writes the slot at the start of `bytes`. Returns `None` if the bytes are too few.
    ///
    /// Like the kernel, writes at most `name_size - 1` bytes of the name and a NUL, and leaves the
    /// bytes after the NUL unchanged.
    pub fn write(&self, layout: Layout, bytes: &mut [u8]) -> Option<()> {
        let bytes = bytes.get_mut(..layout.registry_slot_size())?;
        let at = Offsets::of(layout);
        *bytes.first_chunk_mut()? =
            [self.available, self.object_type, self.reserved1, self.reserved2];
        layout.put_word(bytes, at.pointer, self.pointer)?;
        layout.put_word(bytes, at.parameter1, self.parameter1)?;
        layout.put_word(bytes, at.parameter2, self.parameter2)?;
        // Reserve the last byte of the field for the NUL.
        let kept = self.name.len().min(usize::from(layout.name_size).saturating_sub(1));
        let field = bytes.get_mut(at.name..at.name + usize::from(layout.name_size))?;
        field.get_mut(..kept)?.copy_from_slice(self.name.get(..kept)?);
        if let Some(end) = field.get_mut(kept) {
            *end = 0;
        }
        Some(())
    }
}

struct Offsets {
    pointer: usize,
    parameter1: usize,
    parameter2: usize,
    name: usize,
}

impl Offsets {
    const fn of(layout: Layout) -> Self {
        match layout.width {
            Width::Bits32 => Self { pointer: 4, parameter1: 8, parameter2: 12, name: 16 },
            Width::Bits64 => Self { pointer: 8, parameter1: 16, parameter2: 24, name: 32 },
        }
    }
}
