//! Tests the settings of formats: options, defaults from a configuration file, and their errors.

use std::sync::Arc;

use tracewell::format::{DefaultNames, DefaultOption, NamesFile, OptionError, Settings, by_name};
use tracewell::model::schema::Extension;

/// Returns the error of a format's decoder with these settings.
fn error(format: &str, settings: &Settings) -> Option<OptionError> {
    by_name(format).unwrap().decoder(settings).err()
}

/// Returns the text of the error.
fn text(format: &str, settings: &Settings) -> String {
    error(format, settings).map(|error| error.to_string()).unwrap_or_default()
}

/// Returns settings with default options: format, key and value. The place of each is its index.
fn with_defaults(options: &[(&'static str, &str, &str)]) -> Settings {
    let mut settings = Settings::default();
    for (place, &(format, key, value)) in options.iter().enumerate() {
        settings.defaults.options.push(DefaultOption {
            format,
            key: key.to_owned(),
            value: value.to_owned(),
            place: place.to_string(),
        });
    }
    settings
}

fn names_file(flag: &'static str, text: &str) -> NamesFile {
    NamesFile { flag, path: "names".to_owned(), text: text.into() }
}

#[test]
fn an_error_says_whether_the_option_or_its_value_is_unknown() {
    let mut settings = Settings::default();
    settings.options.set("rate", "fast");
    let wrong = error("threadx", &settings).unwrap();
    assert_eq!((wrong.key(), wrong.is_unknown()), ("rate", false));
    assert_eq!(wrong.to_string(), format!("-O rate: {}", wrong.message()));
    settings.options.set("speed", "fast");
    let unknown = error("threadx", &settings).unwrap();
    assert_eq!((unknown.key(), unknown.is_unknown()), ("speed", true));
    assert!(
        unknown.message().starts_with("unknown option; this format has names, rate, "),
        "{unknown}"
    );
    let none = error("arrivals", &settings).unwrap();
    assert_eq!((none.message(), none.is_unknown()), ("this format has no options", true));
    let without_value = settings.options.add("rate").unwrap_err();
    assert_eq!(without_value.to_string(), "-O rate: expected key=value");
    assert!(!without_value.is_unknown());
}

#[test]
fn an_error_in_a_default_option_names_its_place() {
    let mut settings = with_defaults(&[
        ("aix", "rate", "fast"),
        ("threadx", "direction", "up"),
        ("threadx", "rate", "fast"),
        ("threadx", "modulus", "100"),
        ("rkh", "rate", "fast"),
    ]);
    assert!(text("threadx", &settings).starts_with("2: rate: "), "{}", text("threadx", &settings));
    assert!(text("rkh", &settings).starts_with("4: rate: "));
    assert_eq!(text("native", &settings), "");
    // Of several defaults, the last one applies.
    let twice = with_defaults(&[("threadx", "rate", "1MHz"), ("threadx", "rate", "fast")]);
    assert!(text("threadx", &twice).starts_with("1: rate: "));
    // An option that the user types replaces the default.
    settings.options.set("rate", "1MHz");
    assert_eq!(text("threadx", &settings), "");
    settings.options.set("rate", "slow");
    assert!(text("threadx", &settings).starts_with("-O rate: "));
}

#[test]
fn an_error_in_a_default_file_of_names_names_its_place() {
    let mut settings = Settings::default();
    for (place, format) in ["shark", "aix", "shark"].into_iter().enumerate() {
        let file = names_file("--names", if format == "aix" { "5" } else { "" });
        let place = place.to_string();
        settings.defaults.names.push(DefaultNames { format, file, place });
    }
    let message = error("aix", &settings).unwrap().message().to_owned();
    assert_eq!(text("aix", &settings), format!("1: names: {message}"));
    assert_eq!(text("shark", &settings), "");
    settings.names.push(names_file("--names", "5"));
    assert_eq!(text("aix", &settings), format!("--names: {message}"));
    // A default option is not the cause of an error in a file.
    let mut settings = with_defaults(&[("aix", "names", "5=five")]);
    settings.names.push(names_file("--names", "5"));
    assert_eq!(text("aix", &settings), format!("--names: {message}"));
}

#[test]
fn a_format_reads_only_the_files_of_names_with_its_flag() {
    let with = |flag| Settings { names: vec![names_file(flag, "")], ..Settings::default() };
    assert_eq!(text("threadx", &with("--custom-events")), "");
    assert_eq!(
        text("threadx", &with("--names")),
        "--names: this flag is for traces of format aix or shark, and this is a trace of threadx; \
         try --custom-events"
    );
    assert_eq!(
        text("rkh", &with("--custom-events")),
        "--custom-events: this flag is for traces of format threadx, and this is a trace of rkh"
    );
}

#[test]
fn only_some_formats_join_several_files() {
    let joined = Settings { parts: vec![8], ..Settings::default() };
    assert_eq!(text("threadx", &joined), "");
    assert_eq!(text("target", &joined), "--join: traces of format target cannot be joined");
}

#[test]
fn an_error_in_a_schema_file_says_whether_the_file_is_a_default() {
    let file = |format: &str| {
        let text = format!("format = \"{format}\"\n[[event]]\nname = \"NOTHING\"\n");
        Arc::new(Extension::parse(&text, "mine.toml").unwrap())
    };
    for (format, is_error) in [("rkh", true), ("threadx", false), ("thread", true)] {
        let typed = Settings { schemas: vec![file(format)], ..Settings::default() };
        let mut default = Settings::default();
        default.defaults.schemas.push(file(format));
        for (settings, flag) in [(typed, "--schema: "), (default, "schemas: ")] {
            let text = text("rkh", &settings);
            assert_eq!(text.starts_with(flag), is_error, "{text}");
            let is_unknown = text.contains("no format named 'thread'; did you mean 'threadx'");
            assert_eq!(is_unknown, format == "thread", "{text}");
        }
    }
}

#[test]
fn formats_ship_their_templates() {
    let shipped = |format| Some(by_name(format).unwrap().shipped_template()?.name);
    assert_eq!(shipped("rkh").as_deref(), Some("templates/rkh.fmt"));
    assert_eq!(shipped("arrivals"), None);
}

#[test]
fn options_have_limits() {
    const SIZES: &str = "expected 1, 2, 4, found 3";
    const SWITCH: &str = "expected on or off, found 'yes'";
    let kernels = "expected freertos, freertos-esp-idf, zephyr, threadx, nuttx, ucos2, ucos3, \
                   micrium-os or none, found 'rtos'";
    for (format, key, valid, invalid, message) in [
        (
            "systemview",
            "shift",
            &["0", "31", "0x1F"][..],
            "32",
            "expected a number up to 31, found '32'",
        ),
        (
            "systemview",
            "base",
            &["4294967295", "0xFFFFFFFF"],
            "0x100000000",
            "expected a number up to 4294967295, found '0x100000000'",
        ),
        ("systemview", "kernel", &["none", "freertos", "ucos3"], "rtos", kernels),
        ("systemview", "cores", &["in-ids"], "1", "expected in-ids, found '1'"),
        ("rkh", "id", &["1", "2", "4"], "3", SIZES),
        ("rkh", "ts", &["0", "1", "2", "4"], "3", "expected 0, 1, 2, 4, found 3"),
        ("rkh", "ptr", &["2", "4"], "1", "expected 2, 4, found 1"),
        ("rkh", "fptr", &["2", "4"], "1", "expected 2, 4, found 1"),
        ("rkh", "sig", &["1", "2", "4"], "3", SIZES),
        ("rkh", "esize", &["1", "2", "4"], "3", SIZES),
        ("rkh", "nblock", &["1", "2", "4"], "3", SIZES),
        ("rkh", "bsize", &["1", "2", "4"], "3", SIZES),
        ("rkh", "nelem", &["1", "2", "4"], "3", SIZES),
        ("rkh", "ntimer", &["1", "2", "4"], "3", SIZES),
        ("rkh", "seq", &["on", "1", "off", "0"], "yes", SWITCH),
        ("rkh", "checksum", &["on", "1", "off", "0"], "yes", SWITCH),
        ("rkh", "sender", &["on", "1", "off", "0"], "yes", SWITCH),
        ("rkh", "que-lwm", &["on", "1", "off", "0"], "yes", SWITCH),
        ("rkh", "mp-lwm", &["on", "1", "off", "0"], "yes", SWITCH),
    ] {
        let text = |value: &str| {
            let mut settings = Settings::default();
            settings.options.set(key, value);
            text(format, &settings)
        };
        assert_eq!(text(invalid), format!("-O {key}: {message}"));
        assert!(valid.iter().all(|value| text(value).is_empty()), "{format} {key}");
    }
}
