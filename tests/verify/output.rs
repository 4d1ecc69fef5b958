use super::Mirrored;
use crate::support::tamper::untag;

fn damaged() -> Mirrored {
    let mirrored = Mirrored::new();
    let layout = mirrored.layout("store");
    untag(&layout, "evidence-1.0.0");
    untag(&layout, "1.1.0");
    mirrored
}

/// The parser of another crate would be one more dependency: this one knows what such a document needs.
fn is_well_formed(text: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text
        .strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
        .unwrap();
    while let Some((before, after)) = rest.split_once('<') {
        if before.contains(['>', '\u{1b}']) {
            return false;
        }
        let (tag, behind) = after.split_once('>').unwrap();
        match tag.strip_prefix('/') {
            Some(name) if open.pop() != Some(name) => return false,
            Some(_) => {}
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap()),
        }
        rest = behind;
    }
    open.is_empty() && rest.trim().is_empty()
}

#[test]
fn junit_has_a_case_for_each_provider_and_code() {
    let mirrored = damaged();
    let verify = "verify --from oci-layout:store --format junit";
    let run = mirrored.tfoci(verify).exits(1);
    assert!(is_well_formed(&run.stdout), "{}", run.stdout);
    run.shows("tests=\"3\" failures=\"1\"");
    for code in ["verify", "evidence-missing", "evidence-orphan"] {
        assert_eq!(run.stdout.matches(&format!("name=\"{code}\"")).count(), 1);
    }
    assert_eq!(run.stdout.matches("<failure>").count(), 1);
    assert_eq!(run.stdout.matches("<system-out>").count(), 1);
    let whole = Mirrored::new().tfoci(verify).succeeds();
    assert!(is_well_formed(&whole.stdout), "{}", whole.stdout);
    whole.shows("tests=\"1\" failures=\"0\"");
    // Other commands have no test cases.
    let list = mirrored.tfoci("list --from oci-layout:store --format junit");
    list.exits(2);
}

#[test]
fn text_names_each_finding_its_place_and_its_fix() {
    let run = damaged().tfoci("verify --from oci-layout:store").exits(1);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].ends_with("[evidence-missing]"), "{}", run.stdout);
    for (at, begins) in [
        (0, "error: "),
        (1, "  in oci-layout:store/"),
        (3, "  tfoci mirror "),
        (4, "warning: "),
    ] {
        assert!(lines[at].starts_with(begins), "{begins}: {}", run.stdout);
    }
    let last = lines.last().unwrap();
    assert!(last.contains("1 error, 1 warning"), "{last}");
}

#[test]
fn a_job_of_github_actions_gets_annotations() {
    let mirrored = damaged();
    let mirrored = Mirrored {
        scene: mirrored.scene.env("GITHUB_ACTIONS", "true"),
        origin: mirrored.origin,
    };
    let run = mirrored.tfoci("verify --from oci-layout:store").exits(1);
    for begins in ["::error ", "::warning "] {
        let mut lines = run.stderr.lines();
        assert!(lines.any(|line| line.starts_with(begins)), "{run:?}");
    }
}

/// Each code that the program knows is in the schema, and is explained once.
#[test]
fn the_page_and_the_schema_have_the_same_codes() {
    let scene = crate::support::scene::Scene::new();
    let page = scene.line("help findings").succeeds().stdout;
    let lists = page.lines().filter_map(|line| line.strip_prefix("  "));
    let mut codes: Vec<&str> = lists.flat_map(|line| line.split(", ")).collect();
    codes.sort_unstable();
    for code in &codes {
        let page = scene.line(format!("help {code}")).succeeds().stdout;
        assert!(page.starts_with(&format!("{code} (")) && page.lines().count() > 2);
    }
    let schema = scene.line("schema verify").succeeds().json();
    let known = &schema["$defs"]["finding"]["properties"]["code"]["enum"];
    let known = known.as_array().unwrap().iter();
    let mut known: Vec<&str> = known.map(|one| one.as_str().unwrap()).collect();
    known.sort_unstable();
    assert_eq!(codes, known);
}
