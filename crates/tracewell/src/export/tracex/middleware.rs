//! Computes the counters of FileX and NetX as 32-bit sums. TraceX does not count the ids that only
//! NetX Duo has.

use super::trace::{Event, Trace};

/// Calls and bytes of the file system FileX, counted over the whole trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct FileX {
    pub media_opens: u32,
    pub media_closes: u32,
    pub media_aborts: u32,
    pub media_flushes: u32,
    pub directory_reads: u32,
    pub directory_writes: u32,
    pub directory_cache_misses: u32,
    pub file_opens: u32,
    pub file_closes: u32,
    pub file_bytes_read: u32,
    pub file_bytes_written: u32,
    pub logical_sector_reads: u32,
    pub logical_sector_writes: u32,
    pub logical_sector_cache_misses: u32,
}

/// Packets, bytes and calls of the network stack NetX, counted over the whole trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct NetX {
    pub arp_requests_sent: u32,
    pub arp_responses_sent: u32,
    pub arp_requests_received: u32,
    pub arp_responses_received: u32,
    pub packet_allocations: u32,
    pub packet_releases: u32,
    pub empty_allocations: u32,
    pub invalid_releases: u32,
    pub ip_packets_sent: u32,
    pub ip_bytes_sent: u32,
    pub ip_packets_received: u32,
    pub ip_bytes_received: u32,
    pub pings_sent: u32,
    pub ping_responses: u32,
    pub tcp_client_connections: u32,
    pub tcp_server_connections: u32,
    pub tcp_packets_sent: u32,
    pub tcp_bytes_sent: u32,
    pub tcp_packets_received: u32,
    pub tcp_bytes_received: u32,
    pub udp_packets_sent: u32,
    pub udp_bytes_sent: u32,
    pub udp_packets_received: u32,
    pub udp_bytes_received: u32,
}

/// Value of an information word in the event of a packet release. It means that the packet had been
/// allocated.
const ALLOCATED: u32 = 0xAAAA_AAAA;

impl Trace {
    /// Returns the FileX counters.
    pub fn filex(&self) -> FileX {
        let mut c = FileX::default();
        for event in &self.events {
            let [_, _, third, fourth] = event.info;
            match event.id() {
                201 => add(&mut c.logical_sector_cache_misses, 1),
                202 => add(&mut c.directory_cache_misses, 1),
                203 => add(&mut c.media_flushes, 1),
                204 => add(&mut c.directory_reads, 1),
                205 => add(&mut c.directory_writes, 1),
                206 => add(&mut c.logical_sector_reads, third),
                207 => add(&mut c.logical_sector_writes, third),
                243 => add(&mut c.file_closes, 1),
                247 => add(&mut c.file_opens, 1),
                248 => add(&mut c.file_bytes_read, fourth),
                254 => add(&mut c.file_bytes_written, fourth),
                255 => add(&mut c.media_aborts, 1),
                258 => add(&mut c.media_closes, 1),
                261 => add(&mut c.media_opens, 1),
                _ => {}
            }
        }
        c
    }

    /// Returns the NetX counters.
    pub fn netx(&self) -> NetX {
        let mut counters = NetX::default();
        self.events.iter().for_each(|event| counters.add(event));
        counters
    }
}

impl NetX {
    fn add(&mut self, event: &Event) {
        let [_, second, third, fourth] = event.info;
        match event.id() {
            300 => add(&mut self.arp_requests_received, 1),
            301 => add(&mut self.arp_requests_sent, 1),
            302 => add(&mut self.arp_responses_received, 1),
            303 => add(&mut self.arp_responses_sent, 1),
            // Type and code of the ICMP header are 0 in the reply to a ping.
            304 => add(&mut self.ping_responses, u32::from(fourth & 0xFFFF_0000 == 0)),
            308 => both(&mut self.ip_packets_received, &mut self.ip_bytes_received, fourth),
            309 => both(&mut self.ip_packets_sent, &mut self.ip_bytes_sent, fourth),
            362 => add(&mut self.pings_sent, 1),
            386 => {
                let empty = u32::from(fourth == 0);
                both(&mut self.packet_allocations, &mut self.empty_allocations, empty);
            }
            394 => {
                let invalid = u32::from(second != ALLOCATED);
                both(&mut self.packet_releases, &mut self.invalid_releases, invalid);
            }
            401 => add(&mut self.tcp_client_connections, 1),
            407 => add(&mut self.tcp_server_connections, 1),
            419 => both(&mut self.tcp_packets_received, &mut self.tcp_bytes_received, third),
            421 => both(&mut self.tcp_packets_sent, &mut self.tcp_bytes_sent, third),
            434 => both(&mut self.udp_packets_received, &mut self.udp_bytes_received, fourth),
            436 => both(&mut self.udp_packets_sent, &mut self.udp_bytes_sent, third),
            _ => {}
        }
    }
}

fn add(counter: &mut u32, by: u32) {
    *counter = counter.wrapping_add(by);
}

/// Increments a counter, and adds an amount to a sum.
fn both(counter: &mut u32, sum: &mut u32, by: u32) {
    add(counter, 1);
    add(sum, by);
}
