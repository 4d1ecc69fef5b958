//! Registries that cannot be reached.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::support::origin::{Origin, Provider};
use crate::support::port;
use crate::support::registry::answer::Answer;
use crate::support::registry::{Fault, Personality, Registry, Setup, matching};
use crate::support::scene::{Run, Scene};
use crate::support::tls::{Authority, Identity};

pub(super) const REPOSITORY: &str = "tofu/registry.opentofu.org/acme/demo";

/// Asks a registry for the versions of a provider. `[HOST]` stands for its host in the arguments and in all that is printed.
pub(super) fn ask(scene: &Scene, host: &str, more: &str) -> Run {
    let arguments = format!(
        "versions acme/demo -q --from [HOST]/tofu/{{hostname}}/{{namespace}}/{{type}} {more}"
    );
    let arguments = arguments.replace("[HOST]", host);
    let mut run = scene.tfoci(arguments.split_whitespace());
    run.stderr = run.stderr.replace(host, "[HOST]");
    run.exits(1).without_result()
}

/// The whole message about a connection that fails.
fn unreachable(scheme: &str, reason: &str, hint: &str) -> String {
    let hint = match hint {
        "" => String::new(),
        hint => format!("\nhint: {hint}\n"),
    };
    format!(
        "error: registry.opentofu.org/acme/demo ([HOST]/{REPOSITORY}): cannot reach {scheme}://[HOST]/v2/{REPOSITORY}/tags/list\n  {reason}\n{hint}"
    )
}

fn is_unreachable(scene: &Scene, host: &str, more: &str, reason: &str, hint: &str) {
    ask(scene, host, more).says(&unreachable("https", reason, hint));
}

/// A port at which no process listens.
fn free_port() -> String {
    format!("127.0.0.1:{}", port::unused())
}

fn with_tls(identity: &Identity) -> Registry {
    Setup::of(Personality::Plain)
        .tls(identity.serve(None))
        .start()
}

/// A scene that trusts an authority, with the options for it.
fn trusting(authority: &Authority) -> (Scene, &'static str) {
    let scene = Scene::new();
    authority.write(&scene, "ca.pem");
    (scene, "--ca-file ca.pem")
}

#[test]
fn a_host_without_an_address_is_not_waited_for() {
    let begun = Instant::now();
    is_unreachable(
        &Scene::new(),
        "registry.invalid",
        "",
        "the host name has no address (DNS)",
        "check the name, and that this machine has a network; behind a proxy, set HTTPS_PROXY",
    );
    assert!(begun.elapsed() < Duration::from_secs(6));
}

#[test]
fn a_port_without_a_server_is_not_waited_for() {
    let begun = Instant::now();
    is_unreachable(
        &Scene::new(),
        &free_port(),
        "",
        "the connection was refused",
        "check the host and its port; behind a proxy, set HTTPS_PROXY",
    );
    assert!(begun.elapsed() < Duration::from_secs(6));
}

#[test]
fn a_failed_connection_is_tried_three_times() {
    let run = Scene::new().tfoci([
        "versions",
        "acme/demo",
        "-v",
        "--from",
        &format!("{}/acme/demo", free_port()),
    ]);
    let retries = run.stderr.matches("the connection was refused").count();
    assert_eq!(retries, 3, "{}", run.stderr);
}

#[test]
fn an_unknown_authority() {
    let registry = with_tls(&Authority::new("stranger").server());
    let (scene, more) = trusting(&Authority::new("tests"));
    is_unreachable(
        &scene,
        registry.host(),
        more,
        "no trusted certificate authority issued the server's certificate",
        "if the authority is your own, name its certificate, not the server's, with `--ca-file FILE`",
    );
}

#[test]
fn certificates_for_another_name_or_time() {
    let authority = Authority::new("tests");
    let (scene, more) = trusting(&authority);
    for (identity, reason, hint) in [
        (
            authority.server_of(&["registry.example.com"]),
            "the server's certificate is for another name: registry.example.com",
            "use a name that is in the certificate",
        ),
        (
            authority.server_in(2020),
            "the server's certificate has expired",
            "the server's operator has to renew it; if it should be valid, check this machine's clock",
        ),
        (
            authority.server_in(4000),
            "the server's certificate is not valid yet",
            "check this machine's clock",
        ),
    ] {
        let registry = with_tls(&identity);
        is_unreachable(&scene, registry.host(), more, reason, hint);
    }
}

/// The address of a broadcast, to which no connection can be made.
#[cfg(target_os = "linux")]
#[test]
fn a_host_without_a_route() {
    is_unreachable(
        &Scene::new(),
        "127.255.255.255:5000",
        "",
        "the network has no route to the host",
        "check the host and its port; behind a proxy, set HTTPS_PROXY",
    );
}

#[test]
fn a_server_that_closes_every_connection() {
    let registry = Registry::plain();
    registry.always(|_| true, Fault::Reset);
    let run = ask(&Scene::new(), registry.host(), "--plain-http [HOST]");
    let reason = "the server closed the connection too early";
    let hint = "if [HOST] uses TLS, leave out `--plain-http [HOST]`";
    run.says(&unreachable("http", reason, hint));
}

#[test]
fn a_certificate_for_clients_only() {
    let authority = Authority::new("tests");
    let (scene, more) = trusting(&authority);
    let registry = with_tls(&authority.client("robot"));
    let reason = "the server's certificate is invalid";
    is_unreachable(&scene, registry.host(), more, reason, "");
}

/// A server that reads the beginning of a handshake, answers each connection with some bytes, and closes it.
fn says(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    // It ends with the process of the tests.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // The client may have gone away.
            let _read = stream.read(&mut [0; 4096]);
            let _written = stream.write_all(bytes);
        }
    });
    host
}

#[test]
fn a_server_that_ends_the_handshake() {
    // A fatal alert of TLS 1.2 and 1.3: the handshake failed.
    const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 40];
    for (bytes, reason) in [
        (&ALERT[..], "the server refused the TLS connection"),
        (&[], "the server closed the connection too early"),
    ] {
        is_unreachable(&Scene::new(), &says(bytes), "", reason, "");
    }
}

#[test]
fn a_server_without_tls() {
    let registry = Registry::plain();
    is_unreachable(
        &Scene::new(),
        registry.host(),
        "",
        "the server does not use TLS at this port",
        "if it is meant to be plain HTTP, `--plain-http [HOST]`",
    );
}

#[test]
fn a_server_with_tls_that_is_asked_without() {
    let registry = with_tls(&Authority::new("tests").server());
    let run = ask(&Scene::new(), registry.host(), "--plain-http [HOST]");
    let hint = "if [HOST] uses TLS, leave out `--plain-http [HOST]`";
    run.says(&unreachable("http", "the response is not HTTP", hint));
    // Servers in Go recognise TLS that is missing.
    let registry = Registry::plain();
    let text = "Client sent an HTTP request to an HTTPS server.\n";
    let answer = Fault::Answer(Answer::new(400).body(text));
    registry.always(matching("GET", "/tags/list"), answer);
    ask(&Scene::new(), registry.host(), "--plain-http [HOST]").says(&format!(
        "error: registry.opentofu.org/acme/demo ([HOST]/{REPOSITORY}): the registry answered 400 to a request for the list of tags (Client sent an HTTP request to an HTTPS server.)
  from http://[HOST]/v2/{REPOSITORY}/tags/list

hint: {hint}
"
    ));
}

#[test]
fn a_proxy_that_is_not_there() {
    let proxy = free_port();
    let scene = Scene::new().env("HTTPS_PROXY", &format!("http://{proxy}"));
    is_unreachable(
        &scene,
        "registry.example.com",
        "",
        &format!("through the proxy http://{proxy}/: the connection was refused"),
        "HTTPS_PROXY names this proxy; NO_PROXY names hosts that are reached without it",
    );
}

/// The proxy is a registry, which serves no tunnels.
#[test]
fn a_proxy_that_refuses() {
    let proxy = Registry::plain();
    let scene = Scene::new().env("HTTPS_PROXY", &format!("http://{}", proxy.host()));
    let run = ask(&scene, "registry.example.com", "");
    let through = format!("through the proxy http://{}/: ", proxy.host());
    assert!(run.stderr.contains(&through), "{}", run.stderr);
    let hint =
        "\nhint: HTTPS_PROXY names this proxy; NO_PROXY names hosts that are reached without it\n";
    assert!(run.stderr.ends_with(hint), "{}", run.stderr);
}

#[test]
fn a_silent_server_is_asked_three_times() {
    // Connections wait in the queue of the socket, and no process accepts them.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let begun = Instant::now();
    ask(&Scene::new(), &host, "--timeout 1").says(&format!(
        "error: registry.opentofu.org/acme/demo ([HOST]/{REPOSITORY}): no connection within 0.25 seconds
  at https://[HOST]/v2/{REPOSITORY}/tags/list

hint: `--timeout SECONDS` waits longer: a connection gets a quarter of it. Behind a proxy, set HTTPS_PROXY
"
    ));
    assert!(begun.elapsed() < Duration::from_secs(9));
}

#[test]
fn the_failure_of_a_host_is_explained_once() {
    let providers = ["acme/a", "acme/b", "acme/c"].map(Provider::new);
    let origin = Origin::of(providers.map(|one| one.version("1.0.0", &["linux_amd64"])));
    let host = origin.host().to_owned();
    let mirror = |more: &[&str]| {
        let addresses = ["acme/a", "acme/b", "acme/c"].map(|one| origin.address(one));
        let mut arguments = vec!["mirror", "--jobs", "1", "--to", "oci-layout:store"];
        arguments.extend(addresses.iter().map(String::as_str));
        arguments.extend(more);
        let mut run = Scene::new().tfoci(&arguments);
        run.stderr = run.stderr.replace(&host, "[HOST]");
        run.exits(1)
    };
    let run = mirror(&[]);
    let all = &run.stderr;
    assert_eq!(all.matches("error: ").count(), 1, "{all}");
    assert_eq!(all.matches("hint: ").count(), 1, "{all}");
    let (_, others) = all
        .split_once("\n\n… and 2 more failed in the same way at [HOST]: [HOST]/acme/")
        .expect(all);
    let (names, summary) = others.split_once('\n').unwrap();
    assert!(names.contains(", [HOST]/acme/"), "{names}");
    assert!(summary.contains("Failed 3"), "{summary}");
    let document = mirror(&["--format", "json"]).stdout;
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let providers = document["providers"].as_array().unwrap();
    let errors = providers.iter().filter(|one| one["error"].is_object());
    assert_eq!(errors.count(), 3, "{document}");
}
