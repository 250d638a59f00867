//! Executes the operations of a template. `printing` contains the operations that print.

mod printing;

use std::ops::ControlFlow;

use super::read::{self, Pointer, Value};
use super::{
    Lines, MAX_ITERATIONS, MAX_NESTING, MAX_STEPS, MAX_TEXT, OF_DEFAULT, Outcome, State, print,
};
use crate::template::entry::{Entry, EventContext};
use crate::template::program::{
    Action, Callee, Operation, Pattern, Program, Quantity, Target, Then,
};
use crate::template::syntax::{Code, Key};
use crate::text::put;

/// The state that is restored when a call returns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    back: u32,
    /// Number of saved macro values before the call.
    hidden: usize,
}

/// The result of an operation: continue, or the reason why the event ends.
type Step = ControlFlow<Outcome>;
/// A value, or the reason why the event ends.
type Valued<T> = ControlFlow<Outcome, T>;

const GO_ON: Step = ControlFlow::Continue(());

#[derive(Debug)]
pub(super) struct Run<'a> {
    program: &'a Program,
    entry: &'a Entry<'a>,
    context: &'a EventContext<'a>,
    state: &'a mut State,
    lines: &'a mut Lines,
    pointer: Pointer,
    next: usize,
    steps: u32,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        program: &'a Program,
        entry: &'a Entry<'a>,
        context: &'a EventContext<'a>,
        state: &'a mut State,
        lines: &'a mut Lines,
    ) -> Self {
        let pointer = Pointer { at: 8 * i64::from(entry.start), base: 0 };
        Self { program, entry, context, state, lines, pointer, next: 0, steps: MAX_STEPS }
    }

    /// Runs the operations from `start` to the end of the event.
    pub(super) fn from(&mut self, start: u32) -> Outcome {
        self.next = start as usize;
        loop {
            let program = self.program;
            let Some(operation) = program.operations.get(self.next) else {
                return Outcome::Shown;
            };
            self.next += 1;
            if let ControlFlow::Break(outcome) = self.step(operation) {
                return outcome;
            }
        }
    }

    // Pass the operation by reference. The processor would store a copy as a whole and then load
    // its parts, and each load would wait for the store.
    #[inline(always)]
    fn step(&mut self, operation: &Operation) -> Step {
        self.spend(1)?;
        match *operation {
            Operation::Text(text) => self.text(text),
            Operation::Print(code) => return self.print(code),
            Operation::PrintQuantity(quantity) => {
                let value = self.quantity(quantity)?;
                return self.print_plain(value);
            }
            Operation::PrintQuantityAs(quantity, code) => {
                let value = self.quantity(quantity)?;
                return self.print_as(value, code);
            }
            Operation::Fields(row) => return self.fields(row),
            Operation::Read(code) => {
                let value = self.read(code)?;
                self.state.stack.push(value);
            }
            Operation::Load(quantity) => {
                let value = self.quantity(quantity)?;
                self.state.stack.push(value);
            }
            Operation::LoadAs(quantity, code) => {
                let value = self.quantity(quantity)?;
                // `%X2` yields a value of 2 bytes, so that comparisons and sums use the value that
                // would be printed.
                self.state.stack.push(self.cut(value, code));
            }
            Operation::SwitchNumber(number, row) => {
                let size = read::bytes(number.size, self.entry);
                let Some(value) = self.number(number.source, size) else { return self.truncated() };
                return self.choose(value, 8 * size as u32, row);
            }
            Operation::SwitchRead(code, row) => {
                let value = self.read(code)?;
                return self.switch(value, row);
            }
            Operation::SwitchLoad(quantity, row) => {
                let value = self.quantity(quantity)?;
                return self.switch(value, row);
            }
            Operation::SwitchLoadAs(quantity, code, row) => {
                let value = self.quantity(quantity)?;
                let value = self.cut(value, code);
                return self.switch(value, row);
            }
            Operation::Jump(target) => self.next = target as usize,
            Operation::Flags(row) => return self.flags(row),
            Operation::Move(code) => self.pointer.go(code, self.entry.environment.word()),
            Operation::Level(level) => self.lines.set_level(level),
            Operation::Loop(end) => self.begin_loop(end),
            Operation::Again(start) => {
                self.bound_text()?;
                self.end_turn(start);
            }
            Operation::Constant(number) => self.state.stack.push(Value::of(number)),
            Operation::Add => self.calculate(i64::wrapping_add),
            Operation::Subtract => self.calculate(i64::wrapping_sub),
            Operation::Multiply => self.calculate(i64::wrapping_mul),
            Operation::Divide => {
                self.calculate(|a, b| if b == 0 { 0 } else { a.wrapping_div(b) });
            }
            Operation::Negate => {
                let number = self.pop().number.wrapping_neg();
                self.state.stack.push(Value::of(number));
            }
            Operation::Store(place) => self.store(place),
            Operation::PrintOrCall(slot, id) => return self.print_or_call(slot, id),
            Operation::Act(action) => return self.act(action),
            Operation::Call(function, arguments) => return self.call(function, arguments),
            Operation::StartTimer => self.start_timer(),
            Operation::EndTimer => self.end_timer(),
            // If there is no call to return from, the template ends.
            Operation::Return if self.state.calls.is_empty() => {
                return ControlFlow::Break(Outcome::Shown);
            }
            Operation::Return => return self.return_from_call(),
        }
        GO_ON
    }

    /// Subtracts steps from the budget of the event.
    #[inline]
    fn spend(&mut self, steps: u32) -> Step {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                GO_ON
            }
            None => self.limit("<STEP LIMIT>"),
        }
    }

    /// Checks the text limit. This is called wherever the text can grow by more than the length of
    /// the template: in loops, in calls, and when data of variable length is printed.
    #[inline]
    fn bound_text(&mut self) -> Step {
        if self.lines.len() <= MAX_TEXT { GO_ON } else { self.limit("<OUTPUT LIMIT>") }
    }

    /// Subtracts one step for each 32 bytes that an operation processes.
    #[inline]
    fn spend_on_bytes(&mut self, bytes: usize) -> Step {
        self.bound_text()?;
        self.spend(u32::try_from(bytes / 32).unwrap_or(u32::MAX))
    }

    #[cold]
    fn limit(&mut self, mark: &str) -> Step {
        self.state.marks.limits += 1;
        self.lines.put(mark);
        ControlFlow::Break(Outcome::Shown)
    }

    #[cold]
    fn truncated<T>(&mut self) -> Valued<T> {
        self.state.marks.truncated += 1;
        self.lines.put("<TRUNCATED>");
        ControlFlow::Break(Outcome::Shown)
    }

    #[inline]
    fn pop(&mut self) -> Value {
        self.state.stack.pop().unwrap_or_default()
    }

    fn calculate(&mut self, operator: impl Fn(i64, i64) -> i64) {
        let (right, left) = (self.pop().number, self.pop().number);
        self.state.stack.push(Value::of(operator(left, right)));
    }

    #[inline]
    fn read(&mut self, code: Code) -> Valued<Value> {
        match read::read(code, self.entry, &mut self.pointer) {
            Some(value) => {
                if let Some(read::Text::Entry { length, .. }) = value.text {
                    self.spend_on_bytes(length as usize)?;
                }
                ControlFlow::Continue(value)
            }
            None => self.truncated(),
        }
    }

    #[inline]
    fn quantity(&mut self, quantity: Quantity) -> Valued<Value> {
        if let Quantity::User(slot) = quantity {
            return ControlFlow::Continue(self.slot(slot).unwrap_or(Value::of(0)));
        }
        let line = self.lines.number();
        match read::quantity(quantity, self.entry, self.context, self.pointer, line) {
            Some(value) => ControlFlow::Continue(value),
            None => self.truncated(),
        }
    }

    /// Returns the value of a macro if it was assigned for this event.
    #[inline]
    fn slot(&self, slot: u16) -> Option<Value> {
        let (event, value) = self.state.slots.get(usize::from(slot))?;
        // Compare the event number, so that the slots need not be cleared for each event.
        (*event == self.state.event).then_some(*value)
    }

    fn store(&mut self, place: Target) {
        let value = self.pop();
        match place {
            Target::User(slot) => self.set(slot, (self.state.event, value)),
            // The template gives bytes, and the pointer counts bits.
            Target::DataPointer => self.pointer.at = value.number.saturating_mul(8),
            Target::BasePointer => self.pointer.base = value.number,
        }
    }

    fn set(&mut self, slot: u16, value: (u64, Value)) {
        if let Some(place) = self.state.slots.get_mut(usize::from(slot)) {
            *place = value;
        }
    }

    /// Truncates a number to the number of bits that a code reads. If the code reads signed
    /// numbers, the result is signed.
    fn cut(&self, value: Value, code: Code) -> Value {
        if value.text.is_some() {
            return value;
        }
        let number = value.number as u64;
        match (read::number_size(code, self.entry), code) {
            // Codes of more than 8 bytes use all 8 bytes of the number.
            (Some(size), _) => {
                let bits = 8 * size.min(8) as u32;
                read::as_coded(code, number & (u64::MAX >> (64 - bits)), size)
            }
            (None, Code::Bits(field)) => {
                let bits = field.total().clamp(1, 64) as u8;
                let mask = u64::MAX >> (64 - bits);
                Value { number: (number & mask) as i64, bits, text: None }
            }
            (None, _) => value,
        }
    }

    /// Prints the first `bytes` bytes of a text. Pads it if there is a width.
    fn print_start(&mut self, value: Value, bytes: u16, width: Option<u16>) -> Step {
        let text = value.text.map_or(&[][..], |text| read::text(text, self.entry, self.context));
        let shown = text.get(..usize::from(bytes)).unwrap_or(text);
        self.spend_on_bytes(shown.len())?;
        print::ascii(self.lines.buffer(), shown, width);
        self.lines.buffer().byte(b' ');
        GO_ON
    }

    /// Finds the case of a switch that matches a number of at least 8 bits, and runs it.
    #[inline(always)]
    fn choose(&mut self, number: u64, bits: u32, row: u32) -> Step {
        let Some(switch) = self.program.switches.get(row as usize) else { return GO_ON };
        let range = switch.choices.range();
        let choices = self.program.choices.get(range).unwrap_or_default();
        let value = Value::unsigned(number, bits as u8);
        // Search the cases if there is no table of results.
        let Some(last) = choices.len().checked_sub(1) else { return self.switch(value, row) };
        self.next = switch.otherwise as usize;
        let number = value.number as u64 & value.mask();
        // The last entry is the result for all larger values, so the index needs no bounds check.
        let choice = choices.get(number.min(last as u64) as usize);
        self.then(choice.copied().unwrap_or(Then::Nothing));
        GO_ON
    }

    #[inline(always)]
    fn then(&mut self, then: Then) {
        match then {
            Then::Text(text) => self.text(text),
            Then::Go(target) => self.next = target as usize,
            Then::Nothing => {}
        }
    }

    fn switch(&mut self, value: Value, row: u32) -> Step {
        let row = self.program.switches.get(row as usize).copied().unwrap_or_default();
        let cases = self.program.cases.get(row.cases.range()).unwrap_or_default();
        // Count steps here, so that a loop over a switch with thousands of cases also reaches the
        // step limit.
        self.spend(cases.len() as u32 / 8)?;
        let mask = value.mask();
        let number = value.number as u64 & mask;
        self.next = row.otherwise as usize;
        for case in cases {
            let equal = match case.pattern {
                Pattern::Any => true,
                // A case such as -1 has 64 bits, but the value may have fewer.
                Pattern::Number(other) => other & mask == number,
                Pattern::Text(string) => self.equals(value, string)?,
            };
            if equal {
                self.then(case.then);
                break;
            }
        }
        GO_ON
    }

    fn equals(&mut self, value: Value, string: u32) -> Valued<bool> {
        let Some(text) = value.text else { return ControlFlow::Continue(false) };
        let bytes = read::text(text, self.entry, self.context);
        self.spend_on_bytes(bytes.len())?;
        let string = self.program.strings.get(string as usize);
        ControlFlow::Continue(string.is_some_and(|string| string.as_bytes() == bytes))
    }

    fn begin_loop(&mut self, end: u32) {
        let turns = self.pop().number;
        if turns <= 0 {
            self.next = end as usize;
        } else {
            // If the count is above the limit, push the negative limit. The sign makes `end_turn`
            // print the mark after the last allowed iteration.
            let beyond = turns > MAX_ITERATIONS;
            self.state.loops.push(if beyond { -MAX_ITERATIONS } else { turns });
        }
    }

    fn end_turn(&mut self, start: u32) {
        let Some(turns) = self.state.loops.last_mut() else { return };
        // A negative number of turns means that the limit has shortened the loop. Such a number is
        // counted up to 0.
        let beyond = *turns < 0;
        *turns -= turns.signum();
        if *turns != 0 {
            self.next = start as usize;
            return;
        }
        self.state.loops.pop();
        if beyond {
            self.state.marks.limits += 1;
            self.lines.put("<LOOP LIMIT>");
        }
    }

    fn print_or_call(&mut self, slot: u16, id: u16) -> Step {
        if let Some(value) = self.slot(slot) {
            return self.print_plain(value);
        }
        match self.program.of_id(id).and_then(|id| self.program.template(id)) {
            Some(template) => self.enter(template.body),
            None => self.missing(format_args!("<NO TEMPLATE {}>", Key::Id(id))),
        }
    }

    #[cold]
    fn missing(&mut self, mark: std::fmt::Arguments<'_>) -> Step {
        self.state.marks.missing += 1;
        put(self.lines.buffer(), mark);
        ControlFlow::Break(Outcome::Shown)
    }

    fn no_function(&mut self, name: u32) -> Step {
        let name = self.program.strings.get(name as usize).map_or("", String::as_str);
        self.missing(format_args!("<NO FUNCTION {name}>"))
    }

    fn enter(&mut self, start: u32) -> Step {
        self.bound_text()?;
        if self.state.calls.len() >= MAX_NESTING {
            return self.limit("<TEMPLATE NESTING>");
        }
        // `next` already points past the call.
        let frame = Frame { back: self.next as u32, hidden: self.state.hidden.len() };
        self.state.calls.push(frame);
        self.next = start as usize;
        GO_ON
    }

    fn call(&mut self, function: u32, arguments: u8) -> Step {
        let Some(function) = self.program.functions.get(function as usize) else { return GO_ON };
        let start = match function.callee {
            Callee::Defined(start) => start,
            Callee::Missing(name) => return self.no_function(name),
            Callee::Object => {
                self.object(usize::from(arguments));
                return GO_ON;
            }
        };
        // Parameters are macros. A call saves their old values, and the return restores these
        // values, so a function can call itself.
        let hidden = self.state.hidden.len();
        let first = self.state.stack.len().saturating_sub(usize::from(arguments));
        for (index, slot) in function.parameters.iter().enumerate() {
            let value = self.state.stack.get(first + index).copied();
            let before = self.state.slots.get(usize::from(*slot)).copied().unwrap_or_default();
            self.state.hidden.push((*slot, before));
            // A missing argument is 0, as is a macro that was never assigned.
            self.set(*slot, (self.state.event, value.unwrap_or(Value::of(0))));
        }
        self.state.stack.truncate(first);
        self.enter(start)?;
        // `enter` recorded the length of `hidden` including the values saved above. Record the
        // length without them, so that the return also restores them.
        if let Some(frame) = self.state.calls.last_mut() {
            frame.hidden = hidden;
        }
        GO_ON
    }

    /// Continues after the call, or ends the event if there was none.
    fn return_from_call(&mut self) -> Step {
        let Some(frame) = self.state.calls.pop() else {
            return ControlFlow::Break(Outcome::Shown);
        };
        // Restore in reverse order, so that a parameter that is listed twice gets its oldest value
        // back.
        while self.state.hidden.len() > frame.hidden {
            if let Some((slot, before)) = self.state.hidden.pop() {
                self.set(slot, before);
            }
        }
        self.next = frame.back as usize;
        GO_ON
    }

    fn act(&mut self, action: Action) -> Step {
        match action {
            Action::Break => ControlFlow::Break(Outcome::Shown),
            Action::Stop => ControlFlow::Break(Outcome::Stop),
            Action::Skip => ControlFlow::Break(Outcome::Skipped),
            Action::Default => self.default_form(),
            Action::Error => {
                let EventContext { log, offset, .. } = self.context;
                let id = Key::Id(self.entry.id);
                let text = format_args!("<ERROR {log} at byte {offset}, trace id {id}>");
                put(self.lines.buffer(), text);
                ControlFlow::Break(Outcome::Shown)
            }
        }
    }

    /// Runs template 008, or prints the remaining words of the entry if there is no such template.
    fn default_form(&mut self) -> Step {
        if let Some(template) =
            self.program.of_id(OF_DEFAULT).and_then(|id| self.program.template(id))
        {
            return self.enter(template.body);
        }
        let word = self.entry.environment.word();
        let mut at = self.pointer.byte();
        while let Some(number) = self.entry.number(at, word) {
            // Each word costs a step, so that a long entry reaches the limit.
            self.spend(1)?;
            print::hexadecimal(self.lines.buffer(), number, word);
            self.lines.buffer().byte(b' ');
            at += word as i64;
        }
        GO_ON
    }

    fn timer_key(&mut self) -> (i64, i64) {
        let (second, first) = (self.pop().number, self.pop().number);
        (first, second)
    }

    fn start_timer(&mut self) {
        let key = self.timer_key();
        if !self.state.timers.start(key, self.context.time_ns) {
            self.state.marks.limits += 1;
            self.lines.put("<TIMER LIMIT>");
        }
    }

    fn end_timer(&mut self) {
        let key = self.timer_key();
        if let Some(elapsed) = self.state.timers.end(key, self.context.time_ns) {
            put(self.lines.buffer(), format_args!("[{} usec]", elapsed / 1000));
        }
    }
}
