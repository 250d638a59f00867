//! stub
use std::sync::Arc;
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableId(pub u16);
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentKind {
    Unsigned,
    Signed,
    Hex,
    Address,
    Object(Option<u32>),
    Enum(TableId),
    Flags(TableId),
    Ipv4,
    Unnamed,
}
#[derive(Debug)]
pub struct Argument {
    pub name: String,
    pub kind: ArgumentKind,
}
#[derive(Debug)]
pub struct EventType {
    pub id: u32,
    pub name: String,
    pub label: String,
    pub args: Vec<Argument>,
}
#[derive(Debug)]
pub struct Schema {
    e: EventType,
}
pub struct ObjectKind {
    pub label: String,
}
impl Schema {
    pub fn threadx() -> Arc<Schema> {
        Arc::new(Schema {
            e: EventType {
                id: 0,
                name: "TX_TRACE_SEMAPHORE_GET".into(),
                label: "tx_semaphore_get".into(),
                args: vec![
                    Argument { name: "thread_ptr".into(), kind: ArgumentKind::Object(Some(1)) },
                    Argument { name: "new_state".into(), kind: ArgumentKind::Unsigned },
                    Argument { name: "stack_ptr".into(), kind: ArgumentKind::Address },
                    Argument { name: "next_thread".into(), kind: ArgumentKind::Object(Some(1)) },
                ],
            },
        })
    }
    pub fn object_kind(&self, _: u32) -> Option<&ObjectKind> {
        None
    }
    pub fn event(&self, _: u32) -> &EventType {
        &self.e
    }
    pub fn enum_name(&self, _: TableId, _: u64) -> Option<&str> {
        None
    }
    pub fn flags(&self, _: TableId) -> impl Iterator<Item = (u64, &str)> {
        [].into_iter()
    }
}
