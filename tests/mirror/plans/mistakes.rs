use crate::mirror::origin_scene::OriginScene;

#[test]
fn mistakes_in_a_mirror_file_are_reported_with_their_line() {
    const TABLE: &str = "[[provider]]\naddress = \"a.example/b/c\"\n";
    let singles = "[provider]\naddress = \"a.example/b/c\"\n\n[provider] # another\naddress = \"a.example/b/d\"\n";
    let platforms = "newest = 1\nplatforms = [\n  \"linux_amd64\",\n  \"linux-arm64\",\n]\n";
    let inline = "provider = [{ address = \"a.example/b/c\", constraints = \"x\" }]\n";
    let with = |more: &str| format!("{TABLE}{more}\n");
    #[rustfmt::skip] // A table.
    let cases = [
        (String::new(), "expected [[provider]]"),
        ("provider = 1".to_owned(), "1 12 expected list"),
        (singles.to_owned(), "4 2 duplicate key"),
        (format!("to = \"oci-layout:store\"\n{TABLE}"), "1 6 expected"),
        (with("trust = \"trust.toml\""), "3 1 trust expected address"),
        (with("platform = []"), "3 1 platform expected platforms"),
        (with("constraints = \"1 to 2\""), "3 15 1 to 2 expected >= 1.2.0 < 2.0.0"),
        (with("platforms = [\"linux\"]"), "3 13 linux expected OS_ARCH linux_amd64"),
        (format!("{platforms}{TABLE}"), "2 13 linux-arm64 expected OS_ARCH linux_amd64"),
        (inline.to_owned(), "1 56 x expected ~> 1.2.0"),
        (with("newest = 0"), "3 10 expected 1"),
        (TABLE.replace("b/c", "b/c@1.0.0"), "2 11 c@1.0.0 expected"),
        (with("platforms = []"), "3 13 expected"),
    ];
    for (text, facts) in cases {
        let scene = OriginScene::of([]);
        scene.write("mirror.toml", text);
        let says = format!("error mirror.toml {facts}");
        scene.run("--file mirror.toml").says(2, &says);
    }
    const TO: &str = "to = [\"oci-layout:x\"]\n";
    let absent = format!("trust = \"none.toml\"\n{TO}{TABLE}");
    #[rustfmt::skip] // A table.
    let cases = [
        ("mirror.toml", TABLE, "", 2, "a.example/b/c"),
        ("mirror.toml", &format!("{TO}{TABLE}"), "a.example/b/c", 2, "a.example/b/c"),
        ("plans/mirror.toml", &absent, "", 1, "plans/none.toml 2"),
    ];
    for (file, text, arguments, code, facts) in cases {
        let scene = OriginScene::of([]);
        scene.write(file, text);
        let told = scene.run(&format!("{arguments} --file {file}"));
        told.says(code, &format!("error {facts}"));
    }
    let told = OriginScene::of([]).run("--file none.toml --to oci-layout:x");
    told.says(1, "error No 2 --file");
}

/// The file means the same on every machine, so it names the host that this machine has by default.
#[test]
fn an_address_without_a_host_is_completed_with_the_default_host() {
    let scene = OriginScene::of([]);
    let text = "[[provider]]\naddress = \"acme/demo\"\n";
    scene.write("mirror.toml", text);
    let arguments = "--file mirror.toml --to oci-layout:store --default-host registry.acme.test";
    for (command, from) in [("mirror", ""), ("copy", "--from oci-layout:other")] {
        let told = scene.command_of(command, &format!("{arguments} {from}"));
        told.says(2, "error 2 acme/demo expected HOSTNAME/NAMESPACE/TYPE");
    }
}
