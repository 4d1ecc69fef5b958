use proptest::prelude::*;

use super::*;
use crate::address::{Hostname, ProviderAddr, ProviderPattern};

const HCL: &str = r#"
plugin_cache_dir = "/var/cache"
host "example.com" {
  services = { "providers.v1" = "https://example.com/v1/" }
}
credentials "app.example.com" {
  token = "t-o-k-e-n"
}
credentials_helper "pass" {
  args = ["--prefix", "tf"]
}
oci_credentials "example.com" {
  username = "me"
  password = "pa$$word"
}
oci_credentials "example.com/team/a" {
  access_token  = "access"
  refresh_token = "refresh"
}
oci_credentials "helped.example.com:5000" {
  docker_credentials_helper = "pass"
}
oci_default_credentials {
  discover_ambient_credentials = true
  docker_style_config_files    = ["auth.json", "/etc/auth.json"]
  docker_credentials_helper    = "osxkeychain"
}
provider_installation {
  dev_overrides {
    "acme/demo" = "/home/me/demo"
  }
  filesystem_mirror {
    path = "/srv/mirror"
  }
  oci_mirror {
    repository_template = "example.com/${hostname == "a" ? "b" : "c"}/${namespace}/${type}"
    include             = ["example.com/*/*", "acme/demo"]
  }
  new_kind { y = 1 }
  newer_kind "x" {}
  direct {
    exclude = ["*/*/*"]
  }
}
"#;

const JSON: &str = r#"{
  "plugin_cache_dir": "/var/cache",
  "host": {"example.com": {"services": {"providers.v1": "https://example.com/v1/", "login.v1": {"client": "x"}}}},
  "credentials": {"app.example.com": {"token": "t-o-k-e-n"}},
  "credentials_helper": {"pass": {"args": ["--prefix", "tf"]}},
  "oci_credentials": [
    {"example.com": {"username": "me", "password": "pa$$word"}},
    {"example.com/team/a": [{"access_token": "access", "refresh_token": "refresh"}]}
  ],
  "oci_credentials": {"helped.example.com:5000": {"docker_credentials_helper": "pass"}},
  "oci_default_credentials": {
    "discover_ambient_credentials": true,
    "docker_style_config_files": ["auth.json", "/etc/auth.json"],
    "docker_credentials_helper": "osxkeychain"
  },
  "provider_installation": [{
    "dev_overrides": {"acme/demo": "/home/me/demo"},
    "filesystem_mirror": [{"path": "/srv/mirror"}],
    "oci_mirror": [{
      "repository_template": "example.com/${hostname == \"a\" ? \"b\" : \"c\"}/${namespace}/${type}",
      "include": ["example.com/*/*", "acme/demo"]
    }],
    "new_kind": {"y": 1}, "newer": true,
    "direct": {"exclude": ["*/*/*"]}
  }]
}"#;

fn parse(text: &str) -> Result<CliConfig, Error> {
    CliConfig::parse(text.as_bytes(), Client::OpenTofu)
}

fn refusal(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

fn pattern(text: &str) -> ProviderPattern {
    ProviderPattern::parse(text, &Hostname::default_origin()).unwrap()
}

#[test]
fn both_syntaxes_say_the_same() {
    for text in [HCL, JSON] {
        let config = parse(text).unwrap();
        let labels: Vec<_> = config
            .oci_credentials
            .iter()
            .map(|one| one.prefix.to_string())
            .collect();
        assert_eq!(
            labels,
            [
                "example.com",
                "example.com/team/a",
                "helped.example.com:5000"
            ]
        );
        let kinds: Vec<_> = config.oci_credentials.iter().map(|one| &one.kind).collect();
        assert!(
            matches!(kinds[0], OciCredentialKind::Own(CredentialKind::Password { username, password }) if username == "me" && password.reveal() == "pa$$word")
        );
        assert!(
            matches!(kinds[1], OciCredentialKind::Own(CredentialKind::AccessToken(access)) if access.reveal() == "access")
        );
        assert_eq!(
            *kinds[2],
            OciCredentialKind::Helper(HelperName::docker("pass").unwrap())
        );
        let defaults = OciDefaults {
            discover: true,
            files: Some(vec!["auth.json".to_owned(), "/etc/auth.json".to_owned()]),
            helper: Some(HelperName::docker("osxkeychain").unwrap()),
        };
        assert_eq!(config.oci_defaults, defaults);
        assert_eq!(config.tokens[0].host, "app.example.com");
        assert_eq!(config.tokens[0].token.reveal(), "t-o-k-e-n");
        let helper = config.token_helper.unwrap();
        assert_eq!(helper.name.program(), "terraform-credentials-pass");
        assert_eq!(helper.arguments, ["--prefix", "tf"]);
        assert_eq!(config.hosts[0].host.as_ascii(), "example.com");
        let services: Vec<_> = config.hosts[0].services.iter().collect();
        assert_eq!(services.len(), 1);
        assert_eq!(
            config.hosts[0].services["providers.v1"],
            "https://example.com/v1/"
        );
    }
}

#[test]
fn methods_keep_their_order_and_patterns() {
    for text in [HCL, JSON] {
        let methods = parse(text).unwrap().installation.unwrap();
        let kinds: Vec<_> = methods.iter().map(|method| method.kind.clone()).collect();
        assert_eq!(
            kinds,
            [
                MethodKind::FilesystemMirror {
                    path: Some("/srv/mirror".to_owned())
                },
                MethodKind::OciMirror {
                    repository_template:
                        r#"example.com/${hostname == "a" ? "b" : "c"}/${namespace}/${type}"#
                            .to_owned()
                },
                MethodKind::Other("new_kind".to_owned()),
                MethodKind::Direct,
            ]
        );
        assert_eq!(methods[0].include, None);
        assert_eq!(
            methods[1].include,
            Some(vec![pattern("example.com/*/*"), pattern("acme/demo")])
        );
        assert_eq!(methods[3].exclude, [pattern("*/*/*")]);
    }
}

#[test]
fn patterns_without_a_host_are_on_the_default_host_of_the_client() {
    let text =
        "provider_installation {\n direct {\n include = [\"*/*\"]\n exclude = [\"acme/*\"]\n }\n}";
    let (tofu, terraform) = (Client::OpenTofu, Client::Terraform);
    for (client, other) in [(tofu, terraform), (terraform, tofu)] {
        let config = CliConfig::parse(text.as_bytes(), client).unwrap();
        let methods = config.installation.unwrap();
        for (name, host, is_for) in [
            ("acme/demo", client.default_host(), false),
            ("hashicorp/null", client.default_host(), true),
            ("hashicorp/null", other.default_host(), false),
        ] {
            let provider = ProviderAddr::parse(name, &host).unwrap();
            assert_eq!(methods[0].is_for(&provider), is_for, "{provider}");
        }
    }
}

#[test]
fn nothing_said_is_nothing_but_discovery() {
    for text in ["", "{}", "\u{feff}", "provider {}", "# only this\n"] {
        let config = parse(text).unwrap();
        assert!(config.oci_credentials.is_empty() && config.installation.is_none());
        assert!(config.oci_defaults.discover && config.oci_defaults.files.is_none());
    }
    assert_eq!(
        parse("provider_installation {}").unwrap().installation,
        Some(Vec::new())
    );
}

#[test]
fn a_template_is_as_it_was_written() {
    let text =
        r#"provider_installation { oci_mirror { repository_template = "example.com/$${x}" } }"#;
    let methods = parse(text).unwrap().installation.unwrap();
    let template = "example.com/$${x}".to_owned();
    assert_eq!(
        methods[0].kind,
        MethodKind::OciMirror {
            repository_template: template
        }
    );
}

#[test]
fn every_mistake_about_credentials_has_its_message() {
    let block = |label: &str, body: &str| format!("oci_credentials \"{label}\" {{\n{body}\n}}\n");
    let password = "username = \"u\"\npassword = \"p\"";
    let helper = "docker_credentials_helper = \"x\"";
    for (text, wanted) in [
        (
            block("example.com", ""),
            "has not exactly one kind of credentials",
        ),
        (
            block("example.com", &format!("{password}\n{helper}")),
            "has not exactly one kind of credentials",
        ),
        (
            block("example.com", "username = \"u\""),
            "has not exactly one kind of credentials",
        ),
        (
            block("example.com", "refresh_token = \"u\""),
            "has not exactly one kind of credentials",
        ),
        (
            block("example.com/a", helper),
            "has not exactly one kind of credentials",
        ),
        (
            block("example.com", "docker_credentials_helper = \"a/b\""),
            "is not the name of a helper",
        ),
        (
            block("example.com", "docker_credentials_helper = \"\""),
            "is not the name of a helper",
        ),
        (
            block("https://example.com", password),
            "is not a registry, or a part of one",
        ),
        (
            block("example.com", "username = 1\npassword = \"p\""),
            "`username` is not text in quotes",
        ),
        (
            format!("oci_credentials {{\n{password}\n}}"),
            "`oci_credentials` is not a block with 1 label",
        ),
        (
            "oci_default_credentials {}\n".repeat(2),
            "more than one `oci_default_credentials` block",
        ),
        (
            "oci_default_credentials {\ndocker_style_config_files = \"a\"\n}".to_owned(),
            "is not a list of text",
        ),
        (
            "oci_default_credentials {\ndocker_style_config_files = [\"a\", 1]\n}".to_owned(),
            "is not a list of text",
        ),
        (
            "oci_default_credentials {\ndiscover_ambient_credentials = \"no\"\n}".to_owned(),
            "is not true or false",
        ),
        (
            block("example.com", "username = [\"u\"]\npassword = \"p\""),
            "is not text",
        ),
        (
            block("example.com", "username = true\npassword = \"p\""),
            "is not text",
        ),
    ] {
        let message = refusal(&text);
        assert!(message.contains(wanted), "{text}\n{message}");
    }
}

#[test]
fn every_mistake_about_installation_has_its_message() {
    let installation = |body: &str| format!("provider_installation {{\n{body}\n}}\n");
    for (text, wanted) in [
        (
            installation("").repeat(2),
            "more than one `provider_installation` block",
        ),
        (
            installation("oci_mirror {}"),
            "an `oci_mirror` block has no `repository_template`",
        ),
        (
            installation("direct {\ninclude = [\"a/*/b\"]\n}"),
            "`a/*/b` is not a pattern of providers",
        ),
    ] {
        let message = refusal(&text);
        assert!(message.contains(wanted), "{text}\n{message}");
    }
}

#[test]
fn messages_quote_no_secret() {
    for text in [
        "oci_credentials \"example.com\" {\n  password = \"hunter2\n}",
        "oci_credentials \"example.com\" { username = \"hunter2\" }",
        "{\"oci_credentials\": {\"example.com\": {\"password\": \"hunter2\"",
        "{\"oci_credentials\": {\"example.com\": \"hunter2\"}}",
    ] {
        let error = parse(text).unwrap_err();
        let shown = format!("{error}{error:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    let shown = format!("{:?}", parse(HCL).unwrap());
    for secret in ["pa$$word", "t-o-k-e-n", "\"access\"", "\"refresh\""] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn depth_is_bounded() {
    for open in ["[", "{\"a\":", "a = [", "a {\n", "a = ("] {
        assert!(parse(&format!("a = {}", open.repeat(10_000))).is_err());
        assert!(parse(&open.repeat(10_000)).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn anything_is_read_or_refused(text in "\\PC{0,200}", cut in 0..HCL.len()) {
        let _ = parse(&text);
        let half: String = HCL.chars().take(cut).collect();
        let _ = parse(&half);
        let half: String = JSON.chars().take(cut).collect();
        let _ = parse(&half);
    }
}
