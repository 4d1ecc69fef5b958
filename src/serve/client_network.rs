//! Identifies a client for limits: by its IPv4 address, or by its IPv6 network of 64 bits, of which a host may use every address.

use std::net::{IpAddr, Ipv6Addr};

/// The network of a client's address.
pub(super) fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}
