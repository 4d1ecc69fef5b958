//! The annotations of descriptors and manifests.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{ATTESTATION, CREATED, PACKAGE, PREDICATE, PROTOCOLS, TITLE, VERSION};
use crate::json::{self, Object};

/// The annotation in `index.json` that contains the tag of a descriptor.
pub(crate) const REF_NAME: &str = "org.opencontainers.image.ref.name";
/// The annotations that tfoci reads. A duplicate of one of them is an error, because parsers differ in which one they use.
pub(super) const READ: [&str; 8] = [
    PACKAGE,
    PROTOCOLS,
    TITLE,
    VERSION,
    REF_NAME,
    ATTESTATION,
    PREDICATE,
    CREATED,
];

/// Removes and returns `annotations`. Their names are case-sensitive. If tfoci does not read a duplicate annotation, the last one is used,
/// as by clients.
pub(super) fn take(
    object: &mut Object<'_>,
    is_kept: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, String>, json::Error> {
    const NAME: &str = "annotations";
    let mut all = BTreeMap::new();
    let Some(value) = object.take(NAME)? else {
        return Ok(all);
    };
    let within = |error: json::Error| error.within(NAME);
    json::entries(value, |name, value| {
        let text: Option<Cow<'_, str>> = serde_json::from_str(value.get())?;
        if !is_kept(&name) {
            return Ok(());
        }
        if READ.contains(&&*name) && all.contains_key(&*name) {
            return Err(json::Error::repeated(&name, &name));
        }
        if all.len() == json::MOST_MEMBERS {
            return Err(json::Error::too_many("members", json::MOST_MEMBERS));
        }
        all.insert(name.into_owned(), text.unwrap_or_default().into_owned());
        Ok(())
    })
    .map_err(within)?;
    Ok(all)
}
