use crate::mirror::origin_scene::OriginScene;

#[test]
fn mistakes_in_a_mirror_file_are_reported_with_their_line() {
    for (text, says) in [
        ("", "
error: mirror.toml is not a mirror file
  the file names no provider
    expected a table [[provider]] for each

hint: `tfoci help mirror-file` shows a mirror file
"),
        ("to = [\"oci-layout:store\"]\n[[provider]]\naddress = \"a.example/b/c\"\nconstraints = \">= 1\"\n[[provider]]\naddress = \"a.example/b/c\"\nconstraints = \">=1\"\n", "
error: mirror.toml is not a mirror file
  a.example/b/c is there twice with the same constraints
    in line 3 and line 6

hint: remove one of the two tables, or give them different constraints
"),
        ("provider = 1", "
error: mirror.toml is not a mirror file
  line 1, column 12: expected tables `[[provider]]` with two brackets on each side, received the number 1
    |
  1 | provider = 1
    |            ^

hint: `tfoci help mirror-file` shows a mirror file
"),
        ("[provider]\naddress = \"a.example/b/c\"\n\n[provider] # another\naddress = \"a.example/b/d\"\n", "
error: mirror.toml is not a mirror file
  line 4, column 2: expected tables `[[provider]]` with two brackets on each side, received a table
    |
  4 | [provider] # another
    |  ^^^^^^^^

hint: `tfoci help mirror-file` shows a mirror file
"),
        ("to = \"oci-layout:store\"\n[[provider]]\naddress = \"a.example/b/c\"\n", "
error: mirror.toml is not a mirror file
  line 1, column 6: expected a list, received a text
    |
  1 | to = \"oci-layout:store\"
    |      ^^^^^^^^^^^^^^^^^^

hint: did you mean `to = [\"…\"]`? `tfoci help mirror-file` shows a mirror file
"),
        ("[[provider]]\naddress = \"a.example/b/c\"\ntrust = \"trust.toml\"\n", "
error: mirror.toml is not a mirror file
  line 3, column 1: unknown field `trust`, expected one of `address`, `constraints`, `to`, `platforms`, `newest`, `prereleases`
    |
  3 | trust = \"trust.toml\"
    | ^^^^^

hint: `trust` belongs above the first `[[provider]]`. `tfoci help mirror-file` shows a mirror file
"),
        ("[[provider]]\naddress = \"acme/demo\"\nplatform = []\n", "
error: mirror.toml is not a mirror file
  line 3, column 1: unknown field `platform`, expected one of `address`, `constraints`, `to`, `platforms`, `newest`, `prereleases`
    |
  3 | platform = []
    | ^^^^^^^^

hint: did you mean `platforms`? `tfoci help mirror-file` shows a mirror file
"),
        ("[[provider]]\naddress = \"acme/demo\"\nversion = \"1.0.0\"\n", "
error: mirror.toml is not a mirror file
  line 3, column 1: unknown field `version`, expected one of `address`, `constraints`, `to`, `platforms`, `newest`, `prereleases`
    |
  3 | version = \"1.0.0\"
    | ^^^^^^^

hint: did you mean `constraints`? `tfoci help mirror-file` shows a mirror file
"),
        ("[[provider]]\nsource = \"acme/demo\"\n", "
error: mirror.toml is not a mirror file
  line 2, column 1: unknown field `source`, expected one of `address`, `constraints`, `to`, `platforms`, `newest`, `prereleases`
    |
  2 | source = \"acme/demo\"
    | ^^^^^^

hint: did you mean `address`? `tfoci help mirror-file` shows a mirror file
"),
        ("[[provider]]\naddress = \"acme/demo\"\n", "
error: mirror.toml is not a mirror file
  line 2 cannot be understood
  `acme/demo` names no host
    expected HOSTNAME/NAMESPACE/TYPE

hint: write `registry.opentofu.org/acme/demo`, or for Terraform `registry.terraform.io/acme/demo`
"),
        ("[[provider]]\naddress = \"a.example/b/c\"\nconstraints = \"1 to 2\"\n", "
error: mirror.toml is not a mirror file
  line 3 cannot be understood
  `1 to 2` is not a version constraint: a comma is missing
    expected `>= 1.2.0, < 2.0.0`

hint: `tfoci help mirror-file` shows a mirror file
"),
        ("[[provider]]\naddress = \"a.example/b/c\"\nplatforms = [\"linux\"]\n", "
error: mirror.toml is not a mirror file
  line 3 cannot be understood
  `linux` is not a platform: expected OS_ARCH, such as `linux_amd64`

hint: `tfoci help mirror-file` shows a mirror file
"),
        ("newest = 1\nplatforms = [\n  \"linux_amd64\",\n  \"linux-arm64\",\n]\n[[provider]]\naddress = \"a.example/b/c\"\n", "
error: mirror.toml is not a mirror file
  line 4 cannot be understood
  `linux-arm64` is not a platform: expected linux_arm64

hint: `tfoci help mirror-file` shows a mirror file
"),
        ("provider = [{ address = \"a.example/b/c\", constraints = \"x\" }]\n", "
error: mirror.toml is not a mirror file
  the table of `a.example/b/c` cannot be understood
  `x` is not a version constraint: it has a wildcard
    expected `~> 1.2.0` for any 1.2, `~> 1.0` for any 1, or no constraint

hint: `tfoci help mirror-file` shows a mirror file
"),
        ("[[provider]]\naddress = \"a.example/b/c\"\nnewest = 0\n", "
error: mirror.toml is not a mirror file
  line 3, column 10: expected a whole number from 1, received the number 0
    |
  3 | newest = 0
    |          ^

hint: `tfoci help mirror-file` shows a mirror file
"),
        ("[[provider]]\naddress = \"a.example/b/c\"\n", "
error: nothing says where to mirror a.example/b/c

hint: name the store with `--to STORE`, or with `to` in the mirror file
"),
        ("[[provider]]\naddress = \"a.example/b/c@1.0.0\"\n", "
error: mirror.toml is not a mirror file
  line 2 cannot be understood
  `c@1.0.0` is not a provider type: it has a dot
    expected letters, digits and inner dashes

hint: a version goes into `constraints`: `address = \"a.example/b/c\"` and `constraints = \"1.0.0\"`
"),
        ("[[provider]]\naddress = \"a.example/b/c\"\nplatforms = []\n", "
error: mirror.toml is not a mirror file
  line 3, column 13: the list is empty, expected at least one; without the key, all are meant
    |
  3 | platforms = []
    |             ^^

hint: `tfoci help mirror-file` shows a mirror file
"),
    ] {
        let scene = OriginScene::of([]);
        scene.write("mirror.toml", text);
        scene.run("--file mirror.toml").says(2, says);
    }
    let scene = OriginScene::of([]);
    let text = "to = [\"oci-layout:x\"]\n[[provider]]\naddress = \"a.example/b/c\"\n";
    scene.write("mirror.toml", text);
    scene
        .run("a.example/b/c --file mirror.toml")
        .says(2, "error a.example/b/c");
    let scene = OriginScene::of([]);
    let text = "trust = \"none.toml\"\nto = [\"oci-layout:x\"]\n[[provider]]\naddress = \"a.example/b/c\"\n";
    scene.write("plans/mirror.toml", text);
    scene
        .run("--file plans/mirror.toml")
        .says(1, "error plans/none.toml plans/mirror.toml");
    OriginScene::of([])
        .run("--file none.toml --to oci-layout:x")
        .says(1, "error No 2 --file");
}

/// The file means the same on every machine, so it names the host that this machine has by default.
#[test]
fn an_address_without_a_host_is_completed_with_the_default_host() {
    let scene = OriginScene::of([]);
    let text = "[[provider]]\naddress = \"acme/demo\"\n";
    scene.write("mirror.toml", text);
    let arguments = "--file mirror.toml --to oci-layout:store --default-host registry.acme.test";
    for command in ["mirror", "copy"] {
        let from = match command {
            "copy" => " --from oci-layout:other",
            _ => "",
        };
        scene
            .command_of(command, &format!("{arguments}{from}"))
            .says(2, "error 2 acme/demo expected HOSTNAME/NAMESPACE/TYPE");
    }
}
