//! Service discovery.

use std::collections::BTreeMap;

use crate::error::printable;
use crate::json::{self, Object};

/// A [service discovery](crate::clients#service-discovery) document: the URL of each service, by its name. `Err` has the JSON of a value
/// that is not text.
pub type Services = BTreeMap<String, Result<String, String>>;

/// Reads a service discovery document. The names of services are case-sensitive.
///
/// # Errors
/// The document has a provider service twice.
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
