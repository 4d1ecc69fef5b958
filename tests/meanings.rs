//! Duplicate members of a JSON object are refused in every document, in any letter case and with any value.
//!
//! Go decodes the second of two members into the first. A document with such a member could show one package to a tool that verifies
//! it, and another to the client that installs it.

use std::path::Path;

use crate::support::author::Author;
use crate::support::layout_of_registry::import;
use crate::support::registry::Registry;
use crate::support::scene::Run;
use crate::support::tamper::{rewrite, rewrite_evidence};

/// Compares how tfoci and clients read mutated documents.
mod differential;

/// JSON in which members may repeat.
mod tree;

/// Where a member is repeated.
#[derive(Clone, Copy, Debug)]
enum Level {
    Index,
    Manifest,
    Evidence,
}

struct Case {
    level: Level,
    /// The original text, and the text that replaces it.
    from: &'static str,
    to: &'static str,
    /// The document and the object, as the error names them.
    says: [&'static str; 2],
    received: &'static str,
}

/// A duplicate member at every level of an artifact, of every kind.
#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { level: Level::Index, from: r#""manifests":["#, to: r#""Manifests":[],"manifests":["#,
        says: ["index", ""], received: "`Manifests` `manifests`" },
    Case { level: Level::Index, from: r#""mediaType":"application/vnd.oci.image.index.v1+json""#,
        to: r#""mediaType":"application/vnd.oci.image.index.v1+json","MEDIATYPE":null"#,
        says: ["index", ""], received: "`mediaType` `MEDIATYPE`" },
    Case { level: Level::Index, from: r#""annotations":{"org.opencontainers.image.title""#,
        to: r#""annotations":null,"annotations":{"org.opencontainers.image.title""#,
        says: ["index", ""], received: "`annotations` `annotations`" },
    Case { level: Level::Index, from: r#""size""#, to: "\"\u{17f}ize\":1,\"size\"",
        says: ["index", "manifests item 1"], received: "`\u{17f}ize` `size`" },
    Case { level: Level::Index, from: r#""platform":{"architecture":"amd64""#,
        to: r#""platform":{"architecture":"arm64"},"platform":{"architecture":"amd64""#,
        says: ["index", "manifests item 2"], received: "`platform` `platform`" },
    Case { level: Level::Index, from: r#""os":"linux""#, to: r#""os":"linux","OS":"linux""#,
        says: ["index", "manifests item 2 platform"], received: "`os` `OS`" },
    Case { level: Level::Index, from: r#""os":"linux""#, to: r#""os":"linux","os.version":null,"os.version":"""#,
        says: ["index", "manifests item 2 platform"], received: "`os.version` `os.version`" },
    Case { level: Level::Index, from: r#"{"org.tfoci.package""#, to: r#"{"org.tfoci.package":null,"org.tfoci.package""#,
        says: ["index", "manifests item 1 annotations"],
        received: "`org.tfoci.package` `org.tfoci.package`" },
    Case { level: Level::Manifest, from: r#""layers":["#, to: r#""layers":[{}],"layers":["#,
        says: ["platform manifest", ""], received: "`layers` `layers`" },
    Case { level: Level::Manifest, from: r#""layers":[{"#, to: r#""layers":[{"Digest":"sha256:00","#,
        says: ["platform manifest", "layers item 1"], received: "`Digest` `digest`" },
    Case { level: Level::Manifest, from: r#""config":{"#, to: r#""config":{"urls":[],"urls":null,"#,
        says: ["platform manifest", "config"], received: "`urls` `urls`" },
    Case { level: Level::Evidence, from: r#""layers":["#, to: r#""LAYERS":null,"layers":["#,
        says: ["evidence", ""], received: "`LAYERS` `layers`" },
    Case { level: Level::Evidence, from: r#"{"org.tfoci.protocols""#, to: r#"{"org.tfoci.protocols":"9.0","org.tfoci.protocols""#,
        says: ["evidence", "annotations"],
        received: "`org.tfoci.protocols` `org.tfoci.protocols`" },
];

impl Case {
    fn alter(&self, text: &str) -> String {
        assert!(text.contains(self.from), "{} in {text}", self.from);
        text.replacen(self.from, self.to, 1)
    }

    fn apply(&self, repository: &Path) {
        let same = |text: &str| text.to_owned();
        match self.level {
            Level::Index => assert!(rewrite(
                repository,
                |text, _| same(text),
                |text| self.alter(text)
            )),
            Level::Manifest => assert!(rewrite(repository, |text, _| self.alter(text), same)),
            Level::Evidence => rewrite_evidence(repository, |text| self.alter(text)),
        }
    }

    /// Asserts that a run was refused because of this and nothing else.
    #[track_caller]
    fn refuses(&self, run: Run) -> Run {
        let [document, object] = self.says;
        let facts = format!("error {document} {object} members {}", self.received);
        run.exits(3).says(&facts)
    }
}

/// A store with a signed release in which a case was applied.
fn altered(case: &Case) -> Author {
    let author = Author::pushed();
    case.apply(&author.repository(""));
    author
}

/// A registry with that release, and the words that name it as a store.
fn imported(author: &Author) -> (Registry, String) {
    let registry = Registry::plain();
    import(&author.repository(""), &registry, "acme/demo");
    let store = format!("{}/{{namespace}}/{{type}}", registry.host());
    (registry, format!("{store} --plain-http 127.0.0.1"))
}

const PINNED: &str = "--key acme.asc --require-pinned";

#[test]
fn duplicate_members_at_every_level_are_refused_by_every_command() {
    for case in CASES {
        let author = altered(case);
        let run = |command: &str| {
            author.line(format!("{command} acme/demo@1.0.0 --from oci-layout:store"))
        };
        case.refuses(run("inspect"));
        for more in ["", PINNED] {
            case.refuses(run(&format!("install --into out --platform all {more}")));
            assert!(!author.scene.path("out/registry.opentofu.org").exists());
            let copied = run(&format!("copy --to oci-layout:other {more}"));
            case.refuses(copied).without_result();
            let index = "other/registry.opentofu.org/acme/demo/index.json";
            assert!(!author.scene.path(index).exists());
        }
    }
}

/// A merge would carry over the index entries, with their duplicate members.
#[test]
fn an_index_with_a_duplicate_member_is_not_merged() {
    let of_index = |case: &&Case| matches!(case.level, Level::Index);
    for case in CASES.iter().filter(of_index) {
        let author = Author::with_release();
        author.push("--platform linux_amd64").succeeds();
        author.push("--platform darwin_arm64").succeeds();
        case.apply(&author.repository(""));
        let refused = author.untouched(|| author.push(""));
        case.refuses(refused.without_result());
        author.push("--existing replace").succeeds();
        assert_eq!(author.installs().len(), 2);
    }
}

#[test]
fn registries_are_read_like_layouts() {
    for case in CASES {
        let author = altered(case);
        let (registry, store) = imported(&author);
        let copy = format!("copy acme/demo --to oci-layout:other {PINNED}");
        case.refuses(author.line(format!("{copy} --from {store}")));
        let push = "push dist --provider acme/demo --key acme.asc";
        if matches!(case.level, Level::Index) {
            let tags = registry.tags("acme/demo");
            case.refuses(author.line(format!("{push} --to {store}")));
            assert_eq!(registry.tags("acme/demo"), tags);
        }
    }
}

#[test]
fn a_layout_index_with_a_duplicate_member_is_refused() {
    let author = Author::pushed();
    let path = author.repository("index.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let altered = text.replacen(r#""digest""#, r#""DIGEST":"sha256:00","digest""#, 1);
    std::fs::write(&path, altered).unwrap();
    let arguments = "inspect acme/demo@1.0.0 --from oci-layout:store";
    author.line(arguments).exits(3).without_result().says(
        "error registry.opentofu.org/acme/demo store/registry.opentofu.org/acme/demo/index.json item 1 members DIGEST digest"
    );
    author.push("").exits(3);
}

#[test]
fn a_list_of_tags_with_a_duplicate_member_is_refused() {
    use crate::support::registry::{Fault, matching};
    let author = Author::pushed();
    let (registry, store) = imported(&author);
    let body = r#"{"name":"acme/demo","tags":["1.0.0"],"TAGS":["2.0.0"]}"#;
    registry.always(matching("GET", "/tags/list"), Fault::body(body));
    let run = author.line(format!("versions acme/demo --from {store}"));
    let facts = "error registry.opentofu.org/acme/demo list of tags members tags TAGS";
    run.exits(3).without_result().says(facts);
}

/// A single member in another letter case means the same to all readers in Go. It is accepted with a note.
#[test]
fn one_member_in_another_letter_case_is_accepted_with_a_note() {
    let author = Author::pushed();
    rewrite(
        &author.repository(""),
        |text, _| text.replacen("\"layers\"", "\"LAYERS\"", 1),
        |text| text.replacen("\"os\":\"linux\"", "\"Os\":\"linux\",\"x\":1,\"x\":2", 1),
    );
    let arguments = "inspect acme/demo@1.0.0 --from oci-layout:store";
    let run = author.line(arguments).succeeds();
    assert!(run.stdout.contains(" lenient-json\n"), "{}", run.stdout);
    let copy = "copy acme/demo --from oci-layout:store --to oci-layout:other";
    author.line(format!("{copy} {PINNED}")).succeeds();
}
