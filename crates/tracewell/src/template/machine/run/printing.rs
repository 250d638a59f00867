//! What a run prints: texts, fields, data with a code, macros, flags, names of objects.

use super::{GO_ON, Run, Step};
use crate::template::entry::Entry;
use crate::template::machine::print;
use crate::template::machine::read::{self, Value};
use crate::template::program::{NumberForm, Source};
use crate::template::syntax::Code;
use crate::text::{Room, put};

impl Run<'_> {
    #[inline(always)]
    pub(super) fn text(&mut self, text: u32) {
        let Some(text) = self.program.texts.get(text as usize) else { return };
        match &text.broken {
            None => self.lines.buffer().literal(&text.literal),
            Some(broken) => self.lines.text_with_breaks(broken),
        }
    }

    #[inline(always)]
    pub(super) fn print(&mut self, code: Code) -> Step {
        match code {
            Code::Hex(size) => {
                let size = read::bytes(size, self.entry);
                let at = self.pointer.byte();
                let Some(bytes) = self.entry.slice(at, size) else { return self.truncated() };
                self.pointer.skip(size);
                match self.entry.number(at, size).filter(|_| size <= 8) {
                    Some(number) => print::hexadecimal(self.lines.buffer(), number, size),
                    None => print::hexadecimal_bytes(self.lines.buffer(), bytes),
                }
            }
            Code::Bits(field) => return self.print_bits(field.total()),
            Code::Ascii { .. } | Code::Character | Code::Counted(_) | Code::Terminated => {
                let value = self.read(code)?;
                return self.print_text(value, code);
            }
            Code::BufferBytes | Code::HookType => {
                let value = self.read(code)?;
                print::hexadecimal(self.lines.buffer(), value.number as u64 & 0xFFFF, 2);
            }
            _ => {
                let value = self.read(code)?;
                self.print_number(value, code);
            }
        }
        self.blank_behind(code);
        GO_ON
    }

    #[inline]
    pub(super) fn blank_behind(&mut self, code: Code) {
        if !matches!(code, Code::HexByte | Code::Character) {
            self.lines.buffer().byte(b' ');
        }
    }

    #[inline]
    pub(super) fn print_number(&mut self, value: Value, code: Code) {
        let size = read::number_size(code, self.entry).unwrap_or(8);
        if code != Code::Process {
            print::number(self.lines.buffer(), code, value.number, size);
            return;
        }
        let pid = value.number as u64;
        match self.around.names.process(pid) {
            Some(name) => self.lines.put(name),
            None => put(self.lines.buffer(), format_args!("pid={pid}")),
        }
    }

    pub(super) fn print_text(&mut self, value: Value, code: Code) -> Step {
        let bytes = value.text.map_or(&[][..], |text| read::text(text, self.entry, self.around));
        self.spend_on_bytes(bytes.len())?;
        let width = if let Code::Ascii { width, .. } = code { width } else { None };
        print::ascii(self.lines.buffer(), bytes, width);
        self.blank_behind(code);
        GO_ON
    }

    pub(super) fn print_bits(&mut self, total: u64) -> Step {
        let Some(start) =
            self.pointer.base.checked_mul(8).and_then(|b| b.checked_add(self.pointer.at))
        else {
            return self.truncated();
        };
        let end = start.saturating_add(total as i64);
        if read::bit(self.entry, start).is_none() || read::bit(self.entry, end - 1).is_none() {
            return self.truncated();
        }
        self.spend_on_bytes(total as usize)?;
        for at in start..end {
            let bit = read::bit(self.entry, at).unwrap_or_default();
            self.lines.buffer().byte(b'0' + u8::from(bit));
        }
        self.pointer.at = self.pointer.at.saturating_add(total as i64);
        self.lines.buffer().byte(b' ');
        GO_ON
    }

    /// Prints texts and numbers, one behind the other.
    // By itself it has all registers.
    #[inline(never)]
    pub(super) fn fields(&mut self, row: u32) -> Step {
        let (program, entry) = (self.program, self.entry);
        let Some(row) = program.field_rows.get(row as usize) else { return GO_ON };
        let fields = program.fields.get(row.fields.range()).unwrap_or_default();
        self.steps = self.steps.saturating_sub(fields.len() as u32);
        let known = self.known();
        let begin = self.pointer.place();
        let mut at = begin;
        let mut room = self.lines.buffer().room(row.room as usize);
        for field in fields {
            room = room.short(&field.text);
            let size = read::bytes(field.number.size, entry);
            let number = number(field.number.source, size, entry, &mut at, known);
            let Some(number) = number else {
                room.done();
                return self.truncated();
            };
            room = put_number(room, number, field.number.form, size);
        }
        room.short(&row.tail).done();
        self.pointer.go_on(at - begin);
        GO_ON
    }

    /// A number of one of the usual kinds; `None` where data is missing.
    #[inline(always)]
    pub(super) fn number(&mut self, source: Source, size: usize) -> Option<u64> {
        let known = self.known();
        let begin = self.pointer.place();
        let mut at = begin;
        let number = number(source, size, self.entry, &mut at, known);
        self.pointer.go_on(at - begin);
        number
    }

    /// The numbers of [`Known`](crate::template::program::Known), in its order.
    #[inline(always)]
    fn known(&self) -> [u64; 3] {
        [u64::from(self.entry.hook_data), self.around.tid, self.around.pid]
    }

    /// Prints a macro as macros are printed without a code.
    pub(super) fn print_plain(&mut self, value: Value) -> Step {
        match value.text {
            Some(text) => {
                let bytes = read::text(text, self.entry, self.around);
                self.spend_on_bytes(bytes.len())?;
                if let read::Text::Entry { .. } = text {
                    print::ascii(self.lines.buffer(), bytes, None);
                } else {
                    self.lines.buffer().text(bytes);
                }
            }
            None => print::plain(self.lines.buffer(), value.number as u64 & value.mask()),
        }
        self.lines.buffer().byte(b' ');
        GO_ON
    }

    /// Prints a macro with a code.
    pub(super) fn print_as(&mut self, value: Value, code: Code) -> Step {
        if value.text.is_some() {
            return match code {
                Code::Ascii { bytes, width } => self.print_start(value, bytes, width),
                _ => self.print_plain(value),
            };
        }
        let number = value.number as u64;
        match code {
            Code::Ascii { bytes, width } => {
                let all = number.to_be_bytes();
                let shown = &all[8 - usize::from(bytes.min(8))..];
                let end = shown.iter().position(|byte| *byte == 0).unwrap_or(shown.len());
                print::ascii(self.lines.buffer(), &shown[..end], width);
            }
            Code::Character => print::ascii(self.lines.buffer(), &[number as u8], None),
            Code::Bits(field) => {
                let bits = field.total().min(64);
                let digits = (0..bits).rev().map(|bit| b'0' + (number >> bit & 1) as u8);
                digits.for_each(|digit| self.lines.buffer().byte(digit));
            }
            _ => {
                let value = self.cut(value, code);
                self.print_number(value, code);
            }
        }
        self.blank_behind(code);
        GO_ON
    }

    pub(super) fn flags(&mut self, row: u32) -> Step {
        let value = self.pop();
        let source = value.number as u64 & value.mask();
        let row = self.program.flag_rows.get(row as usize).copied().unwrap_or_default();
        for flag in self.program.flags.get(row.range()).unwrap_or_default() {
            self.spend(1)?;
            let text = if source & flag.mask == flag.field { Some(flag.on) } else { flag.off };
            if let Some(text) = text {
                self.text(text);
            }
        }
        GO_ON
    }

    /// Prints the name of the object that the first of so many arguments is the key of.
    pub(super) fn object(&mut self, arguments: usize) {
        let first = self.state.stack.len().saturating_sub(arguments);
        let key = self.state.stack.get(first).map_or(0, |value| value.number as u64);
        self.state.stack.truncate(first);
        match self.around.names.object(key) {
            Some(name) => self.lines.put(name),
            None => print::plain(self.lines.buffer(), key),
        }
        self.lines.buffer().byte(b' ');
    }
}

/// A number; `at` is where the pointer stands, which moves on.
#[inline(always)]
fn number(
    source: Source,
    size: usize,
    entry: &Entry<'_>,
    at: &mut usize,
    known: [u64; 3],
) -> Option<u64> {
    match source {
        Source::Pointer => {
            let number = entry.short_number(*at, size);
            *at = at.saturating_add(size);
            number
        }
        Source::Word(index) => entry.word(index),
        Source::Known(which) => Some(known[which as usize]),
    }
}

/// Puts the low `size` bytes of a number.
#[inline(always)]
fn put_number(room: Room<'_>, number: u64, form: NumberForm, size: usize) -> Room<'_> {
    if form == NumberForm::Hex {
        return room.hexadecimal_bytes(number, size);
    }
    let shift = 64 - 8 * size as u32;
    let signed = (number << shift) as i64 >> shift;
    if form == NumberForm::Signed && signed.is_negative() {
        room.signed(signed)
    } else {
        room.decimal(number << shift >> shift)
    }
}
