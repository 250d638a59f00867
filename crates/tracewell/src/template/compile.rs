//! Compiles syntax trees to a program.

use std::collections::HashMap;

use super::parser::each_stanza;
use super::program::{
    Action, Callee, Case, Field, FieldRow, Flag, Function, Number, Operation, Pattern, Printed,
    Program, Quantity, Row, Source as NumberSource, SwitchRow, Target, Template, TemplateId, Then,
};
use super::syntax::{
    self, Body, Call, Code, Expr, FlagTest, Item, ItemKind, Key, Macro, Operator, Stanza, Switch,
    Value, ValueKind,
};
use crate::source::{Finding, Source};
use crate::text::{Literal, Reservation, ShortText, shown_lines};

/// A program, and the errors and warnings of its files.
///
/// # Examples
///
/// ```
/// use tracewell::template::{Program, Source};
///
/// let compiled = Program::of(&[Source::new("my.fmt", "0AA 1.0 X99\n0AB 1.0 X1")]);
/// assert!(!compiled.is_valid());
/// assert_eq!(compiled.findings[0].1.message, "X99: X takes 1 to 16 bytes, found 99");
/// assert!(compiled.program.of_id(0x0AA0).is_none() && compiled.program.of_id(0x0AB0).is_some());
/// ```
#[derive(Debug)]
pub struct Compiled {
    /// All stanzas without errors. If several stanzas are for the same event, the last stanza is
    /// used.
    pub program: Program,
    /// Errors and warnings, each with the index of its file.
    pub findings: Vec<(usize, Finding)>,
}

impl Compiled {
    /// Returns true if there are no errors. Warnings are allowed.
    pub fn is_valid(&self) -> bool {
        self.findings.iter().all(|(_, finding)| !finding.is_error)
    }
}

impl Program {
    /// Compiles template files together. Stanzas with errors are omitted, so their events are
    /// formatted as if they had no template.
    pub fn of(sources: &[Source]) -> Compiled {
        let mut compiler = Compiler::default();
        let mut findings = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            // Drop each tree before the next stanza is read, so that memory holds only one tree.
            let (_, found) = each_stanza(source, &mut |stanza| {
                if stanza.valid {
                    compiler.stanza(&stanza);
                }
            });
            findings.extend(found.into_iter().map(|finding| (number, finding)));
        }
        Compiled { program: compiler.program, findings }
    }
}

#[derive(Debug, Default)]
struct Compiler {
    program: Program,
    slots: HashMap<String, u16, foldhash::fast::RandomState>,
    functions: HashMap<String, u32, foldhash::fast::RandomState>,
    texts: HashMap<String, u32, foldhash::fast::RandomState>,
    /// Text to be printed before the next operation.
    pending: String,
    /// Maximum number of bytes that the fields of the current step print.
    room: usize,
}

/// The built-in function that prints the name of an object. It is an extension of AIX's language.
pub(super) const OBJECT: &str = "OBJECT";

impl Compiler {
    /// Returns the number by which calls refer to a function. The function may be defined later or
    /// not at all.
    fn function(&mut self, name: &str) -> u32 {
        if let Some(number) = self.functions.get(name) {
            return *number;
        }
        let number = self.program.functions.len() as u32;
        self.functions.insert(name.to_owned(), number);
        let callee =
            if name == OBJECT { Callee::Object } else { Callee::Missing(self.string(name)) };
        // A call may precede the definition, which then replaces this entry.
        self.program.functions.push(Function { callee, parameters: Vec::new() });
        number
    }

    /// Compiles a definition. The last definition of a name is used.
    fn define(&mut self, function: &syntax::Function) {
        let number = self.function(&function.name) as usize;
        let parameters = function.parameters.iter().map(|name| self.slot(name)).collect();
        let callee = Callee::Defined(self.here());
        self.items(&function.body);
        self.emit(Operation::Return);
        self.program.functions[number] = Function { callee, parameters };
    }

    fn stanza(&mut self, stanza: &Stanza) {
        let id = TemplateId(self.program.templates.len() as u32);
        let start = self.here();
        if let Some(label) = &stanza.label
            && !label.value.starts_with('@')
        {
            // A label with `@` is shown only in lists.
            self.pending = format!("{} ", shown_lines(&label.value));
        }
        // If another template calls this one, execution begins here, after the label.
        let body = self.here();
        self.items(&stanza.body);
        self.emit(Operation::Return);
        // The code of functions follows the code of the template that defines them.
        each_definition(&stanza.body, &mut |function| self.define(function));
        match &stanza.key {
            Key::Id(hook) => self.program.by_id.insert(*hook, id),
            Key::Name(name) => self.program.by_name.insert(name.clone(), id),
        };
        self.program.templates.push(Template {
            key: stanza.key.clone(),
            version: stanza.version,
            level: stanza.level.unwrap_or_default(),
            label: shown_lines(stanza.title()).into_owned(),
            start,
            body,
        });
    }

    /// Returns the index of the next operation. Emits pending text first, so that no text moves
    /// across a jump target.
    fn here(&mut self) -> u32 {
        self.end_fields();
        if !self.pending.is_empty() {
            let text = std::mem::take(&mut self.pending);
            let text = self.text(&text);
            self.program.operations.push(Operation::Text(text));
        }
        self.program.operations.len() as u32
    }

    /// Adds a number, with the text before it, as a field. Returns false if the code does not print
    /// a number in a common form.
    fn field(&mut self, source: NumberSource, code: Code) -> bool {
        let Some(number) = Number::of(source, code) else { return false };
        let text = self.short_pending().unwrap_or_else(|| {
            self.here();
            ShortText::EMPTY
        });
        self.room += ShortText::MAX_LEN + Reservation::NUMBER;
        self.program.fields.push(Field { text, number });
        // A space follows every number. It is printed together with the next text.
        self.pending.push(' ');
        true
    }

    /// Takes the pending text if it is short and on one line.
    fn short_pending(&mut self) -> Option<ShortText> {
        if self.pending.contains(['\n', '\t']) {
            return None;
        }
        let text = ShortText::new(&self.pending)?;
        self.pending.clear();
        Some(text)
    }

    /// Combines the collected fields into one step. The space at the end of the last field becomes
    /// the start of the text after the step.
    fn end_fields(&mut self) {
        let start = self.program.field_rows.last().map_or(0, |row| row.fields.end);
        let end = self.program.fields.len() as u32;
        // The fields collected since the last row become one step.
        if start < end {
            let tail = self.short_pending().unwrap_or_else(|| {
                self.pending.remove(0);
                ShortText::BLANK
            });
            let room = (std::mem::take(&mut self.room) + ShortText::MAX_LEN) as u32;
            self.program.field_rows.push(FieldRow { fields: Row { start, end }, tail, room });
            let row = self.program.field_rows.len() as u32 - 1;
            self.program.operations.push(Operation::Fields(row));
        }
    }

    fn emit(&mut self, operation: Operation) -> u32 {
        let at = self.here();
        self.program.operations.push(operation);
        at
    }

    fn text(&mut self, text: &str) -> u32 {
        // Reports repeat the same words, so equal texts share an entry.
        if let Some(number) = self.texts.get(text) {
            return *number;
        }
        self.texts.insert(text.to_owned(), self.program.texts.len() as u32);
        let broken = text.contains(['\n', '\t']).then(|| text.to_owned());
        self.program.texts.push(Printed { literal: Literal::new(text), broken });
        self.program.texts.len() as u32 - 1
    }

    fn string(&mut self, text: &str) -> u32 {
        self.program.strings.push(text.to_owned());
        self.program.strings.len() as u32 - 1
    }

    fn slot(&mut self, name: &str) -> u16 {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let slots = &mut self.program.slots;
        // Slot numbers have 16 bits, to keep operations small. If there are more names than slots,
        // the remaining names share the last slot. Real files have fewer than 6500 names.
        let number = u16::try_from(slots.len()).unwrap_or(u16::MAX);
        if slots.len() <= usize::from(number) {
            slots.push(name.to_owned());
        }
        self.slots.insert(name.to_owned(), number);
        number
    }

    fn items(&mut self, items: &[Item]) {
        items.iter().for_each(|item| self.item(item));
    }

    fn item(&mut self, item: &Item) {
        match &item.kind {
            // Texts are collected, so that neighbouring texts become one operation.
            ItemKind::Text(text) => self.pending.push_str(&shown_lines(&text.value)),
            ItemKind::Level(level) => drop(self.emit(Operation::Level(*level))),
            ItemKind::Move(code) => drop(self.emit(Operation::Move(*code))),
            ItemKind::Value(value) => self.print(value),
            ItemKind::Switch(switch) => self.switch(switch),
            ItemKind::Loop(value, body) => self.repetition(value, body),
            ItemKind::Flags(flags) => self.flags(flags),
            ItemKind::Assign(assignments) => {
                for assignment in assignments {
                    self.expression(&assignment.value);
                    let place = match assignment.name.as_str() {
                        "DATAPOINTER" => Target::DataPointer,
                        "BASEPOINTER" => Target::BasePointer,
                        name => Target::User(self.slot(name)),
                    };
                    self.emit(Operation::Store(place));
                }
            }
            ItemKind::Define(_) => {}
            ItemKind::Call(call) => self.call(call),
            ItemKind::Timer { start, key } => {
                key.iter().for_each(|part| self.expression(part));
                self.emit(if *start { Operation::StartTimer } else { Operation::EndTimer });
            }
        }
    }

    fn print(&mut self, value: &Value) {
        let operation = match &value.kind {
            ValueKind::Code(code) => {
                // Most values are numbers in a common form. The machine prints several such numbers
                // in one step.
                if self.field(NumberSource::Pointer, *code) {
                    return;
                }
                Operation::Print(*code)
            }
            ValueKind::Macro(Macro { name, code: Some(code) }) => {
                let quantity = self.quantity(name);
                if NumberSource::of(quantity).is_some_and(|source| self.field(source, *code)) {
                    return;
                }
                Operation::PrintQuantityAs(quantity, *code)
            }
            ValueKind::Macro(Macro { name, code: None }) => {
                match (action(name), Key::from_digits(name)) {
                    (Some(action), _) => Operation::Act(action),
                    // `$0AB` may be a macro or a template. The machine decides at run time.
                    (None, Some(id)) => Operation::PrintOrCall(self.slot(name), id),
                    (None, None) => Operation::PrintQuantity(self.quantity(name)),
                }
            }
        };
        self.emit(operation);
    }

    /// Emits the operation that pushes a value.
    fn load(&mut self, value: &Value) {
        let operation = match &value.kind {
            ValueKind::Code(code) => Operation::Read(*code),
            ValueKind::Macro(Macro { name, code: Some(code) }) => {
                Operation::LoadAs(self.quantity(name), *code)
            }
            ValueKind::Macro(Macro { name, code: None }) => Operation::Load(self.quantity(name)),
        };
        self.emit(operation);
    }

    fn quantity(&mut self, name: &str) -> Quantity {
        builtin(name).unwrap_or_else(|| Quantity::User(self.slot(name)))
    }

    fn switch(&mut self, switch: &Switch) {
        let row = self.program.switches.len();
        let number = row as u32;
        let operation = match &switch.value.kind {
            ValueKind::Code(code) => match Number::of(NumberSource::Pointer, *code) {
                Some(value) => Operation::SwitchNumber(value, number),
                None => Operation::SwitchRead(*code, number),
            },
            ValueKind::Macro(Macro { name, code: Some(code) }) => {
                let quantity = self.quantity(name);
                let source = NumberSource::of(quantity);
                match source.and_then(|source| Number::of(source, *code)) {
                    Some(value) => Operation::SwitchNumber(value, number),
                    None => Operation::SwitchLoadAs(quantity, *code, number),
                }
            }
            ValueKind::Macro(Macro { name, code: None }) => {
                Operation::SwitchLoad(self.quantity(name), number)
            }
        };
        self.emit(operation);
        // Nested switches add their cases to the table first, so collect the cases of this switch
        // until its end.
        self.program.switches.push(SwitchRow::default());
        let (mut cases, mut ends) = (Vec::new(), Vec::new());
        for case in &switch.cases {
            let pattern = match &case.pattern {
                syntax::Pattern::Any => Pattern::Any,
                syntax::Pattern::Number(number) => Pattern::Number(number.value),
                syntax::Pattern::Text(text) => Pattern::Text(self.string(text)),
            };
            let items = match &case.body {
                Body::Text(text) => {
                    cases.push(Case {
                        pattern,
                        then: Then::Text(self.text(&shown_lines(&text.value))),
                    });
                    continue;
                }
                Body::Block(items) => items,
            };
            // Each block ends with a jump past the switch. The target of the jump is set after the
            // last block.
            cases.push(Case { pattern, then: Then::Go(self.here()) });
            self.items(items);
            ends.push(self.emit(Operation::Jump(0)));
        }
        // All blocks are compiled, so the operation after the switch is known.
        let otherwise = self.here();
        for end in ends {
            self.program.operations[end as usize] = Operation::Jump(otherwise);
        }
        let choices = added(&mut self.program.choices, choices(&cases));
        let cases = added(&mut self.program.cases, cases);
        self.program.switches[row] = SwitchRow { cases, choices, otherwise };
    }

    fn repetition(&mut self, value: &Value, body: &[Item]) {
        self.load(value);
        // The target is the operation after the loop. It is set below, when it is known.
        let first = self.emit(Operation::Loop(0));
        self.items(body);
        let last = self.emit(Operation::Again(first + 1));
        self.program.operations[first as usize] = Operation::Loop(last + 1);
    }

    fn flags(&mut self, flags: &syntax::Flags) {
        self.load(&flags.value);
        let start = self.program.flags.len() as u32;
        for flag in &flags.flags {
            let (mask, field) = match &flag.test {
                // A flag whose bits are all 0 is true only if the whole value is 0, so all bits are
                // compared.
                FlagTest::Bits(bits) if bits.value == 0 => (u64::MAX, 0),
                FlagTest::Bits(bits) => (bits.value, bits.value),
                FlagTest::Field(mask, field) => (mask.value, field.value),
            };
            let on = self.text(&shown_lines(&flag.on.value));
            let off = flag.off.as_ref().map(|off| self.text(&shown_lines(&off.value)));
            self.program.flags.push(Flag { mask, field, on, off });
        }
        let end = self.program.flags.len() as u32;
        let row = self.program.flag_rows.len() as u32;
        self.program.flag_rows.push(Row { start, end });
        self.emit(Operation::Flags(row));
    }

    fn call(&mut self, call: &Call) {
        call.arguments.iter().for_each(|argument| self.expression(argument));
        let function = self.function(&call.name);
        // The parser allows fewer than 255 arguments.
        let count = u8::try_from(call.arguments.len()).unwrap_or(u8::MAX);
        self.emit(Operation::Call(function, count));
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::Constant(number) => drop(self.emit(Operation::Constant(number.value as i64))),
            Expr::Value(value) => self.load(value),
            Expr::Negate(inner) => {
                self.expression(inner);
                self.emit(Operation::Negate);
            }
            Expr::Binary(operator, sides) => {
                sides.iter().for_each(|side| self.expression(side));
                self.emit(match operator {
                    Operator::Add => Operation::Add,
                    Operator::Subtract => Operation::Subtract,
                    Operator::Multiply => Operation::Multiply,
                    Operator::Divide => Operation::Divide,
                });
            }
        }
    }
}

/// Appends rows to a table and returns their range.
fn added<T>(table: &mut Vec<T>, entries: Vec<T>) -> Row {
    let start = table.len() as u32;
    table.extend(entries);
    Row { start, end: table.len() as u32 }
}

/// Returns a table of results for the values 0, 1, 2, …; its last entry is for all other values.
/// Returns an empty table if a case compares text, or if the table would be much longer than the
/// list of cases.
fn choices(cases: &[Case]) -> Vec<Then> {
    // A case that matches every value hides the cases after it.
    let any = cases.iter().position(|case| case.pattern == Pattern::Any);
    let (numbers, others) = cases.split_at(any.unwrap_or(cases.len()));
    let otherwise = others.first().map_or(Then::Nothing, |case| case.then);
    let value = |case: &Case| match case.pattern {
        Pattern::Number(value) => usize::try_from(value).ok(),
        _ => None,
    };
    let values: Option<Vec<_>> = numbers.iter().map(value).collect();
    // The table has one entry for each number from 0 to the largest value of a case, and one entry
    // for all other numbers.
    let length = values.iter().flatten().max().map_or(0, |most| most.saturating_add(1));
    // The machine uses this table only for values of at least 8 bits.
    let Some(values) = values.filter(|_| length <= (2 * numbers.len() + 8).min(128)) else {
        return Vec::new();
    };
    let mut choices = vec![otherwise; length + 1];
    // Of two cases with the same value, the first is used.
    for (value, case) in values.into_iter().zip(numbers).rev() {
        // Iterate over the cases in reverse order, so that the first case is written last.
        choices[value] = case.then;
    }
    choices
}

/// Calls `visit` for each function that is defined in a description.
pub(super) fn each_definition<'a>(items: &'a [Item], visit: &mut dyn FnMut(&'a syntax::Function)) {
    for item in items {
        match &item.kind {
            ItemKind::Define(function) => {
                visit(function);
                each_definition(&function.body, visit);
            }
            ItemKind::Loop(_, body) => each_definition(body, visit),
            ItemKind::Switch(switch) => {
                for case in &switch.cases {
                    if let Body::Block(items) = &case.body {
                        each_definition(items, visit);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the effect of a macro that has no value.
pub(super) fn action(name: &str) -> Option<Action> {
    Some(match name {
        "BREAK" => Action::Break,
        "STOP" => Action::Stop,
        "SKIP" => Action::Skip,
        "DEFAULT" => Action::Default,
        "ERROR" => Action::Error,
        _ => return None,
    })
}

/// Returns the built-in value with this name.
pub(super) fn builtin(name: &str) -> Option<Quantity> {
    Some(match name {
        // AIX has five of these values. Events of other systems have more arguments.
        "D1" | "D2" | "D3" | "D4" | "D5" | "D6" | "D7" | "D8" | "D9" => {
            Quantity::Word(name.as_bytes()[1] - b'1')
        }
        "L1" | "L2" | "L3" | "L4" | "L5" => Quantity::LongWord(name.as_bytes()[1] - b'1'),
        "HD" => Quantity::HookData,
        "HL" => Quantity::DataLength,
        "HB" => Quantity::BufferLength,
        "HT" => Quantity::HookType,
        "GENERIC" => Quantity::Generic,
        "HOOKENV" => Quantity::HookEnvironment,
        "TRACEENV" => Quantity::SystemEnvironment,
        "DATAPOINTER" => Quantity::DataPointer,
        "BASEPOINTER" => Quantity::BasePointer,
        "TID" => Quantity::Thread,
        "PID" => Quantity::Process,
        "CPUID" => Quantity::Processor,
        "EXECPATH" => Quantity::Executable,
        "SVC" => Quantity::SystemCall,
        "TRACEID" => Quantity::HookId,
        "LOGFILE" => Quantity::Log,
        "LOGID0" => Quantity::LogOffset,
        "LOGIDX" => Quantity::OffsetWithin,
        "RELLINENO" => Quantity::LineNumber,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::editor_words::assert_words;
    use crate::template::syntax::Level;
    use crate::template::syntax::code::any_code;

    #[test]
    fn the_editor_grammar_knows_all_codes_and_keywords() {
        let sizes = ["B", "T", "W", "0", "1", "2", "3", "4", "8", "16", "0.5", "1.3", "4.6"];
        let letters = ('A'..='Z').chain('a'..='z');
        let words =
            letters.flat_map(|letter| sizes.map(|size| ("code", format!("{letter}{size}"))));
        let mut words: Vec<_> =
            words.filter(|(_, word)| matches!(any_code(word), Some(Ok(_)))).collect();
        words.extend(["LOOP", "BITFLAGS"].map(|word| ("keyword", word.to_owned())));
        words.extend(["STARTTIMER", "ENDTIMER"].map(|word| ("function", word.to_owned())));
        words.push(("function", OBJECT.to_owned()));
        words.extend(Level::ALL.map(|level| ("column", level.as_str().to_owned())));
        assert_words("template.tsv", &words);
    }
}
