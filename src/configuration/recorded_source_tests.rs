//! How clients record sources.

use super::recorded_source::recorded;
use crate::address::Hostname;

/// Seen in the logs of OpenTofu 1.12.6 and Terraform 1.11.4.
const SEEN: [(&str, &str); 44] = [
    ("./a/../b//c/", "./b/c"),
    (".\\a\\b", "./a/b"),
    ("./", "./."),
    ("./..", "./.."),
    ("./../x", "../x"),
    (
        "github.com/acme/net",
        "git::https://github.com/acme/net.git",
    ),
    (
        "github.com/acme/net?ref=v1",
        "git::https://github.com/acme/net.git?ref=v1",
    ),
    (
        "github.com/acme/net//sub",
        "git::https://github.com/acme/net.git//sub",
    ),
    (
        "github.com/acme/net//sub?ref=feature/x",
        "git::https://github.com/acme/net.git//sub?ref=feature/x",
    ),
    (
        "github.com/acme/net/sub/dir?ref=v1",
        "git::https://github.com/acme/net.git//sub/dir?ref=v1",
    ),
    (
        "github.com/acme/net.git//a//b?ref=v1",
        "git::https://github.com/acme/net.git//a/b?ref=v1",
    ),
    (
        "github.com/acme/net//./a/../b/?ref=v1",
        "git::https://github.com/acme/net.git//b?ref=v1",
    ),
    (
        "github.com/acme/net.x?ref=v1",
        "git::https://github.com/acme/net.x.git?ref=v1",
    ),
    (
        "github.com/acme/net/?ref=v1",
        "git::https://github.com/acme/net.git?ref=v1",
    ),
    (
        "github.com/acme/net?",
        "git::https://github.com/acme/net.git",
    ),
    (
        "git::github.com/acme/net//s/t?ref=v1",
        "git::https://github.com/acme/net.git//s/t?ref=v1",
    ),
    (
        "github.com/acme/net/aws",
        "git::https://github.com/acme/net.git//aws",
    ),
    (
        "bitbucket.org/acme/net",
        "git::https://bitbucket.org/acme/net.git",
    ),
    (
        "git@github.com:acme/net.git",
        "git::ssh://git@github.com/acme/net.git",
    ),
    (
        "git@github.com:/acme/net.git",
        "git::ssh://git@github.com/acme/net.git",
    ),
    (
        "git@github.com:acme/net.git//sub?ref=v1",
        "git::ssh://git@github.com/acme/net.git//sub?ref=v1",
    ),
    (
        "git@github.com:acme/net.git?ref=feature/x",
        "git::ssh://git@github.com/acme/net.git?ref=feature%2Fx",
    ),
    (
        "git@github.com:acme/net.git?ref=v1&depth=1",
        "git::ssh://git@github.com/acme/net.git?depth=1&ref=v1",
    ),
    (
        "git@github.com:acme/net//?ref=v1.2.3-x_y",
        "git::ssh://git@github.com/acme/net?ref=v1.2.3-x_y",
    ),
    (
        "git@github.com:acme/net.git?ref",
        "git::ssh://git@github.com/acme/net.git?ref=",
    ),
    (
        "git@example.com:22/acme/net.git",
        "git::ssh://git@example.com/22/acme/net.git",
    ),
    (
        "git::git@github.com:acme/net.git?ref=v1",
        "git::ssh://git@github.com/acme/net.git?ref=v1",
    ),
    (
        "git::https://example.com/net.git//sub/?ref=v1",
        "git::https://example.com/net.git//sub?ref=v1",
    ),
    (
        "git::https://example.com/net.git//?ref=v1",
        "git::https://example.com/net.git?ref=v1",
    ),
    (
        "git::https://example.com/net.git//./?ref=v1",
        "git::https://example.com/net.git//.?ref=v1",
    ),
    (
        "git::https://example.com/net.git///a?ref=v1",
        "git::https://example.com/net.git///a?ref=v1",
    ),
    (
        "git::https://example.com//net.git//a?ref=v1",
        "git::https://example.com//net.git/a?ref=v1",
    ),
    (
        "git::https://example.com/net.git?ref=v1//x",
        "git::https://example.com/net.git?ref=v1//x",
    ),
    (
        "git::https://EXAMPLE.com/a/../net.git",
        "git::https://EXAMPLE.com/a/../net.git",
    ),
    ("https://github.com/acme/net", "https://github.com/acme/net"),
    (
        "oci://example.com/x//s?tag=1",
        "oci://example.com/x//s?tag=1",
    ),
    ("/tmp/net//sub", "file:///tmp/net//sub"),
    ("acme/net/aws", "registry.opentofu.org/acme/net/aws"),
    (
        "acme/net/aws//sub/../x/",
        "registry.opentofu.org/acme/net/aws//x",
    ),
    ("Acme/ne-t_x/aws2", "registry.opentofu.org/Acme/ne-t_x/aws2"),
    ("Example.com:443/acme/net/aws", "example.com/acme/net/aws"),
    (
        "example.com:8443/acme/net/aws",
        "example.com:8443/acme/net/aws",
    ),
    (
        "b\u{fc}cher.example/acme/net/aws//",
        "b\u{fc}cher.example/acme/net/aws",
    ),
    ("localhost:80/acme/net/aws", "localhost:80/acme/net/aws"),
];

#[test]
fn sources_are_recorded_as_clients_do() {
    let registry = Hostname::default_origin();
    for (source, wanted) in SEEN {
        let found = recorded(source, &registry);
        assert_eq!(found.as_deref(), Some(wanted), "{source}");
        // Clients normalise what they read from the file once more.
        assert_eq!(recorded(wanted, &registry), found, "{source}");
    }
}

#[test]
fn what_clients_refuse_or_look_up_is_not_certain() {
    for source in [
        "github.com/acme",
        "github.com/acme/n\u{e9}t",
        "bucket.s3.amazonaws.com/net.zip",
        "www.googleapis.com/storage/v1/modules/net.zip",
        "gitlab.com/acme/net",
        "acme/net/AWS",
        "acme/-net/aws",
        "acme/net/aws//../x",
        "git::https://example.com/net.git//a/../../b",
        "me@example.com:acme/net.git",
        "",
    ] {
        assert_eq!(
            recorded(source, &Hostname::default_origin()),
            None,
            "{source}"
        );
    }
}
