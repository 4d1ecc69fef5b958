//! Service discovery.

use std::collections::BTreeMap;

use crate::error::printable;
use crate::json::{self, Object};

/// A [service discovery](crate::clients#service-discovery) document: what kinds of services a host has, and where. What
/// is no text is kept as it is written.
pub type Services = BTreeMap<String, Result<String, String>>;

/// Reads a service discovery document. The names of services are data, so their letter case matters.
///
/// # Errors
/// A service of providers occurs twice.
pub fn services(object: Object<'_>) -> Result<Services, json::Error> {
    let mut all = Services::new();
    for (name, value) in object.into_rest() {
        if name.starts_with("providers.") && all.contains_key(&name) {
            return Err(json::Error::repeated(&name, &name));
        }
        let text = serde_json::from_str(value.get());
        all.insert(name, text.map_err(|_| printable(value.get())));
    }
    Ok(all)
}
