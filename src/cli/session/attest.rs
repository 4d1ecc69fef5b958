//! Who attests versions, from options, a mirror file and a variable.

use std::sync::Arc;

use tfoci::attestation::{Attester, KEY_VARIABLE, SigningKey};
use tfoci::config::MirrorFile;
use tfoci::error::printable;
use zeroize::Zeroizing;

use super::environment::variable;
use super::{Session, read};
use crate::cli::arguments::Attest;
use crate::cli::error::CommandError;

impl Session {
    /// Who attests the versions that are verified; `None` if nothing asks for it.
    pub(in crate::cli) fn attester(
        &self,
        arguments: &Attest,
        file: Option<&MirrorFile>,
    ) -> Result<Option<Arc<Attester>>, CommandError> {
        let of_file = file.and_then(|file| file.attest.clone());
        let (key_of_file, id_of_file) = of_file.map(|one| (one.key, one.id)).unzip();
        let key = arguments.attest.clone().or(key_of_file.flatten());
        let id = match (arguments.attest_id.clone().or(id_of_file), &key) {
            (Some(id), _) => id,
            (None, None) => return Ok(None),
            (None, Some(_)) => {
                return Err(
                    CommandError::usage("`--attest` needs the URI of this mirror").advising(
                        "add `--attest-id URI`, such as https://mirror.example.com/tfoci",
                    ),
                );
            }
        };
        // URIs below it name the rule and the signature.
        let is_plain = !id.contains(|c: char| c.is_whitespace() || c.is_control());
        if !url::Url::parse(&id).is_ok_and(|uri| is_plain && uri.fragment().is_none()) {
            let message = format!("`{}` cannot name a mirror", printable(&id));
            let expected = "a URI without `#`, such as https://mirror.example.com/tfoci";
            return Err(CommandError::usage(format!(
                "{message}\n  expected {expected}"
            )));
        }
        let (pem, named_by) = match (&key, variable(KEY_VARIABLE)) {
            (Some(path), _) => (read(path, "--attest")?, path.display().to_string()),
            (None, Some(pem)) => (pem.into_encoded_bytes(), KEY_VARIABLE.to_owned()),
            (None, None) => {
                return Err(
                    CommandError::usage("nothing names the key for attestations").advising(
                        format!("add `--attest KEY`, or set {KEY_VARIABLE} to the PEM"),
                    ),
                );
            }
        };
        let key = SigningKey::parse(&Zeroizing::new(pem)).map_err(|error| {
            let named_by = printable(&named_by);
            CommandError::usage(format!("{named_by} has no key for attestations\n  {error}"))
                .advising("`openssl genpkey -algorithm ED25519 -out FILE` makes one")
        })?;
        Ok(Some(Arc::new(Attester { key, id })))
    }
}
