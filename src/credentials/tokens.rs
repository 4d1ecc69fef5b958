//! Tokens in the environment: `TF_TOKEN_registry_example_com`
//! ([clients: host tokens](crate::clients#host-tokens)).
//!
//! Shell variables cannot contain dots and dashes, so these are written `_` and `__`. A host may be in Unicode or punycode. A port follows
//! a colon; only programs can set such a variable.

use crate::address::Hostname;

/// The prefix of the variables' names.
pub const PREFIX: &str = "TF_TOKEN_";

/// The host of a variable, given its name without [`PREFIX`].
pub fn host_of(name: &str) -> Option<Hostname> {
    let host = name.replace("__", "-").replace('_', ".");
    Hostname::from_ascii(&host).ok()
}

/// The variable of a host; `None` if shells cannot set it.
pub fn variable(host: &Hostname) -> Option<String> {
    let host = host.as_ascii();
    let name = host.replace('-', "__").replace('.', "_");
    (!host.contains(':')).then(|| format!("{PREFIX}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn variables_spell_hosts() {
        for (name, host) in [
            ("example_com", "example.com"),
            ("EXAMPLE_com", "example.com"),
            ("registry_my__corp_example", "registry.my-corp.example"),
            ("registry.my-corp.example", "registry.my-corp.example"),
            ("bücher_example", "xn--bcher-kva.example"),
            ("xn____bcher__kva_example", "xn--bcher-kva.example"),
            ("localhost", "localhost"),
            ("localhost:8443", "localhost:8443"),
            ("example_com:443", "example.com"),
        ] {
            assert_eq!(host_of(name).unwrap().as_ascii(), host, "{name}");
        }
        for name in ["", "_", "__", "a___b", "a b", "example_com:x"] {
            assert_eq!(host_of(name), None, "{name}");
        }
        let host = "registry.my-corp.example".parse().unwrap();
        assert_eq!(
            variable(&host).as_deref(),
            Some("TF_TOKEN_registry_my__corp_example")
        );
        assert_eq!(variable(&"localhost:8443".parse().unwrap()), None);
    }

    proptest! {
        #[test]
        fn what_is_spelled_is_read(
            text in "\\PC{0,16}|[a-zäßж例.-]{1,12}(:[0-9]{0,6})?|[a-z0-9_.-]{1,20}",
        ) {
            let _ = host_of(&text);
            if let Ok(host) = text.parse::<Hostname>()
                && let Some(variable) = variable(&host)
            {
                let name = variable.strip_prefix(PREFIX).unwrap();
                prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
                prop_assert_eq!(host_of(name), Some(host));
            }
        }
    }
}
