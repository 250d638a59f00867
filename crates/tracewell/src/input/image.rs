//! stub
use crate::model::Severity;
#[derive(Clone, Copy)]
pub enum Encoding {}
impl std::fmt::Display for Encoding {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
pub struct D {
    pub severity: Severity,
    pub offset: Option<u64>,
}
impl std::fmt::Display for D {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
pub struct M;
impl M {
    pub fn into_bytes(self) -> Vec<u8> {
        vec![]
    }
}
pub struct R {
    pub diagnostics: Vec<D>,
    pub image: M,
}
pub fn recognise(_: &[u8]) -> Option<Encoding> {
    None
}
pub fn decode(_: Encoding, _: &[u8]) -> R {
    R { diagnostics: vec![], image: M }
}
