//! The control calls: `trcstart`, `trcon`, `trcoff`, `trcstop`.
//!
//! The AIX documentation defines the initial events, channel numbers and results. It also states
//! that the two flags of `trcstop` are mutually exclusive, and that a buffer is at most half as
//! large as the log (in single mode, at most as large as the log). We know the effect of these
//! flags only from memory, and have not verified it. Two points are our decision: a start uses the
//! first free generic channel, and in alternate mode the rule about the log size applies to *one*
//! of the two buffers. Comments below mark our other decisions.

use tracewell_wire::aix::{Entry, Frame, TimeConversion, ids};

use super::buffers::{MARKS, TAIL};
use super::channel::{Channel, Moment, State, Store};
use super::record::{OWN_1_SIZE, OWN_2_SIZE, Record};
use super::{Context, ControlError, Counts, Machine, Mode, Options, StartError};
use crate::Refused;
use crate::clock::Clock;
use crate::ticks::Ticks;

/// Flag of [`Trace::trcstop`]: the call completes only when the log is complete.
pub const SERIAL: u32 = 0x4000_0000;
/// Flag of [`Trace::trcstop`]: discard all entries that are not in the log yet.
pub const DISCARDBUFS: u32 = 0x2000_0000;

/// Number of channels: the event trace and seven generic channels.
pub const CHANNELS: usize = 8;

/// The trace facility: up to eight channels, each in its own memory, with one clock.
///
/// No call allocates or blocks. Recording takes constant time, with two exceptions: in circular
/// mode, an entry may overwrite several frames, and an event list is searched for each event.
///
/// ```
/// use tracewell_record::aix::{Context, Machine, Mode, Options, Trace};
///
/// let mut memory = [0; 4096];
/// let mut ticks = 0;
/// let mut trace = Trace::new(|| { ticks += 1; ticks }, Machine::default());
/// let context = Context::thread(0, 4242, 70_001);
///
/// let options = Options { mode: Mode::Circular, deferred: true, ..Options::default() };
/// let channel = trace.trcstart(context, &mut memory, options).unwrap();
/// trace.trcon(context, channel).unwrap();
/// for number in 0..1000 {
///     trace.trchkl(context, 0x0100_0000, [number]);
/// }
/// trace.trcstop(context, channel).unwrap();
///
/// let counts = trace.counts(channel).unwrap();
/// assert!(counts.overwritten > 0 && counts.missed == 0);
/// ```
pub struct Trace<'m, C> {
    pub(super) ticks: Ticks<C>,
    pub(super) machine: Machine<'m>,
    channels: [Option<Channel<'m>>; CHANNELS],
}

impl<'m, C> Trace<'m, C> {
    pub(super) fn channel(&self, number: u32) -> Option<&Channel<'m>> {
        self.channels.get(usize::try_from(number).ok()?)?.as_ref()
    }

    pub(super) fn channel_mut(&mut self, number: u32) -> Option<&mut Channel<'m>> {
        self.channels.get_mut(usize::try_from(number).ok()?)?.as_mut()
    }

    /// Returns the counts of recorded and lost entries, or `None` if the channel is not started.
    pub fn counts(&self, channel: u32) -> Option<Counts> {
        self.channel(channel).map(Channel::counts)
    }

    /// Returns true if the channel currently records events.
    pub fn is_on(&self, channel: u32) -> bool {
        self.channel(channel).is_some_and(|channel| channel.state == State::On)
    }

    fn free_channel(&self, generic: bool) -> Result<u32, StartError> {
        let range = if generic { 1..CHANNELS } else { 0..1 };
        let free = range.into_iter().find(|&number| self.channels[number].is_none());
        free.map(|number| number as u32).ok_or(StartError::NoChannel)
    }

    /// Returns the number of the next channel and the length of its header, if the channel can
    /// start with `length` bytes of memory.
    fn admit(&self, options: &Options<'m>, length: usize) -> Result<(u32, usize), StartError> {
        let number = self.free_channel(options.generic)?;
        let header = self.header_of(options, number, 0);
        let env = self.machine.env;
        let heading = Entry::generic_length(env, header.texts.length());
        let heading = heading.map_err(|_| StartError::TextsTooLong)?;
        let conversion = Entry::generic_length(env, TimeConversion::BYTES);
        let conversion = Frame::size(conversion.unwrap_or_default());
        // The first entries of a trace: heading, time conversion, TRACE ON.
        let first = Frame::size(heading) + conversion + OWN_1_SIZE;
        let smallest = TAIL + first.max(MARKS + OWN_2_SIZE);
        if Store::capacity(options.mode, length) < smallest {
            let needed = match options.mode {
                Mode::Alternate => 2 * smallest,
                Mode::Single => smallest,
                Mode::Circular => smallest + OWN_2_SIZE,
            };
            return Err(StartError::MemoryTooSmall { needed });
        }
        check_log_size(options, length, header.length())?;
        Ok((number, header.length()))
    }
}

fn check_log_size(options: &Options<'_>, length: usize, header: usize) -> Result<(), StartError> {
    let buffer = Store::capacity(options.mode, length) as u64;
    let by_rule = if options.mode == Mode::Single { buffer } else { 2 * buffer };
    let needed = by_rule.max(header as u64 + buffer);
    match options.log_size {
        Some(size) if size < needed => Err(StartError::LogTooSmall { needed }),
        _ => Ok(()),
    }
}

impl<'m, C: Clock> Trace<'m, C> {
    /// Creates a trace facility with no channel started.
    ///
    /// The clock can wrap. The trace unwraps ticks correctly if less than one period of the clock
    /// passes between two readings. Every recorded event reads the clock.
    pub fn new(clock: C, machine: Machine<'m>) -> Self {
        Self { ticks: Ticks::new(clock), machine, channels: Default::default() }
    }

    /// Returns the clock, so that the caller can set it, for example.
    pub fn clock(&mut self) -> &mut C {
        &mut self.ticks.clock
    }

    /// Starts a trace in `memory` and returns its channel: 0 for the event trace, or the first free
    /// channel of 1 to 7 for a generic trace.
    ///
    /// The first entries are hook 003 (the report heading) and hook 00A (the time conversion),
    /// followed by TRACE ON (hook 001) unless the trace is deferred.
    ///
    /// [`Mode::Alternate`] divides the memory into two buffers; the other modes use one. Lengths
    /// are rounded down to a multiple of 8. Loss marks need about 200 bytes of each buffer. An
    /// entry that does not fit into the remaining bytes of an empty buffer is always counted as
    /// missed. Every entry fits into a buffer of 5 kB.
    ///
    /// # Errors
    /// Returns the first of these errors that applies: [`StartError::NoChannel`],
    /// [`StartError::TextsTooLong`], [`StartError::MemoryTooSmall`], [`StartError::LogTooSmall`].
    /// AIX returns -1 for each of them.
    ///
    /// ```
    /// use tracewell_record::aix::{Context, Machine, Options, StartError, Trace};
    ///
    /// let mut memory = [0; 64];
    /// let mut trace = Trace::new(|| 0, Machine::default());
    /// let refused = trace.trcstart(Context::default(), &mut memory, Options::default());
    /// assert!(matches!(refused.unwrap_err().reason, StartError::MemoryTooSmall { .. }));
    /// ```
    pub fn trcstart(
        &mut self,
        context: Context,
        memory: &'m mut [u8],
        options: Options<'m>,
    ) -> Result<u32, Refused<'m, StartError>> {
        let (number, header_length) = match self.admit(&options, memory.len()) {
            Ok(admitted) => admitted,
            Err(reason) => return Err(Refused { reason, memory }),
        };
        let moment = Moment { context, tick: self.ticks.now() };
        let mut channel = Channel {
            number,
            store: Store::new(options.mode, memory.len(), self.machine.order),
            memory,
            state: State::Off,
            options,
            env: self.machine.env,
            order: self.machine.order,
            start_tick: moment.tick,
            counts: Counts::default(),
            log_used: header_length as u64,
            header_length: header_length as u64,
            missed_here: 0,
        };
        // The log of one CPU accompanies a base log, and only the base log contains the heading.
        if !options.per_cpu {
            self.put_heading(&mut channel, moment);
        }
        if !options.deferred {
            channel.switch_on(moment);
        }
        // Store the channel only now: the calls above need `self` and the channel at the same time.
        self.channels[number as usize] = Some(channel);
        Ok(number)
    }

    fn put_heading(&self, channel: &mut Channel<'m>, moment: Moment) {
        let env = self.machine.env;
        let texts = self.header_of(&channel.options, channel.number, moment.tick).texts;
        let seconds = channel.options.wall_clock_ns / 1_000_000_000;
        channel.put(moment, &Record::Heading { env, seconds, texts });
        let conversion = self.machine.conversion;
        channel.put(moment, &Record::Conversion { env, conversion });
    }

    /// Switches recording on and records TRACE ON (hook 001), unless recording is already on.
    ///
    /// # Errors
    /// Returns [`ControlError::NotStarted`] or [`ControlError::Stopped`].
    pub fn trcon(&mut self, context: Context, channel: u32) -> Result<(), ControlError> {
        self.switch(context, channel, State::Off, Channel::switch_on)
    }

    /// Switches recording off and records TRACE OFF (hook 002), unless recording is already off.
    /// [`Trace::trcon`] can switch it on again.
    ///
    /// # Errors
    /// Returns [`ControlError::NotStarted`] or [`ControlError::Stopped`].
    pub fn trcoff(&mut self, context: Context, channel: u32) -> Result<(), ControlError> {
        self.switch(context, channel, State::On, Channel::switch_off)
    }

    fn switch(
        &mut self,
        context: Context,
        number: u32,
        from: State,
        act: fn(&mut Channel<'m>, Moment),
    ) -> Result<(), ControlError> {
        let state = self.channel(number).ok_or(ControlError::NotStarted)?.state;
        if state == State::Stopped {
            return Err(ControlError::Stopped);
        }
        if state == from {
            let moment = Moment { context, tick: self.ticks.now() };
            let channel = self.channel_mut(number).ok_or(ControlError::NotStarted)?;
            act(channel, moment);
        }
        Ok(())
    }

    /// Stops a channel permanently, with a TRACE OFF event if the channel was on. The caller can
    /// still drain the channel's buffers. After that, [`Trace::finish`] returns the memory.
    ///
    /// `channel` can include one flag. With [`DISCARDBUFS`], the call discards and counts the
    /// entries that are not drained yet. With [`SERIAL`], the call completes only after all data
    /// are drained to the log. Until then, it returns [`ControlError::Draining`], because no call
    /// blocks. The caller must then drain the buffers and call again; this rule is our own.
    /// Stopping a channel twice is not an error.
    ///
    /// # Errors
    /// Returns [`ControlError::Flags`], [`ControlError::NotStarted`] or [`ControlError::Draining`].
    pub fn trcstop(&mut self, context: Context, channel: u32) -> Result<(), ControlError> {
        let (serial, discard) = (channel & SERIAL != 0, channel & DISCARDBUFS != 0);
        if serial && discard {
            return Err(ControlError::Flags);
        }
        let number = channel & !(SERIAL | DISCARDBUFS);
        if self.channel(number).ok_or(ControlError::NotStarted)?.state != State::Stopped {
            let moment = Moment { context, tick: self.ticks.now() };
            self.channel_mut(number).ok_or(ControlError::NotStarted)?.close(moment);
        }
        let channel = self.channel_mut(number).ok_or(ControlError::NotStarted)?;
        if discard {
            channel.discard();
        }
        match serial && channel.waiting().is_some() {
            true => Err(ControlError::Draining),
            false => Ok(()),
        }
    }

    /// Ends a stopped channel whose buffers are drained, and returns its memory.
    ///
    /// # Errors
    /// Returns [`ControlError::NotStarted`], [`ControlError::Running`] or
    /// [`ControlError::Draining`].
    pub fn finish(&mut self, channel: u32) -> Result<&'m mut [u8], ControlError> {
        let started = self.channel(channel).ok_or(ControlError::NotStarted)?;
        if started.state != State::Stopped {
            return Err(ControlError::Running);
        }
        if started.waiting().is_some() {
            return Err(ControlError::Draining);
        }
        let ended = self.channels[channel as usize].take();
        ended.map(|channel| channel.memory).ok_or(ControlError::NotStarted)
    }
}

impl Channel<'_> {
    fn switch_on(&mut self, moment: Moment) {
        self.state = State::On;
        self.put_switch(moment, ids::TRACE_ON);
    }

    fn switch_off(&mut self, moment: Moment) {
        self.put_switch(moment, ids::TRACE_OFF);
        // The TRACE OFF entry itself can fill the buffer and thereby stop the channel.
        if self.state == State::On {
            self.state = State::Off;
        }
    }

    fn put_switch(&mut self, moment: Moment, id: tracewell_wire::aix::HookId) {
        if !self.options.per_cpu {
            self.put(moment, &Record::own_1(self.env, id, u64::from(self.number)));
        }
    }
}
