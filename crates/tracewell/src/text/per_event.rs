//! A table with an entry for each event id.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// A table with an entry for each event id. An entry is added when its id first appears. Small ids
/// are indices, large ids are hashed.
///
/// ```
/// use tracewell::text::PerEvent;
///
/// let mut labels = PerEvent::default();
/// assert_eq!(labels.get(7, || "made"), &"made");
/// assert_eq!(labels.get(7, || "made again"), &"made");
/// ```
#[derive(Clone, Debug)]
pub struct PerEvent<T> {
    small: Vec<Option<Box<T>>>,
    large: HashMap<u32, T, RandomState>,
}

/// Ids below this number are in the direct table, which occupies at most 512 KiB.
const SMALL: usize = 1 << 16;

/// Maximum number of large ids, so that a trace with a new id in every event cannot fill memory.
const LARGE: usize = 1 << 16;

impl<T> Default for PerEvent<T> {
    fn default() -> Self {
        Self { small: Vec::new(), large: HashMap::default() }
    }
}

impl<T> PerEvent<T> {
    /// Returns the entry of an id, or `None`.
    #[inline]
    pub fn find(&self, id: u32) -> Option<&T> {
        let index = id as usize;
        if index < SMALL {
            return self.small.get(index)?.as_deref();
        }
        self.large.get(&id)
    }

    /// Returns the entry of an id, or `None`.
    #[inline]
    pub fn find_mut(&mut self, id: u32) -> Option<&mut T> {
        let index = id as usize;
        if index < SMALL {
            return self.small.get_mut(index)?.as_deref_mut();
        }
        self.large.get_mut(&id)
    }

    /// Returns the entry of an id. Creates it with `make` if there is none.
    #[inline]
    pub fn get(&mut self, id: u32, make: impl FnOnce() -> T) -> &mut T {
        let index = id as usize;
        if index < SMALL {
            if index >= self.small.len() {
                self.small.resize_with(index + 1, || None);
            }
            // Boxed, so that an unused slot is only a pointer.
            return self.small[index].get_or_insert_with(|| Box::new(make()));
        }
        if self.large.len() >= LARGE {
            // Entries can be created again, so dropping all of them only costs time.
            self.large.clear();
        }
        self.large.entry(id).or_insert_with(make)
    }
}
