use super::{doctor, project};
use crate::support::scene::Scene;

/// Without a project, the machine itself is checked.
#[test]
fn without_a_project_the_machine_is_checked() {
    let scene = Scene::new().env("https_proxy", "http://me:hunter2@proxy.example:3128");
    scene.write("project/notes.txt", "");
    scene.write(".docker/config.json", "{\"auths\":{}}");
    let report = doctor(&scene, &[]).passes();
    let (credentials, proxy) = (&report.good["credentials"], &report.good["proxy"]);
    let is_file = credentials.ends_with(".docker/config.json");
    assert!(is_file, "{credentials}");
    assert!(proxy.contains("proxy.example:3128"), "{proxy}");
    // Neither here nor there is a secret shown.
    scene.write(".docker/config.json", "{\"auths\": hunter2");
    doctor(&scene, &[]).fails_at("credentials", "credentials-unreadable");
}

#[test]
fn variables_that_name_nothing_are_found() {
    let scene = Scene::new().env("SSL_CERT_FILE", "/none/ca.pem");
    scene.write("project/notes.txt", "");
    doctor(&scene, &[]).fails_at("authorities", "authorities-missing");
    let scene = Scene::new().env("HTTPS_PROXY", "socks5://proxy.example:1080");
    scene.write("project/notes.txt", "");
    let report = doctor(&scene, &[]).passes();
    report.run.shows("[proxy-unusable]");
}

/// The client goes no further, and so no provider is looked for.
#[test]
fn a_refused_configuration_ends_the_way() {
    let scene = Scene::new();
    project(&scene, "example.com/acme/demo", "~> 1.0");
    scene.write(
        ".tofurc",
        "provider_installation {\n direct {}\n}\nprovider_installation {\n}\n",
    );
    doctor(&scene, &[]).fails_at("configuration", "configuration-refused");
    scene.write(".tofurc", "");
    scene.write("project/main.tf", "terraform {\n  required_providers {\n");
    let run = "doctor --chdir project";
    scene.line(run).exits(1).says("error project HCL main.tf:2");
    project(&scene, "example.com/acme/demo", "~> 1.0");
    scene.write("project/.terraform.lock.hcl", "provider {");
    let run = scene.line(run).exits(2);
    run.says("error project/.terraform.lock.hcl");
    scene.tfoci(["doctor", "--chdir", "none"]).exits(1);
}
