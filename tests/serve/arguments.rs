//! Mistakes in the command line: each is reported before the server listens.

use crate::support::scene::Scene;

/// A scene with an empty layout and a certificate file without a certificate.
fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("store/.keep", b"");
    scene.write("nothing.pem", b"no certificate");
    let certified = || rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    scene.write("one.pem", certified().cert.pem());
    scene.write("other.key", certified().signing_key.serialize_pem());
    let line = format!("ci sha256:{}", "0".repeat(64));
    scene.write("pattern.txt", format!("{line} a/b/c/d"));
    scene.write("host.txt", format!("{line} hashicorp/*"));
    scene.write("one.txt", format!("{line}\n"));
    scene.write("many.txt", format!("{line}\n").repeat(10_001));
    scene.write("tokens.txt", b"ci secret\n");
    scene.write("signing.key", b"c2hvcnQ=\n");
    scene.write("hex.key", "0f".repeat(32));
    scene
}

#[test]
fn mistakes_are_told_before_it_listens() {
    let layout = "oci-layout:store";
    let plain = ["--plain-http", "--listen", "127.0.0.1:0"];
    for (arguments, code, expected) in [
        (
            vec!["--from", layout],
            2,
            "nothing says how clients reach this server safely\n  expected --tls-cert and --tls-key, or --plain-http behind a proxy\n\nhint: `--tls-cert FILE --tls-key FILE` serves HTTPS, which clients require. `--plain-http` leaves it to a proxy, or is enough for a look at the page\n",
        ),
        (
            vec!["--from", layout, "--plain-http", "localhost:5444"],
            2,
            "or --plain-http behind a proxy\n\nhint: `--plain-http localhost:5444` is for the store; for the server, add `--plain-http` without a host\n",
        ),
        // Both at once.
        (
            [
                &["--from", "oci-layout:nowhere", "--plain-http", "h.example"],
                &plain[..],
            ]
            .concat(),
            1,
            "nowhere",
        ),
        (
            vec![
                "--from",
                layout,
                "--tls-cert",
                "a",
                "--tls-key",
                "b",
                "--url",
                "http://providers.example.com",
            ],
            2,
            "`http://providers.example.com/` does not use TLS, and this server has a certificate\n  expected https in `--url`\n",
        ),
        (
            vec![
                "--from",
                layout,
                "--plain-http",
                "--listen",
                "localhost:9443",
            ],
            2,
            "invalid value 'localhost:9443' for '--listen <IP:PORT>': expected an IP address and a port: 127.0.0.1:8443 for this machine only, 0.0.0.0:8443 for every network, [::]:8443 for IPv6 too\n",
        ),
        (
            [
                &[
                    "--from",
                    "oci-layout:nowhere",
                    "--url",
                    "http://providers.example.com",
                ],
                &plain[..],
            ]
            .concat(),
            1,
            "clients use network mirrors and registries over HTTPS only, and --url is http://providers.example.com/\n",
        ),
        (
            [
                &["--from", layout, "--tls-cert", "a", "--tls-key", "b"],
                &plain[..],
            ]
            .concat(),
            2,
            "`--plain-http` and a certificate exclude each other",
        ),
        (
            vec![
                "--from",
                layout,
                "--tls-cert",
                "nothing.pem",
                "--tls-key",
                "nothing.pem",
            ],
            1,
            "nothing.pem is not a certificate for this server\n  the file has no certificate in PEM",
        ),
        (
            [
                &[
                    "--from",
                    layout,
                    "--fill",
                    "--include",
                    "*/*/*",
                    "--exclude",
                    "acme/demo@1.0.0, 2.0.0",
                ],
                &plain[..],
            ]
            .concat(),
            2,
            "`--exclude acme/demo@1.0.0, 2.0.0` matches no version: one version has to satisfy all of its constraints\n\nhint: give `--exclude` once for each version\n",
        ),
        (
            [
                &[
                    "--from",
                    layout,
                    "--fill",
                    "--include",
                    "*/*/*",
                    "--exclude",
                    "acme/demo@",
                ],
                &plain[..],
            ]
            .concat(),
            2,
            "`acme/demo@` has nothing after the `@`\n",
        ),
        (
            [
                &["--from", layout, "--fill", "--include", "hashicorp/*"],
                &plain[..],
            ]
            .concat(),
            2,
            "the pattern `hashicorp/*` has two parts, and needs three\n  expected HOSTNAME/NAMESPACE/TYPE, such as `example.com/acme/*`",
        ),
        (
            [
                &[
                    "--from",
                    layout,
                    "--fill",
                    "--include",
                    "*/*/*",
                    "--exclude",
                    "hashicorp/*@1.0.0",
                ],
                &plain[..],
            ]
            .concat(),
            2,
            "the pattern `hashicorp/*` has two parts, and needs three\n  expected HOSTNAME/NAMESPACE/TYPE, such as `example.com/acme/*`",
        ),
        (
            [
                &["--from", layout, "--allow-unsigned", "hashicorp/*"],
                &plain[..],
            ]
            .concat(),
            2,
            "the pattern `hashicorp/*` has two parts, and needs three\n  expected HOSTNAME/NAMESPACE/TYPE, such as `example.com/acme/*`",
        ),
        (
            [&["--from", layout, "--require-pinned"], &plain[..]].concat(),
            2,
            "`--require-pinned` needs keys\n  expected --trust FILE or --key FILE",
        ),
        (
            [
                &["--from", "registry.test/tofu/${namespace}/${type}"],
                &plain[..],
            ]
            .concat(),
            2,
            "registry.test/tofu/${namespace}/${type} has no `${hostname}`, so that each host would have the same providers\n  expected --registry-host, the host of these providers",
        ),
        (
            [&["--from", layout, "--exact-repository"], &plain[..]].concat(),
            2,
            "oci-layout:store names one repository for several providers\n\nhint: leave out `--exact-repository`: it is for stores of one provider\n",
        ),
        (
            [&["--from", "registry.test/tofu"], &plain[..]].concat(),
            2,
            "registry.test/tofu names one repository for several providers\n\nhint: put `{hostname}`, `{namespace}` and `{type}` into the address\n",
        ),
        (
            [&["--from", "registry.test/tofu/${namespace}"], &plain[..]].concat(),
            2,
            "registry.test/tofu/${namespace} names one repository for several providers\n\nhint: ",
        ),
        (
            [&["--from", layout, "--tokens", "tokens.txt"], &plain[..]].concat(),
            1,
            "tokens.txt is not a file of tokens\n  line 1 is not a token\n    expected NAME sha256:HEX, and patterns of providers if it is only for these",
        ),
        (
            [
                &[
                    "--from",
                    layout,
                    "--tokens",
                    "one.txt",
                    "--signing-key",
                    "signing.key",
                ],
                &plain[..],
            ]
            .concat(),
            1,
            "signing.key is not a file of signing keys\n  line 1 is not a signing key\n    expected at least 32 bytes in base64",
        ),
        (
            [&["--from", layout, "--tokens", "host.txt"], &plain[..]].concat(),
            1,
            "host.txt is not a file of tokens\n  line 1 has an invalid pattern\n  the pattern `hashicorp/*` has two parts, and needs three\n",
        ),
        (
            [&["--from", layout, "--tokens", "pattern.txt"], &plain[..]].concat(),
            1,
            "pattern.txt is not a file of tokens\n  line 1 has an invalid pattern\n",
        ),
        (
            [&["--from", layout, "--tokens", "many.txt"], &plain[..]].concat(),
            1,
            "many.txt is not a file of tokens\n  there are more than 10000 tokens",
        ),
        (
            [
                &[
                    "--from",
                    layout,
                    "--tokens",
                    "one.txt",
                    "--signing-key",
                    "/dev/null",
                ],
                &plain[..],
            ]
            .concat(),
            1,
            "/dev/null is not a file of signing keys\n  there are 0 signing keys\n    expected one to 8",
        ),
        (
            vec![
                "--from",
                layout,
                "--tls-cert",
                "one.pem",
                "--tls-key",
                "one.pem",
            ],
            1,
            "one.pem is not the private key of one.pem\n  the file has no private key in PEM",
        ),
        (
            vec![
                "--from",
                layout,
                "--tls-cert",
                "one.pem",
                "--tls-key",
                "other.key",
            ],
            1,
            "other.key is not the private key of one.pem\n  the certificate and the private key do not fit together\n\nhint: name the key that the certificate was made for: `openssl pkey -pubout -in other.key` then prints the same as `openssl x509 -pubkey -noout -in one.pem`\n",
        ),
        (
            vec![
                "--from",
                layout,
                "--tls-cert",
                "other.key",
                "--tls-key",
                "one.pem",
            ],
            1,
            "other.key is not a certificate for this server\n  the file has no certificate in PEM\n\nhint: they are swapped: `--tls-cert one.pem --tls-key other.key`\n",
        ),
        (
            vec![
                "--from",
                layout,
                "--tls-cert",
                "one.pem",
                "--tls-key",
                "none.key",
            ],
            1,
            "\n  named by --tls-key\n",
        ),
        (
            [&["--from", layout, "--tokens", "none.txt"], &plain[..]].concat(),
            1,
            "\n  named by --tokens\n",
        ),
        (
            [&["--from", layout, "--include", "*/*/*"], &plain[..]].concat(),
            2,
            "  --fill\n",
        ),
        (
            [&["--from", layout, "--fill"], &plain[..]].concat(),
            2,
            "  --include <PATTERN>\n",
        ),
        (
            [&["--from", "oci-layout:nowhere"], &plain[..]].concat(),
            1,
            "nowhere",
        ),
        (
            vec!["--from", layout, "--plain-http", "--listen", "192.0.2.1:1"],
            1,
            "cannot listen on 192.0.2.1:1",
        ),
        (
            [
                &["--from", layout, "--url", "providers.example.com"],
                &plain[..],
            ]
            .concat(),
            2,
            "providers.example.com",
        ),
        (
            [
                &["--from", layout, "--url", "https://localhost/mirror/"],
                &plain[..],
            ]
            .concat(),
            2,
            "leave out /mirror: the network mirror is below the URL of the server",
        ),
    ] {
        let run = scene().tfoci([&["serve"], arguments.as_slice()].concat());
        let run = run.exits(code);
        assert!(
            run.stderr.contains(expected),
            "{arguments:?}: {}",
            run.stderr
        );
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

/// A server that cannot start prints only the reason.
#[test]
fn a_port_that_is_taken_and_tokens_that_are_missing_are_all_that_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let serve = ["serve", "--from", "oci-layout:store", "--plain-http"];
    let listen = ["--listen", &address, "--tokens", "one.txt"];
    let run = scene().tfoci(serve.iter().chain(&listen)).exits(1);
    assert!(
        run.stderr
            .starts_with(&format!("error: cannot listen on {address}\n"))
            && run.stderr.ends_with(
                "\n\nhint: another program listens there: `--listen IP:PORT` names another port\n"
            ),
        "{}",
        run.stderr
    );
    let tokens = ["--tokens", "none.txt"];
    let run = scene().tfoci(serve.iter().chain(&tokens)).exits(1);
    assert!(
        run.stderr.starts_with("error: cannot read none.txt\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn values_outside_their_limits_are_refused_in_words() {
    for (option, value, expected) in [
        (
            "--url-lifetime <SECONDS>",
            "1",
            "expected 30 to 86400 seconds",
        ),
        (
            "--max-age <SECONDS>",
            "86401",
            "expected 0 to 86400 seconds",
        ),
        (
            "--max-stale <SECONDS>",
            "1h",
            "expected 0 to 2592000 seconds",
        ),
        ("--grace <SECONDS>", "1.5", "expected 0 to 86400 seconds"),
        (
            "--max-connections <NUMBER>",
            "0",
            "expected 1 to 1000000 connections",
        ),
        (
            "--max-rate <NUMBER>",
            "5000000000",
            "expected 0 to 1000000 requests in a second",
        ),
        (
            "--newest <NUMBER>",
            "0",
            "expected the number of versions, 1 or more",
        ),
        (
            "--url <URL>",
            "providers.corp.test",
            "expected https://providers.corp.test",
        ),
        (
            "--url <URL>",
            "providers.corp.test:8443",
            "expected https://providers.corp.test:8443",
        ),
    ] {
        let name = option.split(' ').next().unwrap();
        let run = scene().tfoci(["serve", "--from", "oci-layout:store", name, value]);
        let error = format!("error: invalid value '{value}' for '{option}': {expected}\n");
        assert!(run.exits(2).stderr.starts_with(&error), "{error}");
    }
    let run = scene().tfoci(["site", "public", "--url", "providers.corp.test"]);
    let error = "error: invalid value 'providers.corp.test' for '--url <URL>': expected https://providers.corp.test\n";
    assert!(run.exits(2).stderr.starts_with(error));
}

#[test]
fn files_of_tokens_and_keys_have_hints_that_show_how_to_make_one() {
    let serve = ["serve", "--from", "oci-layout:store", "--plain-http"];
    let refused = |more: &[&str]| {
        let run = scene().tfoci([&serve, more].concat());
        run.exits(1).stderr
    };
    let tokens = refused(&["--tokens", "tokens.txt"]);
    let hint = "\n\nhint: `tfoci help deployment` shows how to make a token\n";
    assert!(tokens.ends_with(hint), "{tokens}");
    let missing = refused(&["--tokens", "none.txt"]);
    assert!(missing.ends_with(hint), "{missing}");
    let missing = refused(&["--tokens", "one.txt", "--signing-key", "none.key"]);
    let hint = "\n\nhint: `openssl rand -base64 32` makes a key; `tfoci help deployment` describes the file\n";
    assert!(missing.ends_with(hint), "{missing}");
    assert_eq!(
        refused(&["--tokens", "one.txt", "--signing-key", "hex.key"]),
        "error: hex.key is not a file of signing keys
  line 1 is hex, as a token or its hash is, and no signing key
    expected at least 32 bytes in base64

hint: `openssl rand -base64 32` makes a key; `tfoci help deployment` describes the file
"
    );
}

#[test]
fn the_page_about_deployment_names_options_that_exist() {
    let scene = Scene::new();
    let page = scene.tfoci(["help", "deployment"]).succeeds().stdout;
    let own = scene.tfoci(["serve", "--help"]).succeeds().stdout;
    let of_all = scene.tfoci(["help", "options"]).succeeds().stdout;
    let of_lock = scene.tfoci(["lock", "--help"]).succeeds().stdout;
    let help = own + &of_all + &of_lock;
    let is_of_option = |one: char| one.is_ascii_lowercase() || one == '-';
    let options: std::collections::BTreeSet<&str> = page
        .match_indices(" --")
        .map(|(at, _)| &page[at + 1..])
        .map(|rest| rest.split(|one| !is_of_option(one)).next().unwrap())
        .filter(|option| option.len() > 3)
        .collect();
    assert!(options.len() > 15, "{options:?}");
    for option in options {
        // Those of `kubectl create secret` and `groupadd`.
        let is_foreign = ["--from-file", "--cert", "--key", "--system"].contains(&option);
        let mut places = help.match_indices(option);
        let is_known = places.any(|(at, _)| {
            let next = help[at + option.len()..].chars().next();
            next.is_some_and(|next| !is_of_option(next))
        });
        assert!(is_foreign || is_known, "{option}");
    }
}
