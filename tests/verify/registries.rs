use super::Found;
use crate::support::author::Author;
use crate::support::registry::{Access, Fault, Personality, Registry, Seen, Setup};
use crate::support::server::answer::Answer;

/// A registry with a pushed version, and the words that verify it.
pub struct House {
    author: Author,
    pub registry: Registry,
}

impl House {
    pub fn new() -> Self {
        let (author, registry) = (Author::with_release(), Registry::plain());
        let house = Self { author, registry };
        house.push("");
        house
    }

    fn push(&self, more: &str) {
        let known = format!("--plain-http 127.0.0.1 --exact-repository {more}");
        self.author.push_to(&self.repository(), known).succeeds();
        self.registry.forget();
    }

    fn repository(&self) -> String {
        format!("{}/acme/demo", self.registry.host())
    }

    #[track_caller]
    pub fn verify(&self, more: &str) -> Found {
        let from = self.repository();
        let verify = "verify acme/demo --exact-repository --plain-http 127.0.0.1 --format json";
        Found::of(self.author.line(format!("{verify} --from {from} {more}")))
    }
}

#[test]
fn a_version_costs_two_requests_a_platform_and_five_more() {
    let house = House::new();
    // `/v2/`, for clients that ask for it, the list of tags, and for two platforms 2 * 2 + 5.
    for (client, more) in [("", 2), ("--client tofu-1.13", 1)] {
        house.verify(client).are_none();
        let seen = house.registry.seen();
        assert_eq!(seen.len(), more + 2 * 2 + 5, "{client} {seen:#?}");
        house.registry.forget();
    }
}

#[test]
fn what_old_clients_ask_for_is_missed_only_by_them() {
    let house = House::new();
    let absent = Fault::Answer(Answer::new(404));
    house.registry.always(|seen| seen.path == "/v2/", absent);
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
    let is_list = |seen: &Seen| seen.path.ends_with("/tags/list");
    house.registry.always(is_list, Fault::Answer(page));
    house.verify("").are(&["list-leaves-registry"], 1);
}

#[test]
fn a_registry_that_fails_says_nothing_about_the_store() {
    let house = House::new();
    let is_blob = |seen: &Seen| seen.path.contains("/blobs/");
    house.registry.always(is_blob, Fault::status(400));
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
    house.push("--authfile auth.json");
    house.verify("--authfile auth.json -vv").are_none();
    let wrong = auth.replace("\"auth\":\"", "\"auth\":\"eDp4");
    house.author.scene.write("auth.json", wrong);
    let found = house.verify("--authfile auth.json -vv");
    assert!(found.codes().contains(&"unreadable"), "{:?}", found.codes());
    assert_eq!(found.run.status, Some(1));
}
