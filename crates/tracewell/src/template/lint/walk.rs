//! Walks a description in the order in which it runs, and follows the data pointer as long as its
//! position is known.

use super::scope::Scope;
use super::{System, switches};
use crate::source::{Finding, Span};
use crate::template::syntax::{
    Body, Code, Expr, Item, ItemKind, Macro, Move, Size, Stanza, Value, ValueKind,
};

/// Maximum length of an entry in bytes: a 64-bit hook word and a length of 16 bits.
const MAX_ENTRY_LEN: u64 = 8 + 65_535;

/// Length of the hook data in bits. In entries of trchook, the pointer starts at the hook data.
const HOOK_DATA: u64 = 16;

pub(super) struct Walk<'a> {
    scope: &'a Scope<'a>,
    stanza: &'a Stanza,
    findings: &'a mut Vec<Finding>,
    system: System,
    /// True if a code has moved the pointer to another position.
    has_moved: bool,
    /// Lower bound of the pointer, in bits from the start of the entry. `None` if it depends on a
    /// macro, a call or a branch.
    pointer: Option<u64>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        scope: &'a Scope<'a>,
        (stanza, system): (&'a Stanza, System),
        findings: &'a mut Vec<Finding>,
    ) -> Self {
        Self { scope, stanza, findings, system, has_moved: false, pointer: Some(0) }
    }

    pub(super) fn stanza(&mut self) {
        if let Some(label) = self.stanza.label.as_ref().filter(|label| label.value == "@") {
            self.warn(label.span, "empty label: lists show nothing for this event");
        }
        self.items(&self.stanza.body);
    }

    fn warn(&mut self, span: Span, message: impl Into<String>) {
        self.findings.push(Finding::warning(span, message));
    }

    fn items(&mut self, items: &'a [Item]) {
        let mut ended = None;
        for item in items {
            if let Some(action) = ended.take() {
                self.warn(
                    item.span,
                    format!("this never runs: ${action} ends the event before this"),
                );
            }
            self.item(item);
            if let ItemKind::Value(Value {
                kind: ValueKind::Macro(Macro { name, code: None }), ..
            }) = &item.kind
                && matches!(name.as_str(), "BREAK" | "STOP" | "SKIP" | "ERROR")
            {
                ended = Some(name);
            }
        }
    }

    fn item(&mut self, item: &'a Item) {
        match &item.kind {
            ItemKind::Text(_) | ItemKind::Level(_) => {}
            ItemKind::Move(code) => self.go(*code),
            ItemKind::Value(value) => self.printed(value),
            ItemKind::Switch(switch) => {
                self.value(&switch.value);
                switches::cases(switch, self.findings);
                for case in &switch.cases {
                    if let Body::Block(items) = &case.body {
                        self.branch(items);
                    }
                }
            }
            ItemKind::Loop(value, body) => {
                self.value(value);
                self.branch(body);
            }
            ItemKind::Flags(flags) => {
                self.value(&flags.value);
                switches::flags(flags, self.findings);
            }
            ItemKind::Assign(assignments) => {
                for assignment in assignments {
                    self.expression(&assignment.value);
                    if matches!(assignment.name.as_str(), "DATAPOINTER" | "BASEPOINTER") {
                        self.pointer = None;
                    }
                }
            }
            ItemKind::Define(function) => {
                let before = self.pointer.take();
                self.items(&function.body);
                // The definition itself does not move the pointer. In its body, the position is
                // unknown, because it depends on the call.
                self.pointer = before;
            }
            ItemKind::Call(call) => {
                if let Some(message) = self.scope.call_fault(&call.name, call.arguments.len()) {
                    self.warn(item.span, message);
                }
                call.arguments.iter().for_each(|argument| self.expression(argument));
                self.pointer = None;
            }
            ItemKind::Timer { key, .. } => key.iter().for_each(|part| self.expression(part)),
        }
    }

    /// Walks items that may run any number of times, or never. If they move the pointer, its
    /// position is unknown afterwards.
    fn branch(&mut self, items: &'a [Item]) {
        let before = self.pointer;
        self.items(items);
        if self.pointer != before {
            self.pointer = None;
        }
    }

    fn printed(&mut self, value: &'a Value) {
        match &value.kind {
            ValueKind::Macro(Macro { name, code: None }) => {
                if let Some(message) = self.scope.print_fault(name) {
                    self.warn(value.span, message);
                }
                // A called template also moves the pointer.
                self.pointer = None;
            }
            _ => self.value(value),
        }
    }

    fn value(&mut self, value: &'a Value) {
        match &value.kind {
            ValueKind::Code(code) => self.read(*code, value.span),
            ValueKind::Macro(Macro { name, .. }) => {
                if let Some(message) = self.scope.value_fault(name) {
                    self.warn(value.span, message);
                }
            }
        }
    }

    fn expression(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Constant(_) => {}
            Expr::Value(value) => self.value(value),
            Expr::Negate(inner) => self.expression(inner),
            Expr::Binary(_, sides) => sides.iter().for_each(|side| self.expression(side)),
        }
    }

    fn go(&mut self, code: Move) {
        self.has_moved = true;
        self.pointer = match (code, self.pointer) {
            (Move::Go(field), _) => Some(field.total()),
            (Move::Omit(field), Some(at)) => Some(at + field.total()),
            // A word has at least 4 bytes.
            (Move::Word(word), _) => Some(32 * u64::from(word)),
            // Moving back also moves the pointer to the start of a byte.
            (Move::Back(bytes), Some(at)) => Some((at & !7).saturating_sub(8 * u64::from(bytes))),
            (_, None) => None,
        };
    }

    fn read(&mut self, code: Code, span: Span) {
        let Some(at) = self.pointer else { return };
        let bits = match code {
            Code::Hex(size) | Code::Signed(size) | Code::Unsigned(size) => match size {
                Size::Bytes(bytes) => 8 * u64::from(bytes),
                Size::Word => 32,
            },
            Code::HexByte | Code::Character => 8,
            Code::Octal(bytes) | Code::Errno(bytes) => 8 * u64::from(bytes),
            Code::Ascii { bytes, .. } => 8 * u64::from(bytes),
            Code::Bits(field) => field.total(),
            Code::Float | Code::Time | Code::Process => 32,
            Code::Double => 64,
            Code::Counted(bytes) => 8 * u64::from(bytes),
            Code::Terminated => 8,
            Code::BufferBytes | Code::HookType => 0,
        };
        let end = at + bits;
        let is_number = !matches!(
            code,
            Code::Ascii { .. } | Code::Bits(_) | Code::Counted(_) | Code::Terminated
        );
        let is_split = at < HOOK_DATA && end > HOOK_DATA;
        // Ids of four digits may belong to another system.
        let is_hook = self.system == System::Aix && self.stanza.key_text.len() == 3;
        if is_hook && !self.has_moved && is_number && is_split {
            let message = "in an entry of trchook, this number begins with the hook data, 2 bytes \
                           before the first data word: use $D1, or G4 before it (G8 in a 64-bit \
                           entry); in a 32-bit entry of trcgen, it is the data word";
            self.warn(span, message);
        }
        // Warn only once, because every code after this one would also read past the entry.
        if bits > 0 && end > 8 * MAX_ENTRY_LEN {
            let message = format!("no entry has this many bytes: the maximum is {MAX_ENTRY_LEN}");
            self.warn(span, message);
            self.pointer = None;
        } else {
            self.pointer = Some(end);
        }
    }
}
