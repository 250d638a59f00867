//! Stores which event ids occurred in a trace.

/// A set of event ids below [`EventIds::LIMIT`]. Schemas do not define larger ids.
///
/// ```
/// use tracewell::model::EventIds;
///
/// let mut ids = EventIds::default();
/// ids.insert(52);
/// assert!(ids.contains(52) && !ids.contains(53));
/// // Larger ids are not stored, so any of them may be in the set.
/// ids.insert(1 << 20);
/// assert!(ids.contains(70_000));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventIds {
    /// A bit for each id below the limit.
    bits: Vec<u64>,
    has_larger: bool,
}

impl Default for EventIds {
    fn default() -> Self {
        Self { bits: vec![0; Self::LIMIT as usize / 64], has_larger: false }
    }
}

impl EventIds {
    /// Ids below this number are stored.
    pub const LIMIT: u32 = 1 << 16;

    /// Adds an id. If the id is at or above the limit, stores only that there is such an id.
    pub fn insert(&mut self, id: u32) {
        match self.bits.get_mut(id as usize / 64) {
            Some(bits) => *bits |= 1 << (id % 64),
            None => self.has_larger = true,
        }
    }

    /// Returns true if an id is in the set. If any id at or above the limit was added, returns true
    /// for all such ids.
    pub fn contains(&self, id: u32) -> bool {
        let bits = self.bits.get(id as usize / 64);
        bits.map_or(self.has_larger, |bits| bits >> (id % 64) & 1 == 1)
    }

    /// Returns true if an id at or above the limit was added.
    pub fn has_larger(&self) -> bool {
        self.has_larger
    }

    /// Returns the ids below the limit, in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0..Self::LIMIT).filter(|id| self.contains(*id))
    }
}
