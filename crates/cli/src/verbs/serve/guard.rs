//! Decides which requests are answered.
//!
//! Only the user who started the server may use it. Any page in the user's browser can send
//! requests to a local address, and any program on the computer can connect to a local port. So the
//! path of a request must contain the secret, which only the printed address contains. The `Host`
//! of a request must be the address of this server or `localhost`. This prevents DNS rebinding:
//! requests from another site whose name resolves to this address. If a page sends a request, the
//! page must come from this server.

use std::net::{IpAddr, SocketAddr};

use super::http::{FORBIDDEN, Request, Response};

/// The secret in the printed address.
#[derive(Debug)]
pub(super) struct Guard {
    token: String,
}

impl Guard {
    /// Creates a guard with a new secret.
    ///
    /// # Errors
    /// Returns an error if the system provides no random numbers.
    pub(super) fn new() -> Result<Self, getrandom::Error> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)?;
        Ok(Self { token: random.iter().map(|byte| format!("{byte:02x}")).collect() })
    }

    /// Returns the secret.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Returns the part of a request's path after the secret, or the response that refuses the
    /// request. `local` is the address of the server at which the connection arrived.
    pub(super) fn admit<'r>(
        &self,
        request: &'r Request,
        local: SocketAddr,
    ) -> Result<&'r str, Response> {
        let refuse = |message: &str| Err(Response::error(FORBIDDEN, message));
        if !is_host(&request.host, local.ip().to_canonical()) {
            return refuse("the host of the request is not the address of this server");
        }
        let own = format!("http://{}", request.host);
        if request.origin.as_ref().is_some_and(|origin| !origin.eq_ignore_ascii_case(&own)) {
            return refuse("the request comes from another site");
        }
        let path = request.path.strip_prefix('/').unwrap_or_default();
        let (token, rest) = path.split_once('/').unwrap_or((path, ""));
        // Compare all bytes, so the duration does not depend on the number of correct bytes.
        let differences =
            token.bytes().zip(self.token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        if token.len() != self.token.len() || differences != 0 {
            return refuse("open the address that tracewell serve printed: it contains a secret");
        }
        // Without the slash, the relative addresses in the page would lose the secret.
        if path == token {
            return refuse("the address of the page ends with a slash");
        }
        Ok(rest)
    }
}

/// Returns true if a `Host` names the address at which a connection arrived. The port may differ,
/// because connections may be forwarded, for example by ssh.
fn is_host(host: &str, local: IpAddr) -> bool {
    let address = host.parse::<SocketAddr>().map(|address| address.ip());
    let address = address.or_else(|_| host.trim_matches(['[', ']']).parse::<IpAddr>());
    let same = |ip: IpAddr| ip.to_canonical() == local || ip.is_loopback() && local.is_loopback();
    match address {
        Ok(ip) => same(ip),
        Err(_) => {
            let name = host.split_once(':').map_or(host, |(name, _)| name);
            name.eq_ignore_ascii_case("localhost") && local.is_loopback()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_an_address_of_this_computer_and_no_other_name() {
        let local: IpAddr = "127.0.0.1".parse().unwrap();
        for host in ["127.0.0.1:8000", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:80"] {
            assert!(is_host(host, local), "{host}");
        }
        let others = ["", "example.org", "example.org:80", "127.0.0.1.example.org", "localhost.x"];
        for host in others.into_iter().chain(["192.0.2.1:80", "localhost@example.org", "0.0.0.0"]) {
            assert!(!is_host(host, local), "{host}");
        }
        let outside: IpAddr = "192.0.2.7".parse().unwrap();
        assert!(is_host("192.0.2.7:80", outside));
        assert!(!is_host("localhost:80", outside) && !is_host("127.0.0.1:80", outside));
    }
}
