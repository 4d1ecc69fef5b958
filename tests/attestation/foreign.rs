use super::{ID, NAME, SUMMARY, write_keys};
use crate::support::author::Author;
use crate::support::docker_registry::{Options, Program};
use crate::support::programs::has;

/// The registries keep it as cosign does, with referrers and with a list, and cosign verifies it without a network.
#[test]
fn cosign_verifies_it_offline() {
    for program in [Program::DockerRegistry, Program::Zot] {
        let Some(registry) = program.start(&Options::default()) else {
            eprintln!("{program:?} is not installed: skipped");
            continue;
        };
        let author = Author::with_release();
        write_keys(&author.scene);
        let elliptic = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        author.scene.write("p256.pem", elliptic.serialize_pem());
        author.scene.write("p256.pub", elliptic.public_key_pem());
        let host = registry.host();
        let to = format!("{host}/{{namespace}}/{{type}}");
        let tfoci = |line: &str| author.line(format!("{line} --plain-http 127.0.0.1"));
        let push = |key: &str| {
            tfoci(&format!(
                "push dist --provider {NAME} --key acme.asc --to {to} --attest {key}.pem --attest-id {ID}"
            ))
            .succeeds()
        };
        for key in ["mirror", "p256"] {
            push(key);
            let run = push(key);
            assert!(run.stderr.contains("Present"), "{}", run.stderr);
            tfoci(&format!(
                "verify acme/demo --from {to} --key acme.asc --attestation-key {key}.pub --attestation-id {ID}"
            ))
            .succeeds();
        }
        let tags = tfoci(&format!("versions acme/demo --all --from {to}")).stdout;
        assert_eq!(
            tags.contains("sha256-"),
            program == Program::DockerRegistry,
            "{tags}"
        );
        if !has("cosign") {
            eprintln!("cosign is not installed: skipped");
            continue;
        }
        for key in ["mirror", "p256", "other"] {
            let run = author.scene.run(
                "cosign",
                [
                    "verify-attestation",
                    "--key",
                    &format!("{key}.pub"),
                    "--insecure-ignore-tlog",
                    "--allow-http-registry",
                    "--type",
                    SUMMARY,
                    &format!("{host}/{NAME}:1.0.0"),
                ],
            );
            let is_good = key != "other";
            assert_eq!(
                run.status == Some(0),
                is_good,
                "{program:?} {key}: {}",
                run.stderr
            );
        }
    }
}
