//! Moving tags.

use std::time::Duration;

use futures_util::future;
use tokio::time::Instant;

use super::manifests::{ManifestPut, ManifestRejection};
use super::session::Session;
use super::{Error, Move, Tagged};
use crate::digest::Digest;
use crate::http::Retry;

/// How many times as long as this writer a concurrent one may take to move a tag. Of requests that take 10 to 30 ms, a few take half a second.
const SLOWER: u32 = 4;
/// The most time until a moved tag is read again, even if moving it took longer. Jobs should end.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

impl Session {
    /// Moves tags one after the other, each only if it still refers to the expected manifest. It looks at them while the manifests `below` them are
    /// written. Until it is known whether the registry takes evidence, which comes first, it looks at the tag of the evidence alone.
    pub(in crate::store) async fn tag(
        &self,
        below: impl Future<Output = Result<(), Error>>,
        moves: &[Move<'_>],
        look_again: Option<Duration>,
    ) -> Result<Tagged, Error> {
        let before = Instant::now();
        let count = self.cache().takes_evidence.map_or(1, |_| moves.len());
        let looks = moves.iter().take(count).map(|one| self.digest(one.tag));
        let (seen, ()) = future::try_join(future::try_join_all(looks), below).await?;
        let mut seen = seen.into_iter();
        for wanted in moves {
            if self.move_tag(wanted, seen.next()).await? == Tagged::Conflict {
                return Ok(Tagged::Conflict);
            }
        }
        // Registries ignore `If-Match`, so a concurrent writer is noticed only now. It may have read the tag just before it moved, and takes
        // about as long to move it as this one did. Waiting for each version would make `mirror` of many small packages a third slower.
        if let Some(least) = look_again {
            let move_of_another = before.elapsed() * SLOWER;
            tokio::time::sleep(move_of_another.clamp(least, LONGEST_WAIT)).await;
        }
        // A writer of another release may have moved any of them. Of a new version the last one is enough: all its writers have the same evidence.
        let is_new = moves.iter().all(|wanted| wanted.was.is_none());
        let unchecked = usize::from(is_new) * moves.len().saturating_sub(1);
        for Move { tag, to, .. } in moves.iter().skip(unchecked) {
            if self.digest(tag).await? != Some(to.expected.digest) {
                return Ok(Tagged::Conflict);
            }
        }
        Ok(Tagged::Moved)
    }

    /// Moves one tag. The tag is read before each attempt, unless it was `seen` just before the first one: if the answer to an earlier attempt was
    /// lost, that attempt may have moved the tag, and another writer may have moved it since.
    async fn move_tag(
        &self,
        Move { tag, to, was }: &Move<'_>,
        mut seen: Option<Option<Digest>>,
    ) -> Result<Tagged, Error> {
        let ours = to.expected.digest;
        let mut retry = Retry::default();
        loop {
            let now = match seen.take() {
                Some(now) => now,
                None => self.digest(tag).await?,
            };
            // If the tag is to be moved to where it already was, the manifest is damaged and is written again.
            if now == Some(ours) && *was != Some(&ours) {
                return Ok(Tagged::Moved);
            }
            if now.as_ref() != *was {
                return Ok(Tagged::Conflict);
            }
            let put = ManifestPut {
                reference: tag.as_str(),
                manifest: to,
                is_repeatable: false,
            };
            let Some((rejection, error)) = self.put(&put).await? else {
                return Ok(Tagged::Moved);
            };
            let retry_after = match rejection {
                ManifestRejection::Unclear(retry_after) => retry_after,
                // A proxy may have repeated the request: the registry then refuses the tag as immutable although the
                // first request moved it.
                ManifestRejection::Immutable if self.digest(tag).await? == Some(ours) => {
                    return Ok(Tagged::Moved);
                }
                _ => return Err(error),
            };
            let url = self.url(&format!("manifests/{tag}"))?;
            let failure = error.transient(retry_after);
            if !retry.wait(&self.http, url, failure).await {
                return Err(error);
            }
        }
    }
}
