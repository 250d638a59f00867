//! Reads from `/proc/net/udp` how many datagrams the system dropped because the socket buffer was
//! full.

use std::net::UdpSocket;

/// Returns the number of datagrams dropped at a socket, or `None` if the system does not report it.
#[cfg(target_os = "linux")]
pub(crate) fn of(socket: &UdpSocket) -> Option<u64> {
    let inode = rustix::fs::fstat(socket).ok()?.st_ino;
    let table =
        if socket.local_addr().ok()?.is_ipv4() { "/proc/net/udp" } else { "/proc/net/udp6" };
    find(&std::fs::read_to_string(table).ok()?, inode)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn of(_: &UdpSocket) -> Option<u64> {
    None
}

/// Returns the last column of the line whose tenth column is the socket's inode.
#[cfg(target_os = "linux")]
fn find(table: &str, inode: u64) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_whitespace();
        let found: u64 = columns.by_ref().nth(9)?.parse().ok()?;
        (found == inode).then(|| columns.last()?.parse().ok()).flatten()
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_system_counts_datagrams_that_find_no_room() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(of(&socket), Some(0));
        rustix::net::sockopt::set_socket_recv_buffer_size(&socket, 4096).unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = socket.local_addr().unwrap();
        (0..100).for_each(|_| _ = sender.send_to(&[0; 1000], to).unwrap());
        let mut taken = 0;
        socket.set_nonblocking(true).unwrap();
        while socket.recv(&mut [0; 1000]).is_ok() {
            taken += 1;
        }
        assert_eq!(of(&socket), Some(100 - taken));
    }

    #[test]
    fn lines_of_other_sockets_are_ignored() {
        let heading = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   \
                       uid  timeout inode ref pointer drops\n";
        let line = "  1: 0100007F:1E61 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 42 \
                    2 0000000000000000 7\nshort\n";
        let table = format!("{heading}{line}");
        assert_eq!((find(&table, 42), find(&table, 41), find("", 42)), (Some(7), None, None));
    }
}
