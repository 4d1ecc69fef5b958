use super::Found;
use crate::support::author::Author;
use crate::support::registry::{Access, Fault, Personality, Registry, Setup};
use crate::support::server::answer::Answer;

/// A registry with a pushed version, and the words that verify it.
struct House {
    author: Author,
    registry: Registry,
}

impl House {
    fn new() -> Self {
        let (author, registry) = (Author::with_release(), Registry::plain());
        let house = Self { author, registry };
        let to = house.repository();
        let plain = "--plain-http 127.0.0.1 --exact-repository";
        house.author.push_to(&to, plain).succeeds();
        house
    }

    fn repository(&self) -> String {
        format!("{}/acme/demo", self.registry.host())
    }

    #[track_caller]
    fn verify(&self, more: &str) -> Found {
        let from = self.repository();
        let verify = "verify acme/demo --exact-repository --plain-http 127.0.0.1 --format json";
        Found::of(self.author.line(format!("{verify} --from {from} {more}")))
    }
}

#[test]
fn a_version_costs_two_requests_a_platform_and_five_more() {
    let house = House::new();
    let before = house.registry.seen().len();
    house.verify("").are_none();
    let seen = house.registry.seen();
    let seen: Vec<String> = seen[before..]
        .iter()
        .map(|one| format!("{} {}", one.method, one.path))
        .collect();
    // `/v2/`, the list of tags, and for two platforms 2 * 2 + 5.
    assert_eq!(seen.len(), 2 + 2 * 2 + 5, "{seen:#?}");
    // Clients that do not ask for `/v2/` have no need of it.
    let before = house.registry.seen().len();
    house.verify("--client tofu-1.13").are_none();
    assert_eq!(house.registry.seen().len() - before, 1 + 2 * 2 + 5);
}

#[test]
fn what_old_clients_ask_for_is_missed_only_by_them() {
    let house = House::new();
    house
        .registry
        .always(|seen| seen.path == "/v2/", Fault::Answer(Answer::new(404)));
    house.verify("").are(&["no-api-root"], 1);
    house.verify("--client tofu-1.12").are(&["no-api-root"], 1);
    house.verify("--client tofu-1.13").are_none();
    house.verify("--client terraform").are_none();
}

#[test]
fn a_list_that_continues_elsewhere_is_not_followed() {
    let house = House::new();
    let link = "<https://elsewhere.example/v2/acme/demo/tags/list?last=x>; rel=\"next\"";
    let page = Answer::new(200)
        .header("link", link)
        .body("{\"name\":\"acme/demo\",\"tags\":[\"1.0.0\"]}");
    house.registry.always(
        |seen| seen.path.ends_with("/tags/list"),
        Fault::Answer(page),
    );
    house.verify("").are(&["list-leaves-registry"], 1);
}

#[test]
fn a_registry_that_fails_says_nothing_about_the_store() {
    let house = House::new();
    let is_blob = |seen: &crate::support::registry::Seen| seen.path.contains("/blobs/");
    house
        .registry
        .always(is_blob, Fault::Answer(Answer::new(400)));
    house.verify("").are(&["unreadable"], 1);
}

/// A registry that asks for a password, which no report shows.
#[test]
fn credentials_are_used_and_not_shown() {
    let registry = Setup::of(Personality::Plain)
        .access(Access::Basic { user: "alice" })
        .start();
    let house = House {
        author: Author::with_release(),
        registry,
    };
    let auth = house.registry.authfile();
    house.author.scene.write("auth.json", &auth);
    let plain = "--plain-http 127.0.0.1 --exact-repository";
    let known = format!("{plain} --authfile auth.json");
    house.author.push_to(&house.repository(), known).succeeds();
    house.verify("--authfile auth.json -vv").are_none();
    let wrong = auth.replace("\"auth\":\"", "\"auth\":\"eDp4");
    house.author.scene.write("auth.json", wrong);
    let found = house.verify("--authfile auth.json -vv");
    assert!(found.codes().contains(&"unreadable"), "{:?}", found.codes());
    assert_eq!(found.run.status, Some(1));
}
