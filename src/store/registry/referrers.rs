//! The list of what is attached to a manifest.

use super::auth::Scope;
use super::pages::List;
use super::{Error, Registry, Repository};
use crate::digest::Digest;
use crate::oci::MOST_ENTRIES;
use crate::store::Requested;

/// Its items are descriptors, as JSON.
const REFERRERS: List = List {
    what: Requested::Referrers,
    member: "manifests",
    item: |item| Ok(item.get().to_owned()),
    most: MOST_ENTRIES,
};

impl Registry {
    /// The descriptors of what is attached to a manifest, as JSON; `None` if the registry has no such lists.
    pub(in crate::store) async fn referrers(
        &self,
        repository: &Repository,
        subject: &Digest,
    ) -> Result<Option<Vec<String>>, Error> {
        let (session, name) = self.locate(repository).await?;
        if session.cache().lists_no_referrers {
            return Ok(None);
        }
        let first = session.url(name, &format!("referrers/{subject}"))?;
        let scope = Scope::pull(name);
        match self.pages(&session, &scope, first, &REFERRERS).await? {
            Ok(listed) => Ok(Some(listed)),
            Err(refused) => match refused.status().as_u16() {
                // No credentials and no patience would help.
                400 | 404..=428 | 430..=499 | 501 => {
                    session.cache().lists_no_referrers = true;
                    Ok(None)
                }
                _ => Err(session.refusal(REFERRERS.what, &refused)),
            },
        }
    }
}
