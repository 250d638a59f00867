//! stub
pub const DEFAULT_SEARCH: usize = 65536;
pub fn locate(_: &[u8], _: usize) -> Option<usize> {
    None
}
