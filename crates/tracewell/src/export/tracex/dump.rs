//! The text of TraceX's raw trace dump. Lines end with LF.

use std::io::{self, Write};

use tracewell_wire::threadx::ids;

use super::{Event, IDLE, INITIALIZATION, INTERRUPT, Object, ThreadSummary, Trace};
use crate::export::ExportNames;

/// Returns the padded labels of the event ids below 1000. Larger ids are user events.
fn labels() -> Vec<String> {
    let mut labels = vec![String::new(); 1000];
    for line in include_str!("labels.tsv").lines().skip(1) {
        let mut fields = line.split('\t');
        let mut number = || fields.next().and_then(|field| field.parse::<usize>().ok());
        if let (Some(id), Some(width)) = (number(), number())
            && let Some(label) = labels.get_mut(id)
        {
            *label = format!("{:<width$}", fields.next().unwrap_or_default());
        }
    }
    labels
}

/// Ids below this number have a label in the list of popular services.
const POPULAR_LABELS: u16 = 438;

/// A trace, with the other data that its dump needs.
pub(super) struct Dump<'a> {
    trace: &'a Trace,
    summaries: Vec<ThreadSummary>,
    labels: Vec<String>,
}

/// Returns a title between rows of asterisks, followed by the line of column names.
fn title(before: usize, text: &str, after: usize, columns: &str) -> String {
    let row = |count| "*".repeat(count);
    format!("{} {text} {}\n{columns}\n", row(before), row(after))
}

impl<'a> Dump<'a> {
    /// Prepares the dump of a trace.
    pub(super) fn new(trace: &'a Trace) -> Self {
        Self { trace, summaries: trace.thread_summaries(), labels: labels() }
    }

    /// Writes the dump. `version` is the TraceX version in the first line.
    pub(super) fn write(
        &self,
        names: &ExportNames,
        version: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        write!(out, "{}", title(55, &format!("TraceX Version {version}"), 63, ""))?;
        writeln!(out, "Input Trace File:     {}", names.input)?;
        write!(out, "Output Trace File:    {}\n\n\n", names.output)?;
        self.header(out)?;
        self.threads(out)?;
        self.objects(out)?;
        self.statistics(out)?;
        self.profile(out)?;
        self.stack(out)?;
        self.filex(out)?;
        self.netx(out)?;
        self.services(out)?;
        self.events(out)?;
        writeln!(out, "{} Trace Done {}", "*".repeat(136), "*".repeat(152))?;
        writeln!(out)
    }

    fn thread_objects(&self) -> impl Iterator<Item = (usize, &Object)> {
        self.trace.thread_objects().enumerate()
    }

    fn header(&self, out: &mut dyn Write) -> io::Result<()> {
        let facts = &self.trace.facts;
        write!(out, "{}", title(14, "Trace File Header Information", 16, ""))?;
        writeln!(out, "{:<21}{}", "Total Threads:", self.trace.threads.len())?;
        writeln!(out, "{:<21}{}", "Total Events:", self.trace.events.len())?;
        writeln!(out, "{:<21}{:020}", "Max Relative Ticks:", self.trace.max_ticks())?;
        writeln!(out, "{:<21}{:08X}", "Trace ID:", facts.trace_id)?;
        writeln!(out, "{:<21}{:08X}", "Timer Mask:", facts.timer_valid_mask)?;
        writeln!(out, "{:<21}{}", "Object Name Size:", facts.object_name_size)?;
        let addresses = [
            ("Trace Base Address:", facts.trace_base_address),
            ("Object Start:", facts.registry_start),
            ("Object End:", facts.registry_end),
            ("Buffer Start:", facts.buffer_start),
            ("Buffer End:", facts.buffer_end),
            ("Buffer Oldest:", facts.buffer_current),
        ];
        for (label, address) in addresses {
            writeln!(out, "{label:<21}{address:08X}")?;
        }
        write!(out, "\n\n")
    }

    fn threads(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = "   Address        Stack         Total Events               Name\n";
        write!(out, "{}", title(42, "Threads in this Trace", 41, columns))?;
        let range = |range: Option<(u32, u32)>| match range {
            Some((low, high)) => format!("{low}/{high}"),
            None => "?/?".to_owned(),
        };
        for (thread, object) in self.thread_objects() {
            let (start, end) =
                (object.parameter1, object.parameter1.wrapping_add(object.parameter2));
            let summary = &self.summaries[thread];
            write!(out, "  {:08X}  {start:08X}-{end:08X}  ", object.address)?;
            write!(out, "{:8}  ", summary.events)?;
            out.write_all(&object.name)?;
            let (priority, threshold) = (range(summary.priority), range(summary.threshold));
            writeln!(out, " (Priority: {priority})  (Preemption-Threshold: {threshold}) ")?;
        }
        write!(out, "\n\n")
    }

    fn objects(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = "   Address       Type                  Name                    Reserved1  \
                       Reserved2        Parameter 1                          Parameter 2\n";
        write!(out, "{}", title(64, "Objects in Trace", 65, columns))?;
        for object in &self.trace.objects {
            write!(out, "  {:08X}{}", object.address, type_text(object.kind))?;
            write!(out, "  {}", " ".repeat(32_usize.saturating_sub(object.name.len())))?;
            out.write_all(&object.name)?;
            write!(out, "         {:02X}         {:02X}", object.reserved1, object.reserved2)?;
            writeln!(out, "{}", parameters(object))?;
        }
        write!(out, "\n\n")
    }

    fn statistics(&self, out: &mut dyn Write) -> io::Result<()> {
        let statistics = self.trace.statistics();
        write!(out, "{}", title(14, "Performance Statistics", 23, ""))?;
        let lines = [
            ("Context Switches:", statistics.context_switches),
            ("Thread Preemptions:", statistics.preemptions),
            ("Time Slices:", statistics.time_slices),
            ("Thread Suspensions:", statistics.suspensions),
            ("Thread Resumptions:", statistics.resumptions),
            ("Interrupts:", statistics.interrupts),
            ("Nested Interrupts:", statistics.nested_interrupts),
        ];
        for (label, value) in lines {
            writeln!(out, "{label:<21}{value}")?;
        }
        let (deterministic, bad) = self.trace.inversions;
        write!(out, "{:<21}{deterministic}/{bad}\n\n\n", "Priority Inversions:")
    }

    fn profile(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = "   Total Ticks      Percentage          Name\n";
        write!(out, "{}", title(14, "Thread Execution", 29, columns))?;
        let profile = self.trace.profile();
        let max = self.trace.max_ticks();
        let mut line = |ticks: u64, name: &[u8]| {
            // Use 128 bits, because ticks can need all 64 bits.
            let share = u128::from(ticks) * 100;
            let percent = match share.checked_div(u128::from(max)) {
                // TraceX rounds down, but shows a nonzero value for a thread that has run.
                Some(0) if ticks != 0 => "<1".to_owned(),
                share => format!("{:02}", share.unwrap_or(0)),
            };
            write!(out, " {ticks:020}        {percent}%  ")?;
            out.write_all(name)?;
            writeln!(out)
        };
        for ((_, object), ticks) in self.thread_objects().zip(&profile.threads) {
            line(*ticks, &object.name)?;
        }
        line(profile.idle, b"Idle System")?;
        line(profile.interrupt, b"Interrupt")?;
        write!(out, "\n\n")
    }

    fn stack(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = "   Stack Size\tMinimum   Event ID        Name\n";
        write!(out, "{}", title(14, "Thread Stack Usage", 27, columns))?;
        for ((_, object), usage) in self.thread_objects().zip(self.trace.stack_usage()) {
            // No event of this thread contains a stack address.
            if usage.minimum_available == usage.size {
                write!(out, " {:8}          ---       ---     ", usage.size)?;
            } else {
                let (free, event) = (usage.minimum_available, usage.event);
                write!(out, " {:8}     {free:8}  {event:8}     ", usage.size)?;
            }
            out.write_all(&object.name)?;
            writeln!(out)?;
        }
        write!(out, "\n\n")
    }

    fn filex(&self, out: &mut dyn Write) -> io::Result<()> {
        let c = self.trace.filex();
        write!(out, "{}", title(14, "FileX Performance Statistics", 29, ""))?;
        let groups: [(&str, &[(&str, u32)]); 4] = [
            (
                "Media",
                &[
                    ("Opens:", c.media_opens),
                    ("Closes:", c.media_closes),
                    ("Aborts:", c.media_aborts),
                    ("Flushes:", c.media_flushes),
                ],
            ),
            (
                "Directory",
                &[
                    ("Reads:", c.directory_reads),
                    ("Writes:", c.directory_writes),
                    ("Cache Misses:", c.directory_cache_misses),
                ],
            ),
            (
                "File",
                &[
                    ("Opens:", c.file_opens),
                    ("Closes:", c.file_closes),
                    ("Bytes Read:", c.file_bytes_read),
                    ("Bytes Written:", c.file_bytes_written),
                ],
            ),
            (
                "Logical Sector",
                &[
                    ("Reads:", c.logical_sector_reads),
                    ("Writes:", c.logical_sector_writes),
                    ("Cache Misses:", c.logical_sector_cache_misses),
                ],
            ),
        ];
        counters(out, &groups, 15)?;
        writeln!(out)
    }

    fn netx(&self, out: &mut dyn Write) -> io::Result<()> {
        let c = self.trace.netx();
        write!(out, "{}", title(14, "NetX Performance Statistics", 29, "\n"))?;
        let groups: [(&str, &[(&str, u32)]); 6] = [
            (
                "ARP",
                &[
                    ("Requests Sent:", c.arp_requests_sent),
                    ("Responses Sent:", c.arp_responses_sent),
                    ("Requests Received:", c.arp_requests_received),
                    ("Responses Received:", c.arp_responses_received),
                ],
            ),
            (
                "Packet Pool",
                &[
                    ("Allocations:", c.packet_allocations),
                    ("Releases:", c.packet_releases),
                    ("Empty Allocation Requests:", c.empty_allocations),
                    ("Invalid Releases:", c.invalid_releases),
                ],
            ),
            ("Ping", &[("Pings Sent:", c.pings_sent), ("Ping Responses:", c.ping_responses)]),
            (
                "IP",
                &[
                    ("Packets Sent:", c.ip_packets_sent),
                    ("Total Bytes Sent:", c.ip_bytes_sent),
                    ("Packets Received:", c.ip_packets_received),
                    ("Total Bytes Received:", c.ip_bytes_received),
                ],
            ),
            (
                "TCP",
                &[
                    ("Client Connections:", c.tcp_client_connections),
                    ("Server Connections:", c.tcp_server_connections),
                    ("Packets Sent:", c.tcp_packets_sent),
                    ("Total Bytes Sent:", c.tcp_bytes_sent),
                    ("Packets Received:", c.tcp_packets_received),
                    ("Total Bytes Received:", c.tcp_bytes_received),
                ],
            ),
            (
                "UDP",
                &[
                    ("Packets Sent:", c.udp_packets_sent),
                    ("Total Bytes Sent:", c.udp_bytes_sent),
                    ("Packets Received:", c.udp_packets_received),
                    ("Total Bytes Received:", c.udp_bytes_received),
                ],
            ),
        ];
        counters(out, &groups, 28)?;
        writeln!(out)
    }

    fn services(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = "   Service ID        Count \n";
        write!(out, "{}", title(14, "Popular Services", 29, columns))?;
        for (id, count) in self.trace.popular_services() {
            let label = match self.labels.get(usize::from(id)) {
                Some(label) if id < POPULAR_LABELS => label.as_str(),
                _ => "USER EVENT             ",
            };
            writeln!(out, "{label}({id:5})        {count:8}")?;
        }
        write!(out, "\n\n")
    }

    fn events(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = "  Event Number     Relative Time                   Event                 \
                       \x20        Context                        Priority                Next Context        \
                       \x20           Info1           Info2           Info3           Info4        Raw Time \
                       Stamp    Priority Inversion   Raw Event        Raw Priority\n";
        write!(out, "{}", title(135, "Trace Events", 152, columns))?;
        for (k, event) in self.trace.events.iter().enumerate() {
            self.event(out, k, event)?;
        }
        Ok(())
    }

    fn event(&self, out: &mut dyn Write, k: usize, event: &Event) -> io::Result<()> {
        let id = event.id();
        let label = match self.labels.get(usize::from(id)) {
            Some(label) => format!("{label} "),
            None => format!("{:<24}", "USER EVENT"),
        };
        write!(out, "{k:8}        {:020}    {label}({id:5})       ", event.ticks)?;
        self.context(out, event.context, "Idle")?;
        let priority = match (event.context, event.threshold) {
            (INITIALIZATION, _) => "           -    ".to_owned(),
            // For an interrupt, the priority word is the address of the interrupted thread.
            (INTERRUPT, _) => format!("    {:08X}    ", event.priority),
            (_, Some(threshold)) => format!("    {:8} ({threshold:4})    ", event.priority),
            (_, None) => format!("    {:8} (   ?)    ", event.priority),
        };
        write!(out, "{priority}       ")?;
        self.context(out, event.next, "Idle System")?;
        for (index, word) in event.info.iter().enumerate() {
            write!(out, "    I{}: {word:08X}", index + 1)?;
        }
        let (end, bad_end) = (event.inversion_end, event.bad_inversion_end);
        write!(out, "        {:08X}            {end}-{bad_end}             ", event.stamp)?;
        // Recorded RUNNING events look like those that TraceX inserts.
        if id == ids::RUNNING {
            writeln!(out, "--------          --------")
        } else {
            writeln!(out, "{:08X}          {:08X}", event.id_word, event.priority_word)
        }
    }

    /// Writes a context, 27 characters wide.
    fn context(&self, out: &mut dyn Write, context: u32, idle: &str) -> io::Result<()> {
        let special = match context {
            INITIALIZATION => "Initialization",
            INTERRUPT => "Interrupt",
            IDLE => idle,
            _ => {
                let object =
                    self.trace.object_at(context).map(|object| &self.trace.objects[object]);
                let name = object.map_or(&b"No Name Found"[..], |object| object.name.as_slice());
                // TraceX cuts names to the width of the column.
                let shown = name.get(..16).unwrap_or(name);
                out.write_all(shown)?;
                return write!(out, " ({context:08X}){}", " ".repeat(16 - shown.len()));
            }
        };
        write!(out, "{special:<27}")
    }
}

/// Writes groups of counters, each followed by a blank line.
fn counters(
    out: &mut dyn Write,
    groups: &[(&str, &[(&str, u32)])],
    width: usize,
) -> io::Result<()> {
    for (name, lines) in groups {
        writeln!(out, "{name} Statistics:")?;
        for (label, value) in *lines {
            writeln!(out, "  {label:<width$}{value}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Returns the cell with an object's type.
fn type_text(kind: u8) -> String {
    let name = match kind {
        1 => "THREAD",
        2 => "TIMER",
        3 => "QUEUE",
        4 => "SEMAPHORE",
        5 => "MUTEX",
        6 => "EVENT FLAGS",
        7 => "BLOCK POOL",
        8 => "BYTE POOL",
        9 => "FX MEDIA",
        10 => "FX FILE",
        11 => "NX IP",
        12 => "NX PK POOL",
        13 => "NX TCP SOC",
        14 => "NX UDP SOC",
        _ => return "   UNKNOWN".to_owned(),
    };
    format!("   {name:<11}")
}

/// Returns the cells with an object's parameters.
fn parameters(object: &Object) -> String {
    let (first, second) = (object.parameter1, object.parameter2);
    let (signed, second_signed) = (first as i32, second as i32);
    // TraceX prints addresses and types of service in hexadecimal, and other numbers as signed.
    let label = match object.kind {
        1 => {
            format!("Stack Start:   {first:08X}               Stack Size:       {second_signed}")
        }
        2 => format!("Initial Ticks: {signed:8}               Reschedule Ticks: {second_signed}"),
        3 => format!("Queue Size:    {signed:8}               Message Size:     {second_signed}"),
        4 => format!("Initial Count: {signed:8}"),
        5 if first == 0 => "No Inheritance".to_owned(),
        5 => "Priority Inheritance Enabled".to_owned(),
        7 => format!("Total Blocks:  {signed:8}               Block Size:       {second_signed}"),
        8 => format!("Total Size:    {signed:8}"),
        11 => {
            format!("Stack Address: {first:08X}               Stack Size:       {second_signed}")
        }
        12 => format!("Packet Size:   {signed:8}               Number of Packets:{second_signed}"),
        13 => {
            format!("Type of Serv:  {first:08X}               Window Size:      {second_signed}")
        }
        14 => {
            format!("Type of Serv:  {first:08X}               Receive Queue Max:{second_signed}")
        }
        _ => return String::new(),
    };
    format!("       {label}")
}
