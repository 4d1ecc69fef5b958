use super::{ADDRESS, ALLOW, arrives, from};
use crate::mirror::origin_scene::OriginScene;
use crate::mirror::{LINUX, demo};
use crate::support::origin::{Door, Fault, Origin, Provider, asks, at};

/// The name of the document or package that requests of this kind are for.
fn place(origin: &Origin, sort: &str) -> String {
    let file = match sort {
        "mirror-index" => "index.json",
        "mirror-version" => "1.0.0.json",
        _ => "terraform-provider-demo_1.0.0_linux_amd64.zip",
    };
    origin.url(&format!("/mirror/{ADDRESS}/{file}"))
}

/// A mirror that redirects requests of a kind so many times before it answers.
fn redirecting(sort: &'static str, times: usize) -> OriginScene {
    let scene = OriginScene::of([demo()]);
    let again = Fault::redirect(&place(&scene.origin, sort));
    scene.origin.storm(times, asks(sort), again);
    scene
}

#[test]
fn documents_follow_five_redirects_as_clients_do() {
    for (sort, file, about) in [
        ("mirror-index", "index.json", ""),
        ("mirror-version", "1.0.0.json", " 1.0.0"),
    ] {
        let scene = redirecting(sort, 5);
        arrives(&scene);
        assert_eq!(scene.origin.count(asks(sort)), 6);
        let scene = redirecting(sort, 6);
        let about = format!("example.com/acme/demo{about} network-mirror:https://[ORIGIN]/mirror/");
        let says = format!("error {about} 5 https://[ORIGIN]/mirror/example.com/acme/demo/{file}");
        from(&scene, ALLOW).says(1, &says);
        assert_eq!(scene.origin.count(asks(sort)), 6);
        assert!(scene.installs().is_empty());
    }
}

#[test]
fn packages_follow_ten_redirects() {
    arrives(&redirecting("package", 10));
    from(&redirecting("package", 11), ALLOW).says(1, "error example.com/acme/demo 1.0.0 network-mirror:https://[ORIGIN]/mirror/ 10 https://[ORIGIN]/mirror/example.com/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip");
}

#[test]
fn package_urls_are_relative_to_the_redirected_document() {
    let scene = OriginScene::of([demo()]);
    let moved = "/mirror/moved.example/acme/demo/1.0.0.json";
    let moved = scene.origin.url(moved);
    let redirect = Fault::redirect(&moved);
    scene.origin.fault(1, asks("mirror-version"), redirect);
    arrives(&scene);
    let seen = scene.origin.seen();
    let mut packages = seen.iter().filter(|seen| asks("package")(seen));
    assert!(packages.all(|seen| seen.path.starts_with("/mirror/moved.example/acme/demo/")));

    let scene = OriginScene::of([demo()]);
    let sort = at(Door::Front, asks("mirror-version"));
    scene.origin.always(sort, Fault::RedirectElsewhere);
    arrives(&scene);
    assert_eq!(scene.origin.count(at(Door::Front, asks("package"))), 0);
    assert_ne!(scene.origin.count(at(Door::Elsewhere, asks("package"))), 0);
}

#[test]
fn build_metadata_is_requested_with_its_plus_sign() {
    let scene = OriginScene::of([Provider::new("acme/demo").version("1.0.0+ent", &[LINUX])]);
    from(&scene, ALLOW)
        .tells("Copied example.com/acme/demo 1.0.0+ent 1 418 unverified Mirrored 1 1 418 [TIME]")
        .gives("example.com/acme/demo:1.0.0_ent");
    assert_eq!(scene.installs(), ["acme/demo 1.0.0+ent linux_amd64"]);
    // Some servers decode `+` as a space, and others require it. It is sent as clients send it.
    let seen = scene.origin.seen().into_iter();
    let targets: Vec<String> = seen.map(|seen| seen.target).collect();
    let zip = "terraform-provider-demo_1.0.0+ent_linux_amd64.zip";
    // The size of the zip, and then all of it.
    let files = ["index.json", "1.0.0+ent.json", zip, zip];
    let expected = files.map(|file| format!("/mirror/example.com/acme/demo/{file}"));
    assert_eq!(targets, expected);
}
