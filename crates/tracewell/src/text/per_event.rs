//! Something prepared once for each event id: a plan for its line, say.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// A table by event id, filled as ids turn up: small ids by index, large ones by hash.
#[derive(Debug)]
pub struct PerEvent<T> {
    small: Vec<Option<Box<T>>>,
    large: HashMap<u32, T, RandomState>,
}

/// Ids below this have an entry in the direct table (512 KiB when the largest of them turns up).
const SMALL: usize = 1 << 16;

/// Large ids remembered; a trace of nothing but different ones must not fill memory.
const LARGE: usize = 1 << 16;

impl<T> Default for PerEvent<T> {
    fn default() -> Self {
        Self { small: Vec::new(), large: HashMap::default() }
    }
}

impl<T> PerEvent<T> {
    /// What was made for this id, if it was.
    #[inline]
    pub fn find(&self, id: u32) -> Option<&T> {
        let index = id as usize;
        if index < SMALL {
            return self.small.get(index)?.as_deref();
        }
        self.large.get(&id)
    }

    /// What was made for this id, made now if it was not there.
    #[inline]
    pub fn get(&mut self, id: u32, make: impl FnOnce() -> T) -> &mut T {
        let index = id as usize;
        if index < SMALL {
            if index >= self.small.len() {
                self.small.resize_with(index + 1, || None);
            }
            return self.small[index].get_or_insert_with(|| Box::new(make()));
        }
        if self.large.len() >= LARGE {
            self.large.clear();
        }
        self.large.entry(id).or_insert_with(make)
    }
}
