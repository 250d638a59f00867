//! The door, a state machine. A code opens the door, a timer locks it again, and three wrong codes
//! trigger the alarm.
//!
//! On a target, put the buffer into static memory and the trace into a lock, for example a `static
//! TRACE: Mutex<Trace<...>>` of a critical-section crate.

use tracewell_record::rkh::{About, Buffer, Filter, Options, StreamBuffer, Trace};
use tracewell_wire::rkh::events::V3_4 as te;
use tracewell_wire::rkh::{Item, Settings, SymbolKind};

/// Addresses that a linker could have assigned.
const DOOR: u32 = 0x2000_0100;
const RELOCK: u32 = 0x2000_0180;
const KEYPAD: u32 = 0x2000_0200;
const OPEN_BOLT: u32 = 0x0800_2001;
const CLOSE_BOLT: u32 = 0x0800_2021;
const SOUND: u32 = 0x0800_2041;

const PRIORITY: u8 = 3;
const ATTEMPTS: u8 = 0;

#[derive(Clone, Copy, PartialEq)]
enum State {
    Locked = 0x0800_1000,
    Unlocked = 0x0800_1040,
    Alarmed = 0x0800_1080,
}

#[derive(Clone, Copy, PartialEq)]
enum Signal {
    Code,
    Wrong,
    Timeout,
}

struct Door<'m, C, L> {
    trace: Trace<'m, C, StreamBuffer<'m>>,
    link: L,
    state: State,
    wrong_codes: u32,
}

/// Simulates the door, and passes its stream to `link` in blocks.
pub(crate) fn run(link: impl FnMut(&[u8])) {
    let mut ticks = 0;
    let clock = || {
        ticks += 10;
        ticks
    };
    let settings = Settings { sender: true, queue_low_water: true, ..Settings::default() };
    let options = Options { settings, ..Options::default() };
    let (mut memory, mut signals) = ([0; 512], [0; 1]);
    let trace = Trace::new(options, StreamBuffer::new(&mut memory), &mut signals, clock);
    let mut door = Door { trace, link, state: State::Locked, wrong_codes: 0 };
    door.start();
    use Signal::{Code, Timeout, Wrong};
    for signal in [Code, Timeout, Wrong, Timeout, Wrong, Wrong, Code] {
        door.post(signal, if signal == Timeout { RELOCK } else { KEYPAD });
    }
    if door.state == State::Alarmed {
        door.trace.assertion(b"door", 42);
        door.send();
    }
}

impl<C: FnMut() -> u64, L: FnMut(&[u8])> Door<'_, C, L> {
    fn send(&mut self) {
        self.trace.buffer().flush(&mut self.link);
    }

    fn start(&mut self) {
        self.trace.open();
        self.send();
        self.name_everything();
        self.trace.filters().all(Filter::Off);
        // State machines record many events; leave out the nesting counts.
        self.trace.filters().event(&te::SM_NENEX, Filter::On);
    }

    fn name_everything(&mut self) {
        use SymbolKind::*;
        let state = |state: self::State, name| (State, Some(DOOR), state as u32, name);
        let signal = |signal: self::Signal, name| (Signal, None, signal as u32, name);
        for (kind, owner, key, name) in [
            (ActiveObject, None, DOOR, "door"),
            state(self::State::Locked, "locked"),
            state(self::State::Unlocked, "unlocked"),
            state(self::State::Alarmed, "alarmed"),
            (Timer, None, RELOCK, "relock"),
            (Actor, None, KEYPAD, "keypad"),
            (Function, None, OPEN_BOLT, "open_bolt"),
            (Function, None, CLOSE_BOLT, "close_bolt"),
            (Function, None, SOUND, "sound"),
            signal(self::Signal::Code, "CODE"),
            signal(self::Signal::Wrong, "WRONG"),
            signal(self::Signal::Timeout, "TIMEOUT"),
            (UserEvent, None, u32::from(ATTEMPTS), "ATTEMPTS"),
        ] {
            self.trace.symbol(kind, owner, key, name.as_bytes());
            self.send();
        }
    }

    /// Posts an event, takes it from the queue and dispatches it. Events have a sender only if the
    /// target is configured to record senders.
    fn post(&mut self, signal: Signal, sender: u32) {
        let number = signal as u32;
        let about = About::signal(PRIORITY, number);
        self.trace.record(&te::SMA_FIFO, about, &[DOOR, number, sender, 0, 0, 1, 3]);
        self.trace.record(&te::SMA_GET, about, &[DOOR, number, 0, 0, 0, 3]);
        self.dispatch(signal);
        // The framework sends the recorded bytes when it is idle.
        self.send();
    }

    fn dispatch(&mut self, signal: Signal) {
        let number = signal as u32;
        let about = About::signal(PRIORITY, number);
        self.trace.record(&te::SM_DCH, about, &[DOOR, number, self.state as u32]);
        match (self.state, signal) {
            (State::Locked, Signal::Code) => {
                self.go_to(State::Unlocked, OPEN_BOLT);
                self.trace.record(&te::TMR_START, About::NOTHING, &[RELOCK, DOOR, 50, 0]);
            }
            (State::Locked, Signal::Wrong) => {
                self.count_attempt();
                if self.wrong_codes == 3 {
                    self.go_to(State::Alarmed, SOUND);
                }
            }
            (State::Unlocked, Signal::Timeout) => self.go_to(State::Locked, CLOSE_BOLT),
            _ => {
                self.trace.record(&te::SM_EVT_NFOUND, about, &[DOOR, number]);
                return;
            }
        }
        self.trace.record(&te::SM_EVT_PROC, About::object(PRIORITY), &[DOOR]);
    }

    fn go_to(&mut self, target: State, action: u32) {
        let about = About::object(PRIORITY);
        let (from, to) = (self.state as u32, target as u32);
        self.trace.record(&te::SM_TRN, about, &[DOOR, from, to]);
        self.trace.record(&te::SM_EXSTATE, about, &[DOOR, from]);
        self.trace.record(&te::SM_EXE_ACT, about, &[0, DOOR, from, action]);
        self.trace.record(&te::SM_ENSTATE, about, &[DOOR, to]);
        self.trace.record(&te::SM_STATE, about, &[DOOR, to]);
        self.state = target;
    }

    fn count_attempt(&mut self) {
        self.wrong_codes += 1;
        let count = Item::Unsigned { value: self.wrong_codes, bytes: 1, width: 2 };
        let items = [Item::Text(b"wrong code"), count, Item::Signal(Signal::Wrong as u32)];
        self.trace.user_items(ATTEMPTS, &items);
    }
}
