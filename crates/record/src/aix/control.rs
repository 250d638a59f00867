//! Control: `trcstart`, `trcon`, `trcoff`, `trcstop`.
//!
//! Documented: what starts, which channel it gets, the results, the two flags of `trcstop` and that
//! they exclude each other, that a buffer has at most half the size of the log (all of it in single
//! mode). From memory, unverified: what the two flags do. Our decisions: that a start takes the
//! first free generic channel, that the rule about the log is about *one* of two alternate buffers,
//! and those that are marked.

use tracewell_wire::aix::{Entry, Frame, TimeConversion, ids};

use super::buffers::{MARKS, TAIL};
use super::channel::{Channel, Moment, State, Store};
use super::record::{OWN_1_SIZE, OWN_2_SIZE, Record};
use super::{Context, ControlError, Counts, Machine, Mode, Options, StartError, StartRefused};
use crate::clock::Clock;
use crate::ticks::Ticks;

/// Flag of [`Trace::trcstop`]: not done before the log is complete.
pub const SERIAL: u32 = 0x4000_0000;
/// Flag of [`Trace::trcstop`]: throw away what is not in the log yet.
pub const DISCARDBUFS: u32 = 0x2000_0000;

/// Number of channels: the event trace and seven generic ones.
pub const CHANNELS: usize = 8;

/// The trace facility: up to eight channels, each in memory of its own, with one clock.
///
/// No call allocates or blocks. Recording takes constant time, in circular mode with a factor for
/// the frames that a large one overwrites; a list of events is looked through.
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

    /// How many entries went where; `None` where the channel is not started.
    pub fn counts(&self, channel: u32) -> Option<Counts> {
        self.channel(channel).map(Channel::counts)
    }

    /// Whether events of a channel are recorded now.
    pub fn is_on(&self, channel: u32) -> bool {
        self.channel(channel).is_some_and(|channel| channel.state == State::On)
    }

    fn free_channel(&self, generic: bool) -> Result<u32, StartError> {
        let range = if generic { 1..CHANNELS } else { 0..1 };
        let free = range.into_iter().find(|&number| self.channels[number].is_none());
        free.map(|number| number as u32).ok_or(StartError::NoChannel)
    }

    /// The number that a channel gets, if it can start in so much memory, and the length of its
    /// header.
    fn admit(&self, options: &Options<'m>, length: usize) -> Result<(u32, usize), StartError> {
        let number = self.free_channel(options.generic)?;
        let header = self.header_of(options, number, 0);
        let env = self.machine.env;
        let heading = Entry::generic_length(env, header.texts.length());
        let heading = heading.map_err(|_| StartError::TextsTooLong)?;
        let conversion = Entry::generic_length(env, TimeConversion::BYTES);
        let conversion = Frame::size(conversion.unwrap_or_default());
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
    /// A trace facility whose channels are all free.
    ///
    /// The clock may wrap: ticks are unwrapped as long as it is read once a period at least, which
    /// each recorded event does.
    pub fn new(clock: C, machine: Machine<'m>) -> Self {
        Self { ticks: Ticks::new(clock), machine, channels: Default::default() }
    }

    /// The clock, and what else the caller keeps with it.
    pub fn clock(&mut self) -> &mut C {
        &mut self.ticks.clock
    }

    /// Starts a trace in `memory` and returns its channel: 0 for the event trace, the first free
    /// one of 1 to 7 for a generic one.
    ///
    /// Its first entries are hook 003, the heading of a report, and hook 00A with the time
    /// conversion; then, unless it is deferred, TRACE ON (hook 001).
    ///
    /// Of the memory, [`Mode::Alternate`] makes two buffers and the other modes one, to the
    /// multiple of 8 below. An entry that does not fit into an empty buffer with some 200 bytes of
    /// marks is always missed: buffers of 5 kB take all.
    ///
    /// # Errors
    /// In this order: [`StartError::NoChannel`], [`StartError::TextsTooLong`],
    /// [`StartError::MemoryTooSmall`], [`StartError::LogTooSmall`]. AIX returns -1 for any of them.
    pub fn trcstart(
        &mut self,
        context: Context,
        memory: &'m mut [u8],
        options: Options<'m>,
    ) -> Result<u32, StartRefused<'m>> {
        let (number, header_length) = match self.admit(&options, memory.len()) {
            Ok(admitted) => admitted,
            Err(reason) => return Err(StartRefused { reason, memory }),
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
        if !options.per_cpu {
            self.put_heading(&mut channel, moment);
        }
        if !options.deferred {
            channel.switch_on(moment);
        }
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

    /// Switches recording on, with a TRACE ON event (hook 001) if it was off.
    ///
    /// # Errors
    /// [`ControlError::NotStarted`], [`ControlError::Stopped`].
    pub fn trcon(&mut self, context: Context, channel: u32) -> Result<(), ControlError> {
        self.switch(context, channel, State::Off, Channel::switch_on)
    }

    /// Switches recording off, with a TRACE OFF event (hook 002) if it was on. It can be switched
    /// on again.
    ///
    /// # Errors
    /// [`ControlError::NotStarted`], [`ControlError::Stopped`].
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

    /// Stops a channel for good, with a TRACE OFF event if it was on. What is in its buffers waits
    /// to be drained; then [`Trace::finish`] gives the memory back.
    ///
    /// `channel` may have one flag: with [`DISCARDBUFS`], what waits is thrown away, and counted.
    /// With [`SERIAL`], the call is not done before the log is complete. As nothing blocks here, it
    /// answers [`ControlError::Draining`] until then, and is made again after draining (our
    /// decision). Stopping again does no harm.
    ///
    /// # Errors
    /// [`ControlError::Flags`], [`ControlError::NotStarted`], [`ControlError::Draining`].
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

    /// Ends a stopped channel whose buffers are drained: its memory comes back, its number is free.
    ///
    /// # Errors
    /// [`ControlError::NotStarted`], [`ControlError::Running`], [`ControlError::Draining`].
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
        // A full buffer may have stopped the channel.
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
