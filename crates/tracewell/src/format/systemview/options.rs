//! The options: facts about a stream that its bytes do not contain.

use super::events::Given;
use super::kernels::{self, Kernel};
use crate::format::{OptionError, OptionHelp, Options};
use crate::model::Rate;

/// The options of this format.
pub(super) const OPTIONS: &[OptionHelp] = &[
    OptionHelp {
        key: "kernel",
        value: "NAME",
        help: "table of system events: freertos, freertos-esp-idf, zephyr, … or none; by default the target's own",
    },
    OptionHelp {
        key: "rate",
        value: "TICKS_PER_SECOND",
        help: "rate of the timestamps, such as 25MHz; overrides the rate in the stream",
    },
    OptionHelp {
        key: "base",
        value: "ADDRESS",
        help: "address that the target subtracts from those of tasks and resources; overrides the stream",
    },
    OptionHelp {
        key: "shift",
        value: "0..31",
        help: "number of bits by which the target shifts these addresses; overrides the stream",
    },
    OptionHelp {
        key: "cores",
        value: "in-ids",
        help: "event ids contain the number of the core, as in ESP32 streams of 2020 to 2024 without a head",
    },
];

/// Returns the facts that the options specify.
pub(super) fn given(options: &Options) -> Result<Given, OptionError> {
    let rate = options.get("rate").map(str::parse::<Rate>).transpose();
    let kernel = options.get("kernel").map(|name| match name {
        "none" => Ok(None),
        name => Kernel::named(name).map(Some).ok_or_else(|| {
            let message = format!("expected {}, found '{name}'", kernels::VALUES);
            OptionError::new("kernel", message)
        }),
    });
    Ok(Given {
        rate: rate.map_err(|error| OptionError::new("rate", error.to_string()))?,
        base: number(options, "base", u32::MAX)?,
        shift: number(options, "shift", 31)?,
        kernel: kernel.transpose()?,
    })
}

/// Returns true if ids contain the number of the core.
pub(super) fn core_in_id(options: &Options) -> Result<bool, OptionError> {
    match options.get("cores") {
        None => Ok(false),
        Some("in-ids") => Ok(true),
        Some(found) => {
            let message = format!("expected in-ids, found '{found}'");
            Err(OptionError::new("cores", message))
        }
    }
}

/// Returns a decimal or hexadecimal number.
fn number(options: &Options, key: &str, max: u32) -> Result<Option<u32>, OptionError> {
    let Some(text) = options.get(key) else { return Ok(None) };
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    match parsed {
        Ok(number) if number <= max => Ok(Some(number)),
        _ => {
            let message = format!("expected a number up to {max}, found '{text}'");
            Err(OptionError::new(key, message))
        }
    }
}
