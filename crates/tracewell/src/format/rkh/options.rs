//! What a user says of a stream: settings of its target, where no configuration record tells.

use tracewell_wire::rkh::{Dialect, Settings};

use crate::format::{OptionError, OptionHelp, Options};
use crate::model::Rate;

/// The options of this format. A configuration record overrides all but `fptr` and `rate`, which it
/// does not tell, or not exactly. Without one, and without options, settings are found by the
/// frames.
pub(super) const OPTIONS: &[OptionHelp] = &[
    OptionHelp {
        key: "dialect",
        value: "VERSION",
        help: "2.0-pre, 2.0, 2.2, 2.3, 2.4.3, 2.4.4, 2.4.5 or 3.4 (3.4)",
    },
    OptionHelp { key: "id", value: "1|2|4", help: "bytes of an event id (1)" },
    OptionHelp { key: "seq", value: "on|off", help: "whether frames are numbered (on)" },
    OptionHelp { key: "ts", value: "0|1|2|4", help: "bytes of a time stamp (4)" },
    OptionHelp { key: "checksum", value: "on|off", help: "whether frames have a checksum (on)" },
    OptionHelp { key: "ptr", value: "2|4", help: "bytes of an address (4)" },
    OptionHelp { key: "fptr", value: "2|4", help: "bytes of a function's address (as ptr)" },
    OptionHelp { key: "sig", value: "1|2|4", help: "bytes of a signal (1)" },
    OptionHelp { key: "esize", value: "1|2|4", help: "bytes of the size of an event (2)" },
    OptionHelp { key: "nblock", value: "1|2|4", help: "bytes of a count of memory blocks (1)" },
    OptionHelp { key: "bsize", value: "1|2|4", help: "bytes of the size of a memory block (1)" },
    OptionHelp { key: "nelem", value: "1|2|4", help: "bytes of a count of queue elements (1)" },
    OptionHelp { key: "ntimer", value: "1|2|4", help: "bytes of a number of timer ticks (2)" },
    OptionHelp { key: "sender", value: "on|off", help: "whether records name senders (off)" },
    OptionHelp {
        key: "que-lwm",
        value: "on|off",
        help: "whether queue records have low-water marks (off)",
    },
    OptionHelp {
        key: "mp-lwm",
        value: "on|off",
        help: "whether memory pool records have low-water marks (off)",
    },
    OptionHelp {
        key: "rate",
        value: "TICKS_PER_SECOND",
        help: "rate of the time stamps: 1000, 32.768kHz; the target tells at most 65535",
    },
];

/// The options as typed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) dialect: Dialect,
    pub(super) settings: Settings,
    /// Given by the user, so that no configuration record overrides it.
    pub(super) function: Option<u8>,
    pub(super) rate: Option<Rate>,
    /// Whether the user said anything of the dialect or of the sizes.
    pub(super) told: bool,
}

impl Known {
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
        let function = size(options, "fptr", &[2, 4])?;
        settings.function = function.unwrap_or(settings.pointer);
        let dialect = options.parse("dialect")?.unwrap_or(Dialect::V3_4);
        let told = |option: &OptionHelp| !matches!(option.key, "rate" | "fptr");
        let told = OPTIONS.iter().any(|option| told(option) && options.get(option.key).is_some());
        Ok(Self { dialect, settings, function, rate: options.parse("rate")?, told })
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
