//! What an attestation states: the subject, and how it was verified.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::SigningKey;
use super::bundle::seal;
use crate::authentication::Anchor;
use crate::date::timestamp;
use crate::digest::Digest;
use crate::fingerprint::Fingerprint;

/// The type of the statement.
pub(super) const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// The type of the predicate, which cosign takes as `--type`.
pub const PREDICATE_TYPE: &str = "https://slsa.dev/verification_summary/v1";
/// The result of a good verification.
pub(super) const PASSED: &str = "PASSED";

/// Who attests.
#[derive(Debug)]
pub struct Attester {
    /// The key that signs.
    pub key: SigningKey,
    /// The URI that names the mirror.
    pub id: String,
}

/// Who attests the versions of a provider, and what is the same for all of them.
#[derive(Clone, Debug)]
pub struct Attesting {
    /// Who attests.
    pub attester: Arc<Attester>,
    /// The rule, in its canonical form.
    pub rule: Value,
    /// The host or other source of the releases.
    pub origin: String,
}

impl Attesting {
    /// The digest of what is attested of a version, apart from when: by whom, of what, under which rule. It is known without a verification.
    pub fn meaning(&self, name: &str, index: &Digest) -> String {
        let key = self.attester.key.public().id();
        let parts = json!([key, self.attester.id, name, index, self.rule, PASSED]);
        Digest::of(parts.to_string().as_bytes()).to_string()
    }

    /// The bundle of a claim; `None` if the system has no randomness.
    pub fn seal(&self, claim: &Claim, now: SystemTime) -> Option<Vec<u8>> {
        let predicate = claim.predicate(&self.attester.id, &self.rule, &self.origin, now);
        let digest = |digest: &Digest| json!({"sha256": digest.hex()});
        let index = json!({"name": claim.name, "digest": digest(&claim.index)});
        let packages = claim.packages.iter();
        let packages = packages.map(|(name, zip)| json!({"name": name, "digest": digest(zip)}));
        let subject: Vec<Value> = std::iter::once(index).chain(packages).collect();
        let statement = json!({
            "_type": STATEMENT,
            "subject": subject,
            "predicateType": PREDICATE_TYPE,
            "predicate": predicate,
        });
        seal(&statement, &self.attester.key)
    }
}

/// What was found out about a version.
#[derive(Clone, Debug)]
pub struct Claim {
    /// `ADDRESS@VERSION`.
    pub name: String,
    /// The digest of its index.
    pub index: Digest,
    /// The names and digests of its packages.
    pub packages: Vec<(String, Digest)>,
    /// The repository, without a tag.
    pub repository: String,
    /// The digests of checksum document, signature and key.
    pub inputs: Vec<Digest>,
    /// The key of the author.
    pub signer: Fingerprint,
    /// Why it was trusted.
    pub anchor: Anchor,
}

impl Claim {
    /// The predicate, as the mirror `id` states it.
    pub fn predicate(&self, id: &str, rule: &Value, origin: &str, now: SystemTime) -> Value {
        let hex = |digest: &Digest| json!({"digest": {"sha256": digest.hex()}});
        let anchor = self.anchor.to_string();
        let level = format!("TFOCI_SIGNATURE_{}", anchor.to_uppercase());
        json!({
            "verifier": {"id": id, "version": {"tfoci": env!("CARGO_PKG_VERSION")}},
            "timeVerified": timestamp(now),
            "resourceUri": self.repository,
            "policy": {
                "uri": format!("{id}#rule"),
                "digest": {"sha256": Digest::of(rule.to_string().as_bytes()).hex()},
            },
            "inputAttestations": self.inputs.iter().map(hex).collect::<Vec<_>>(),
            "verificationResult": PASSED,
            "verifiedLevels": ["SLSA_BUILD_LEVEL_UNEVALUATED", level],
            format!("{id}#signature"): {
                "signer": self.signer,
                "anchor": anchor,
                "origin": origin,
                "rule": rule,
            },
        })
    }
}
