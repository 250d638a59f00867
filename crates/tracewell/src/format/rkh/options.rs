//! Options for streams without a configuration record: dialect and settings of the target.

use tracewell_wire::rkh::{Dialect, Settings};

use crate::format::{OptionError, OptionHelp, Options};
use crate::model::Rate;

/// The options of this format. A configuration record overrides all options except two: it does not
/// contain `fptr`, and it contains `rate` only with low precision. Without a record and
/// without options, settings are inferred from the frames.
pub(super) const OPTIONS: &[OptionHelp] = &[
    OptionHelp {
        key: "dialect",
        value: "VERSION",
        help: "2.0-pre, 2.0, 2.2, 2.3, 2.4.3, 2.4.4, 2.4.5 or 3.4 (3.4)",
    },
    OptionHelp { key: "id", value: "1|2|4", help: "bytes of an event id (1)" },
    OptionHelp { key: "seq", value: "on|off", help: "frames have sequence numbers (on)" },
    OptionHelp { key: "ts", value: "0|1|2|4", help: "bytes of a timestamp (4)" },
    OptionHelp { key: "checksum", value: "on|off", help: "frames have a checksum (on)" },
    OptionHelp { key: "ptr", value: "2|4", help: "bytes of an address (4)" },
    OptionHelp { key: "fptr", value: "2|4", help: "bytes of a function's address (as ptr)" },
    OptionHelp { key: "sig", value: "1|2|4", help: "bytes of a signal (1)" },
    OptionHelp { key: "esize", value: "1|2|4", help: "bytes of the size of an event (2)" },
    OptionHelp { key: "nblock", value: "1|2|4", help: "bytes of a count of memory blocks (1)" },
    OptionHelp { key: "bsize", value: "1|2|4", help: "bytes of the size of a memory block (1)" },
    OptionHelp { key: "nelem", value: "1|2|4", help: "bytes of a count of queue elements (1)" },
    OptionHelp { key: "ntimer", value: "1|2|4", help: "bytes of a number of timer ticks (2)" },
    OptionHelp { key: "sender", value: "on|off", help: "records name senders (off)" },
    OptionHelp {
        key: "que-lwm",
        value: "on|off",
        help: "queue records have low-water marks (off)",
    },
    OptionHelp {
        key: "mp-lwm",
        value: "on|off",
        help: "memory pool records have low-water marks (off)",
    },
    OptionHelp {
        key: "rate",
        value: "TICKS_PER_SECOND",
        help: "rate of the timestamps, such as 1000 or 32.768kHz; the target records at most 65535",
    },
];

/// The values of the options, with defaults for absent options.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamOptions {
    pub(super) dialect: Dialect,
    pub(super) settings: Settings,
    /// Size of function addresses in bytes, if given. No configuration record overrides it.
    pub(super) function: Option<u8>,
    /// Ticks per second, if given. This rate overrides the rate in configuration records.
    pub(super) rate: Option<Rate>,
    /// True if the user gave the dialect, a size or a switch.
    pub(super) given: bool,
}

impl StreamOptions {
    pub(super) fn from_options(options: &Options) -> Result<Self, OptionError> {
        options.check(OPTIONS)?;
        let mut settings = Settings::default();
        let s = &mut settings;
        for (key, place, sizes) in [
            ("id", &mut s.id, &[1, 2, 4][..]),
            ("ts", &mut s.stamp, &[0, 1, 2, 4]),
            ("ptr", &mut s.pointer, &[2, 4]),
            ("sig", &mut s.signal, &[1, 2, 4]),
            ("esize", &mut s.event_size, &[1, 2, 4]),
            ("nblock", &mut s.block_count, &[1, 2, 4]),
            ("bsize", &mut s.block_size, &[1, 2, 4]),
            ("nelem", &mut s.queue_count, &[1, 2, 4]),
            ("ntimer", &mut s.timer_ticks, &[1, 2, 4]),
        ] {
            *place = size(options, key, sizes)?.unwrap_or(*place);
        }
        for (key, place) in [
            ("seq", &mut s.sequence),
            ("checksum", &mut s.checksum),
            ("sender", &mut s.sender),
            ("que-lwm", &mut s.queue_low_water),
            ("mp-lwm", &mut s.pool_low_water),
        ] {
            *place = switch(options, key)?.unwrap_or(*place);
        }
        // Function addresses are as large as other addresses, unless the user specified their size.
        let function = size(options, "fptr", &[2, 4])?;
        settings.function = function.unwrap_or(settings.pointer);
        let dialect = options.parse("dialect")?.unwrap_or(Dialect::V3_4);
        // `rate` does not change the layout of frames, and `fptr` has its own default. So if the
        // user gave only these, the settings can still be inferred.
        let of_frames = |option: &&OptionHelp| !matches!(option.key, "rate" | "fptr");
        let mut of_frames = OPTIONS.iter().filter(of_frames);
        let given = of_frames.any(|option| options.get(option.key).is_some());
        Ok(Self { dialect, settings, function, rate: options.parse("rate")?, given })
    }
}

fn size(options: &Options, key: &str, sizes: &[u8]) -> Result<Option<u8>, OptionError> {
    let Some(number) = options.number(key)? else { return Ok(None) };
    let found = sizes.iter().copied().find(|size| u64::from(*size) == number);
    let wrong = || {
        let sizes: Vec<_> = sizes.iter().map(u8::to_string).collect();
        OptionError::new(key, format!("expected {}, found {number}", sizes.join(", ")))
    };
    found.map(Some).ok_or_else(wrong)
}

fn switch(options: &Options, key: &str) -> Result<Option<bool>, OptionError> {
    match options.get(key) {
        None => Ok(None),
        Some("on" | "1") => Ok(Some(true)),
        Some("off" | "0") => Ok(Some(false)),
        Some(other) => Err(OptionError::new(key, format!("expected on or off, found '{other}'"))),
    }
}
