use super::*;

fn order(names: &[&'static str]) -> Vec<String> {
    let file = |name: &&'static str| SourceFile { name, bytes: b"" };
    let files: Vec<_> = names.iter().map(file).collect();
    in_order(&files)
        .iter()
        .map(|file| file.name.to_owned())
        .collect()
}

#[test]
fn only_the_files_that_clients_read_count() {
    let strange = [
        ".a.tf",
        "a.tf~",
        "#a.tf#",
        "a.tfvars",
        "tf",
        "a.json",
        ".terraform.lock.hcl",
    ];
    assert!(order(&strange).is_empty());
    assert_eq!(order(&["#a.tf"]), ["#a.tf"]);
    assert!(is_test_file("tests/a.tftest.hcl") && !is_test_file("tests/.a.tftest.hcl"));
    assert!(!is_configuration("a.tftest.hcl") && !is_test_file("test.hcl"));
    assert!(is_configuration("main.tofu.json") && !is_configuration(".terraform.lock.hcl"));
}

#[test]
fn a_file_for_opentofu_replaces_the_other_of_its_name_and_form() {
    for (names, counting) in [
        (
            &["a.tf", "a.tofu", "b.tf", "c.tofu"][..],
            &["a.tofu", "b.tf", "c.tofu"][..],
        ),
        (
            &["a.tf.json", "a.tofu.json", "a.tf"],
            &["a.tf", "a.tofu.json"],
        ),
        (&["a.tf.json", "a.tofu"], &["a.tf.json", "a.tofu"]),
    ] {
        assert_eq!(order(names), counting);
    }
}

#[test]
fn overriding_files_come_last() {
    let names = [
        "z.tf",
        "override.tf",
        "a_override.tf.json",
        "override_a.tf",
        "_override.tofu",
    ];
    let wanted = [
        "override_a.tf",
        "z.tf",
        "_override.tofu",
        "a_override.tf.json",
        "override.tf",
    ];
    assert_eq!(order(&names), wanted);
}
