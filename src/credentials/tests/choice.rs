//! Selection among several sources.

use super::*;

#[test]
fn a_path_beats_a_domain_and_a_block_beats_a_file_and_a_file_the_next() {
    let home = HomeDirectory::new();
    home.write(
        ".tofurc",
        r#"
        oci_credentials "example.com" { username = "block", password = "1" }
        oci_credentials "both.example.com/team" { username = "block", password = "2" }
        "#,
    );
    home.write(
        "run/containers/auth.json",
        &file(&[
            ("example.com", "first:3"),
            ("example.com/team", "first:4"),
            ("both.example.com/team", "first:5"),
            ("files.example.com", "first:6"),
        ]),
    );
    home.write(
        ".docker/config.json",
        &file(&[
            ("files.example.com", "second:7"),
            ("files.example.com/team/a", "second:8"),
        ]),
    );
    let credentials = home.credentials();
    for (repository, wanted) in [
        ("example.com/any/thing", "block:1"),
        ("example.com/team", "first:4"),
        ("example.com/team/thing", "first:4"),
        ("example.com/teammate", "block:1"),
        ("both.example.com/team/x", "block:2"),
        ("both.example.com/other", "none"),
        ("files.example.com/team", "first:6"),
        ("files.example.com/team/a/b", "second:8"),
        ("files.example.com:443/team", "none"),
        ("Files.example.com/team", "none"),
    ] {
        assert_eq!(found(&credentials, repository), wanted, "{repository}");
    }
}

#[test]
fn a_malformed_file_hides_no_good_one_but_a_named_one_must_be_good() {
    let home = HomeDirectory::new();
    home.write("run/containers/auth.json", "{\"auths\": hunter2");
    home.write(".docker/config.json", &file(&[("example.com", "me:good")]));
    fs::create_dir_all(home.path(".dockercfg")).unwrap();
    let credentials = home.credentials();
    assert_eq!(found(&credentials, "example.com/x"), "me:good");
    let broken: Vec<String> = credentials
        .registry_sources()
        .iter()
        .filter(|one| one.error.is_some())
        .map(|one| {
            one.path
                .strip_prefix(home.0.path())
                .unwrap()
                .display()
                .to_string()
        })
        .collect();
    assert_eq!(broken, ["run/containers/auth.json", ".dockercfg"]);
    // Clients discard all files of docker and podman because of one.
    let credentials = Credentials::at(Locations {
        is_of_client: true,
        ..home.locations()
    });
    assert_eq!(found(&credentials, "example.com/x"), "none");
    home.write(
        ".tofurc",
        "oci_default_credentials { docker_style_config_files = [\"run/containers/auth.json\"] }",
    );
    let error = failure(&home.credentials(), "example.com");
    assert!(error.contains("is not a file of credentials"), "{error}");
    for name in ["run/containers/auth.json", "none.json", ".dockercfg"] {
        let credentials = Credentials::at(Locations {
            authfile: Some(home.path(name)),
            ..home.locations()
        });
        assert!(find(&credentials, "example.com").is_err(), "{name}");
    }
    let credentials = Credentials::at(Locations {
        cli_config: Some(home.path("none.tofurc")),
        ..home.locations()
    });
    let error = failure(&credentials, "example.com");
    assert!(error.contains("none.tofurc"), "{error}");
}

#[test]
fn a_malformed_default_configuration_hides_no_file() {
    let home = HomeDirectory::new();
    home.write(".tofurc", "oci_credentials \"example.com\" {}");
    home.write(".docker/config.json", &file(&[("example.com", "me:good")]));
    let credentials = home.credentials();
    assert_eq!(found(&credentials, "example.com/x"), "me:good");
    assert!(matches!(
        credentials.registry_sources()[0].error,
        Some(Error::CliConfig { .. })
    ));
}

#[test]
fn an_entry_that_cannot_be_used_spoils_itself_and_nothing_else() {
    let home = HomeDirectory::new();
    home.write(
        ".docker/config.json",
        r#"{"auths": {
            "colon.example.com": {"auth": "aHVudGVyMg=="},
            "base64.example.com": {"auth": "hunter2!"},
            "shape.example.com": "hunter2",
            "empty.example.com": {"auth": ""},
            "null.example.com": null,
            "object.example.com": {},
            "nameless.example.com": {"auth": "Omh1bnRlcjI="},
            "token.example.com": {"auth": "PHRva2VuPjo=", "identitytoken": "refresh"},
            "bearer.example.com": {"registrytoken": "sent"},
            "https://url.example.com/V3": {"auth": "bWU6Z29vZA=="},
            "good.example.com": {"auth": "bWU6Zzpvb2Q=", "email": 1},
            "fallback.example.com/a": {"auth": "x"},
            "fallback.example.com": {"auth": "bWU6Z29vZA=="}
        }}"#,
    );
    let credentials = home.credentials();
    for (host, wanted) in [
        (
            "colon.example.com",
            "its `auth` is not base64 of NAME:PASSWORD",
        ),
        (
            "base64.example.com",
            "its `auth` is not base64 of NAME:PASSWORD",
        ),
        (
            "shape.example.com",
            "it is not an object whose members are text",
        ),
    ] {
        let message = failure(&credentials, host);
        let end = format!(" cannot be used: {wanted}");
        assert!(
            message.ends_with(&end) && !message.contains("hunter2"),
            "{message}"
        );
    }
    for (host, wanted) in [
        ("empty.example.com", "none"),
        ("null.example.com", "none"),
        ("object.example.com", "none"),
        ("nameless.example.com", "none"),
        ("url.example.com", "none"),
        ("token.example.com", "identity refresh"),
        ("bearer.example.com", "access sent"),
        ("good.example.com", "me:g:ood"),
        ("fallback.example.com/a/b", "me:good"),
        ("unknown.example.com", "none"),
    ] {
        assert_eq!(found(&credentials, host), wanted, "{host}");
    }
}

/// oras reads all of these. What clients read counts first, even from a later file.
#[test]
fn entries_in_other_spellings_count_after_those_that_clients_read() {
    let pair = r#""auth":"bWU6Z29vZA==""#;
    let name = r#""username":"me","password":"good""#;
    for (key, value, is_read) in [
        ("example.com", pair, true),
        ("example.com", r#""auth":"bWU6\r\nZ29vZA==\n""#, true),
        ("example.com", r#""auth":" bWU6 Z29vZA==""#, false),
        ("example.com", name, false),
        ("example.com/", pair, false),
        ("example.com/v1/", pair, false),
        ("example.com/v2/", pair, false),
        ("https://example.com", pair, false),
        ("https://example.com/", pair, false),
        ("https://example.com/v1", pair, false),
        ("https://example.com/v1/", pair, false),
        ("https://example.com/v2/", name, false),
        ("http://example.com", pair, false),
    ] {
        let home = HomeDirectory::new();
        let text = format!("{{\"auths\":{{\"{key}\":{{{value}}}}}}}");
        home.write("run/containers/auth.json", &text);
        let credentials = home.credentials();
        assert_eq!(found(&credentials, "example.com/x"), "me:good", "{text}");
        assert_eq!(found(&credentials, "other.example.com"), "none", "{text}");
        let of_client = Credentials::at(Locations {
            is_of_client: true,
            ..home.locations()
        });
        let wanted = if is_read { "me:good" } else { "none" };
        assert_eq!(found(&of_client, "example.com/x"), wanted, "{text}");
        home.write(".docker/config.json", &file(&[("example.com", "exact:1")]));
        let wanted = if is_read { "me:good" } else { "exact:1" };
        assert_eq!(
            found(&home.credentials(), "example.com/x"),
            wanted,
            "{text}"
        );
    }
}

#[test]
fn docker_hub_is_one_registry_by_all_its_names() {
    for key in [
        "docker.io",
        "index.docker.io",
        "https://index.docker.io/v1/",
    ] {
        let home = HomeDirectory::new();
        home.write(".docker/config.json", &file(&[(key, "me:hub")]));
        let credentials = home.credentials();
        for host in ["docker.io", "index.docker.io", "registry-1.docker.io"] {
            assert_eq!(found(&credentials, host), "me:hub", "{key} {host}");
        }
    }
}

#[test]
fn variables_name_files_that_clients_do_not_read() {
    let home = HomeDirectory::new();
    home.write("docker/config.json", &file(&[("example.com", "docker:1")]));
    home.write("auth.json", &file(&[("example.com", "podman:2")]));
    let mut locations = home.locations();
    locations.environment.docker_config = Some(home.path("docker"));
    let credentials = Credentials::at(locations.clone());
    assert_eq!(found(&credentials, "example.com"), "docker:1");
    let of_client = Credentials::at(Locations {
        is_of_client: true,
        ..locations.clone()
    });
    assert_eq!(found(&of_client, "example.com"), "none");
    locations.environment.registry_auth_file = Some(home.path("auth.json"));
    let credentials = Credentials::at(locations.clone());
    assert_eq!(found(&credentials, "example.com"), "podman:2");
    locations.authfile = Some(home.write("mine.json", &file(&[("example.com", "mine:3")])));
    home.write(
        ".tofurc",
        "oci_credentials \"example.com\" { username = \"block\"\npassword = \"4\" }",
    );
    let credentials = Credentials::at(locations.clone());
    assert_eq!(found(&credentials, "example.com"), "mine:3");
}

#[test]
fn discovery_can_be_switched_off_or_given_its_files() {
    let home = HomeDirectory::new();
    home.write(".docker/config.json", &file(&[("example.com", "me:1")]));
    home.write(
        ".tofurc",
        "oci_default_credentials { discover_ambient_credentials = false }",
    );
    assert_eq!(found(&home.credentials(), "example.com"), "none");
    home.write("beside.json", &file(&[("example.com", "beside:2")]));
    home.write(
        ".tofurc",
        "oci_default_credentials { docker_style_config_files = [\"beside.json\"] }",
    );
    assert_eq!(found(&home.credentials(), "example.com"), "beside:2");
}

#[test]
fn tokens_of_the_configuration_are_sent_as_they_are() {
    let home = HomeDirectory::new();
    home.write(
        ".tofurc",
        "oci_credentials \"a.example.com\" { access_token = \"a\", refresh_token = \"r\" }
         oci_credentials \"b.example.com\" { access_token = \"\", refresh_token = \"r\" }
         oci_credentials \"c.example.com\" { username = \"\", password = \"r\" }",
    );
    let credentials = home.credentials();
    assert_eq!(found(&credentials, "a.example.com"), "access a");
    assert_eq!(found(&credentials, "b.example.com"), "identity r");
    assert_eq!(found(&credentials, "c.example.com"), "none");
}
