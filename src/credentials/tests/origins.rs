//! Tokens, `.netrc` entries and services of hosts. Tests of the executable cover the order of sources and the requests.

use super::*;
use crate::address::Hostname;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(future)
}

fn token(credentials: &Credentials, host: &str) -> Result<Option<String>, String> {
    let host: Hostname = host.parse().unwrap();
    let token = block_on(credentials.for_origin(&host));
    token
        .map(|token| token.map(|token| token.found_in.to_string()))
        .map_err(|error| error.to_string())
}

fn locations(home: &HomeDirectory, tokens: &[(&str, &str)]) -> Locations {
    let mut locations = home.locations();
    let tokens = tokens.iter();
    locations.environment.tokens = tokens
        .map(|(name, token)| ((*name).to_owned(), (*token).into()))
        .collect();
    locations
}

#[test]
fn a_host_is_the_same_in_every_spelling() {
    let home = HomeDirectory::new();
    home.write(
        ".tofurc",
        "credentials \"Bücher.example:443\" { token = \"1\" }\ncredentials \"no host\" { token = \"2\" }\n\
        host \"bücher.example\" { services = { \"providers.v1\" = \"/p/\" } }",
    );
    let tokens = [
        ("xn____bcher__kva_example", ""),
        ("straße_de:8443", "3"),
        ("a b", "4"),
    ];
    let credentials = Credentials::at(locations(&home, &tokens));
    let found = token(&credentials, "bücher.example").unwrap().unwrap();
    assert!(found.ends_with(".tofurc (credentials \"Bücher.example:443\")"));
    let found = token(&credentials, "straße.de:8443").unwrap();
    assert_eq!(found.as_deref(), Some("TF_TOKEN_straße_de:8443"));
    for other in [
        "straße.de",
        "bücher.example:8443",
        "sub.bücher.example",
        "example",
    ] {
        assert_eq!(token(&credentials, other), Ok(None), "{other}");
    }
    let services = credentials.services(&"bücher.example".parse().unwrap());
    assert_eq!(services.unwrap().unwrap()["providers.v1"], "/p/");
}

#[test]
fn of_several_blocks_for_one_host_the_last_counts() {
    let home = HomeDirectory::new();
    home.write(
        ".tofurc",
        "credentials \"a.example\" { token = \"first\" }\ncredentials \"A.example\" { token = \"last\" }",
    );
    let credentials = Credentials::at(locations(&home, &[]));
    let found = token(&credentials, "a.example").unwrap().unwrap();
    assert!(found.ends_with("(credentials \"A.example\")"), "{found}");
}

#[test]
fn a_token_that_cannot_be_sent_is_an_error_where_there_is_no_other() {
    let home = HomeDirectory::new();
    let credentials = Credentials::at(locations(&home, &[("a_example", "hunter2\n")]));
    assert_eq!(
        token(&credentials, "a.example").unwrap_err(),
        "the token from TF_TOKEN_a_example holds characters that cannot be sent"
    );
}

#[test]
fn a_configuration_that_was_named_must_be_good() {
    let home = HomeDirectory::new();
    let mut locations = locations(&home, &[]);
    locations.cli_config = Some(home.write("bad.tfrc", "host \"https://a.example\" {}"));
    let credentials = Credentials::at(locations.clone());
    let error = credentials.origin_warnings().unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("bad.tfrc is not a CLI configuration")
    );
    locations.cli_config = Some(home.path("none.tfrc"));
    assert!(
        Credentials::at(locations)
            .origin_warnings()
            .unwrap_err()
            .to_string()
            .contains("none.tfrc")
    );
}

#[test]
fn tokens_and_passwords_are_not_printed() {
    let home = HomeDirectory::new();
    home.write(".netrc", "machine a.example login me password hunter2");
    home.write(
        ".tofurc",
        "credentials \"a.example\" { token = \"hunter2\" }",
    );
    let locations = locations(&home, &[("b_example", "hunter2")]);
    let credentials = Credentials::at(locations.clone());
    let found = block_on(credentials.for_origin(&"a.example".parse().unwrap()));
    let login = credentials.for_package(&"https://a.example/".parse().unwrap());
    assert!(matches!(login, Ok(Some(_))));
    let shown = format!(
        "{locations:?}{credentials:?}{found:?}{login:?}{:?}",
        credentials.origin_warnings()
    );
    assert!(!shown.contains("hunter2"), "{shown}");
}
