//! The client behind a proxy, as the proxy names it.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The last address of `X-Forwarded-For`, which the nearest proxy has added. The client can write the others, and all of them if the proxy adds
/// none. So the address is for the log only, and any other text is ignored.
pub(super) fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let header = headers.get_all(FORWARDED_FOR).iter().next_back()?;
    let last = header.to_str().ok()?.rsplit(',').next()?.trim();
    let bare = last
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let address = bare.unwrap_or(last).parse();
    // Some proxies add the port.
    address
        .or_else(|_| last.parse().map(|address: SocketAddr| address.ip()))
        .ok()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_the_last_address_counts() {
        for (values, expected) in [
            (&["203.0.113.9"][..], Some("203.0.113.9")),
            (&["10.0.0.1, 203.0.113.9"], Some("203.0.113.9")),
            (&["10.0.0.1", "10.0.0.2,203.0.113.9 "], Some("203.0.113.9")),
            (&["203.0.113.9:4711"], Some("203.0.113.9")),
            (&["2001:db8::9"], Some("2001:db8::9")),
            (&["[2001:db8::9]"], Some("2001:db8::9")),
            (&["[2001:db8::9]:4711"], Some("2001:db8::9")),
            (&["203.0.113.9, unknown"], None),
            (&["203.0.113.9", "b\u{fc}cher"], None),
            (&["203.0.113.9,"], None),
            (&["203.0.113.9) (admin"], None),
            (&[], None),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
                headers.append(FORWARDED_FOR, value);
            }
            let address = forwarded_for(&headers).map(|address| address.to_string());
            assert_eq!(address.as_deref(), expected, "{values:?}");
        }
    }
}
