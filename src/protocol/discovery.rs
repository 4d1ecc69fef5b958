//! Service discovery.

use std::collections::BTreeMap;

use crate::json::{self, Object};

/// Reads a [service discovery](crate::clients#service-discovery) document: the URL of each service, by its name, which is case-sensitive. Values
/// that are not text are left out.
///
/// # Errors
/// The document has a provider service twice.
pub fn services(object: Object<'_>) -> Result<BTreeMap<String, String>, json::Error> {
    let mut all = BTreeMap::new();
    for (name, value) in object.into_rest() {
        if name.starts_with("providers.") && all.contains_key(&name) {
            return Err(json::Error::repeated(&name, &name));
        }
        if let Ok(url) = serde_json::from_str(value.get()) {
            all.insert(name, url);
        }
    }
    Ok(all)
}
