//! Compares the ThreadX schema with the reference tables: every id, name, argument and object type.

mod support;

use support::{number, shared, table};
use tracewell::model::schema::{Argument, ArgumentKind};

#[test]
fn every_event_of_the_reference_table_is_there() {
    let Some(shared) = shared() else { return };
    let schema = tracewell::format::threadx::schema();
    let rows = table(&shared.join("data/threadx/events.tsv"));
    assert_eq!(rows.len(), 651);
    assert_eq!(schema.events().len(), 651);
    for row in rows {
        let id = number(&row["id"]) as u32;
        assert!(schema.defines(id), "{id}");
        let event = schema.event(id);
        assert_eq!(event.name, row["name"], "{id}");
        let class = row["event_class_bits"].as_str();
        if let Ok(bits) = u32::from_str_radix(class.trim_start_matches("0x"), 16) {
            assert_eq!(event.filter, bits, "{id}");
        }
        for (index, column) in ["info1", "info2", "info3", "info4"].into_iter().enumerate() {
            let argument = event.args.get(index);
            let named = argument.is_some_and(|arg| arg.kind != ArgumentKind::Unnamed);
            // The table contains only those words that have a name in a comment of the header
            // files. For these events, the kernel records more words.
            let is_recorded = [662, 948, 949, 950, 951, 952, 953, 955, 958].contains(&id);
            assert_eq!(named, row[column] != "-" || (named && is_recorded), "{id} {column}");
        }
    }
}

#[test]
fn every_object_type_of_the_reference_table_is_there() {
    let Some(shared) = shared() else { return };
    let schema = tracewell::format::threadx::schema();
    for row in table(&shared.join("data/threadx/objects.tsv")) {
        let code = number(&row["type"]) as u32;
        let kind = schema.object_kind(code);
        match kind {
            Some(kind) => assert_eq!(kind.symbol, row["symbol"], "{code}"),
            None => assert!(code == 0 || row["component"] == "reserved", "{code}"),
        }
    }
}

#[test]
fn names_are_unique_and_labels_are_there() {
    let schema = tracewell::format::threadx::schema();
    let mut names: Vec<_> = schema.events().map(|event| &event.name).collect();
    names.sort();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    assert!(schema.events().all(|event| !event.label.is_empty()));
}

/// Returns the kind and name of each argument of an event. The name of a table is the name of its
/// first entry.
fn arguments(id: u32) -> Vec<String> {
    let schema = tracewell::format::threadx::schema();
    let argument = |argument: &Argument| match argument.kind {
        ArgumentKind::Enum(table) => {
            format!("{} {}", argument.name, schema.enum_name(table, 1).unwrap_or("?"))
        }
        ArgumentKind::Object(Some(kind)) => {
            format!("{} {}", argument.name, schema.object_kind(kind).unwrap().label)
        }
        ArgumentKind::Ipv4 => format!("{} ip", argument.name),
        _ => argument.name.clone(),
    };
    schema.event(id).args.iter().map(argument).collect()
}

#[test]
fn words_are_those_that_kernels_store_even_if_their_headers_differ() {
    assert_eq!(arguments(243), ["file_ptr file", "file_size"]);
    assert_eq!(
        arguments(310),
        ["ip_ptr IP instance", "socket_ptr TCP socket", "packet_ptr", "sequence"]
    );
    assert_eq!(
        arguments(355),
        ["ip_ptr IP instance", "arps_sent", "arp_responses_received", "arps_received"]
    );
    assert_eq!(
        arguments(384),
        ["ip_ptr IP instance", "destination_ip ip", "type_of_service", "packet_ptr"]
    );
    assert_eq!(arguments(418)[2..], ["mss", "socket_state closed"]);
    assert_eq!(arguments(449)[2..], ["physical_address_msw", "physical_address_lsw"]);
    assert_eq!(arguments(951)[1..], ["object_handle", "object_property_code"]);
}

#[test]
fn states_of_tcp_sockets_are_not_those_of_threads() {
    assert_eq!(arguments(323)[2..], ["previous_state closed", "new_state closed"]);
    assert_eq!(arguments(422)[2..], ["desired_state closed", "previous_state closed"]);
    let schema = tracewell::format::threadx::schema();
    let ArgumentKind::Enum(states) = schema.event(323).args[3].kind else { panic!("no states") };
    let names = (0..=12).filter_map(|state| schema.enum_name(states, state));
    let expected = [
        "closed",
        "listen",
        "SYN sent",
        "SYN received",
        "established",
        "close wait",
        "FIN wait 1",
        "FIN wait 2",
        "closing",
        "timed wait",
        "last ACK",
    ];
    assert!(names.eq(expected));
    let ArgumentKind::Enum(status) = schema.event(394).args[1].kind else { panic!("no status") };
    assert_eq!(schema.enum_name(status, 0xEEEE_EEEE), Some("queued"));
}
