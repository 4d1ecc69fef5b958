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
            let push = format!("push dist --provider {NAME} --key acme.asc --to {to}");
            tfoci(&format!("{push} --attest {key}.pem --attest-id {ID}")).succeeds()
        };
        for key in ["mirror", "p256"] {
            push(key);
            push(key).tells("Present");
            let by = format!("--attestation-key {key}.pub --attestation-id {ID}");
            let verify = format!("verify acme/demo --from {to} --key acme.asc {by}");
            tfoci(&verify).succeeds();
        }
        let tags = tfoci(&format!("versions acme/demo --all --from {to}")).stdout;
        let has_lists = program == Program::DockerRegistry;
        assert_eq!(tags.contains("sha256-"), has_lists, "{tags}");
        if !has("cosign") {
            eprintln!("cosign is not installed: skipped");
            continue;
        }
        for key in ["mirror", "p256", "other"] {
            let known = "--insecure-ignore-tlog --allow-http-registry --type";
            let line = format!("--key {key}.pub {known} {SUMMARY} {host}/{NAME}:1.0.0");
            let words = ["verify-attestation"].into_iter().chain(line.split(' '));
            let run = author.scene.run("cosign", words);
            let is_good = run.status == Some(0);
            assert_eq!(is_good, key != "other", "{program:?} {key}: {}", run.stderr);
        }
    }
}
