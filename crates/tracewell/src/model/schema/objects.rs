//! Types of objects.

/// A type of objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectKind {
    /// Type code as recorded.
    pub code: u32,
    /// The name that the dialect itself uses.
    pub symbol: String,
    /// The noun used in reports, such as `mutex`.
    pub label: String,
    /// Names of the parameters that are recorded at creation.
    pub parameters: Vec<String>,
    /// Number that is added to an argument to get the object's key. If objects of different types
    /// are recorded with the same number, this addition gives them different keys.
    pub keys: u64,
    /// True if arguments are object numbers, which are shown in decimal; false if they are
    /// addresses.
    pub numbered: bool,
    /// The parameters that determine the capacity.
    pub capacity: Option<Capacity>,
    /// Index of the parameter with the process number, if the system has processes.
    pub process: Option<usize>,
}

impl ObjectKind {
    /// Returns the capacity of an object of this type, computed from its parameters. `word` is the
    /// number of bytes in a word of the traced system.
    pub fn capacity(&self, parameters: &[u64], word: u64) -> Option<u64> {
        let capacity = self.capacity.as_ref()?;
        let each = match capacity.words {
            Some(words) => parameters.get(words)?.checked_mul(word)?,
            None => 1,
        };
        parameters.get(capacity.bytes)?.checked_div(each)
    }
}

/// The parameters that determine an object's capacity. The capacity is the size in bytes divided by
/// the size of one element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacity {
    /// Index of the parameter with the size in bytes.
    pub bytes: usize,
    /// Index of the parameter with the element size in words; `None` if the elements are bytes.
    pub words: Option<usize>,
}
