//! The operations that print: texts, fields, data, macros, flags, names of objects.

use super::{GO_ON, Run, Step};
use crate::template::entry::Entry;
use crate::template::machine::print;
use crate::template::machine::read::{self, Value};
use crate::template::program::{NumberForm, Source};
use crate::template::syntax::Code;
use crate::text::{Reservation, put};

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
                // Numbers of up to 8 bytes are converted at once. Longer data is converted byte by
                // byte.
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
        self.blank_after(code);
        GO_ON
    }

    #[inline]
    pub(super) fn blank_after(&mut self, code: Code) {
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
        match self.context.names.process(pid) {
            Some(name) => self.lines.put(name),
            None => put(self.lines.buffer(), format_args!("pid={pid}")),
        }
    }

    pub(super) fn print_text(&mut self, value: Value, code: Code) -> Step {
        let bytes = value.text.map_or(&[][..], |text| read::text(text, self.entry, self.context));
        self.spend_on_bytes(bytes.len())?;
        let width = if let Code::Ascii { width, .. } = code { width } else { None };
        print::ascii(self.lines.buffer(), bytes, width);
        self.blank_after(code);
        GO_ON
    }

    pub(super) fn print_bits(&mut self, total: u64) -> Step {
        let Some(start) =
            self.pointer.base.checked_mul(8).and_then(|b| b.checked_add(self.pointer.at))
        else {
            return self.truncated();
        };
        // Check that the first and the last bit exist, so that nothing is printed if data is
        // missing.
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

    /// Prints texts and numbers alternately.
    // This function is not inlined, so that it can use all registers.
    #[inline(never)]
    pub(super) fn fields(&mut self, row: u32) -> Step {
        let (program, entry) = (self.program, self.entry);
        let Some(row) = program.field_rows.get(row as usize) else { return GO_ON };
        let fields = program.fields.get(row.fields.range()).unwrap_or_default();
        // A row of fields has no loop, so the step limit can be checked at the next operation.
        self.steps = self.steps.saturating_sub(fields.len() as u32);
        let known = self.known();
        let begin = self.pointer.place();
        let mut at = begin;
        // The compiler computed the maximum length of the row, so no field checks the capacity.
        let mut room = self.lines.buffer().room(row.room as usize);
        for field in fields {
            room = room.short(&field.text);
            let size = read::bytes(field.number.size, entry);
            let number = number(field.number.source, size, entry, &mut at, known);
            let Some(number) = number else {
                // The fields before the missing data stay in the line, and the mark follows them.
                room.done();
                return self.truncated();
            };
            room = put_number(room, number, field.number.form, size);
        }
        room.short(&row.tail).done();
        self.pointer.go_on(at - begin);
        GO_ON
    }

    /// Returns a number in a common form, or `None` if data is missing.
    #[inline(always)]
    pub(super) fn number(&mut self, source: Source, size: usize) -> Option<u64> {
        let known = self.known();
        let begin = self.pointer.place();
        let mut at = begin;
        let number = number(source, size, self.entry, &mut at, known);
        self.pointer.go_on(at - begin);
        number
    }

    /// Returns the number for each variant of [`EventValue`](crate::template::program::EventValue),
    /// in the order of the variants.
    #[inline(always)]
    fn known(&self) -> [u64; 3] {
        [u64::from(self.entry.hook_data), self.context.tid, self.context.pid]
    }

    /// Prints a macro in the default form, without a code.
    pub(super) fn print_plain(&mut self, value: Value) -> Step {
        match value.text {
            Some(text) => {
                let bytes = read::text(text, self.entry, self.context);
                self.spend_on_bytes(bytes.len())?;
                // Recorded bytes can have any value, but names of programs and logs are already
                // printable.
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

    /// Prints the value of a macro in the form that a code specifies.
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
                // If a number is printed as text, its bytes are the characters, for example four
                // letters in a word.
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
        self.blank_after(code);
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

    /// Pops the arguments of a call. The first argument is the key of an object. Prints the name of
    /// the object, or the key if the object has no name.
    pub(super) fn object(&mut self, arguments: usize) {
        let first = self.state.stack.len().saturating_sub(arguments);
        let key = self.state.stack.get(first).map_or(0, |value| value.number as u64);
        self.state.stack.truncate(first);
        match self.context.names.object(key) {
            Some(name) => self.lines.put(name),
            None => print::plain(self.lines.buffer(), key),
        }
        self.lines.buffer().byte(b' ');
    }
}

/// Returns a number. If the source is the data pointer, reads the number at `at` and advances `at`.
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
        Source::Event(which) => Some(known[which as usize]),
    }
}

/// Prints the low `size` bytes of a number.
#[inline(always)]
fn put_number(
    room: Reservation<'_>,
    number: u64,
    form: NumberForm,
    size: usize,
) -> Reservation<'_> {
    if form == NumberForm::Hex {
        return room.hexadecimal_bytes(number, size);
    }
    // Shifting to the top and back extends the sign, or clears the bits above the size.
    let shift = 64 - 8 * size as u32;
    let signed = (number << shift) as i64 >> shift;
    if form == NumberForm::Signed && signed.is_negative() {
        room.signed(signed)
    } else {
        room.decimal(number << shift >> shift)
    }
}
