//! Keeping and forgetting.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::*;
use crate::config::Hidden;

/// Keeps what it is given in files beside itself.
const KEEPS: &str = r#"cd "$(dirname "$0")"
case "$1" in
  store) cat > entry ;;
  get) read -r server; if [ "$server" = kept.example.com ] && [ -e entry ]; then cat entry; else echo 'credentials not found in native keychain'; exit 1; fi ;;
  erase) read -r server; echo "$server" >> erased; rm entry ;;
esac"#;

fn keep(home: &Home, host: &str) -> Result<Kept, Error> {
    let keeper = Keeper::new(&home.places(), host)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(keeper.store("me", &Hidden::new("hunter2")))
}

fn forget(home: &Home, host: &str) -> Result<Option<Kept>, Error> {
    let keeper = Keeper::new(&home.places(), host)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(keeper.erase())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_kept_is_found_and_then_forgotten() {
    let home = Home::new();
    let path = home.path(".docker/config.json");
    assert_eq!(forget(&home, "example.com").unwrap(), None);
    assert!(!path.exists());
    assert_eq!(
        keep(&home, "example.com").unwrap(),
        Kept::File(path.clone())
    );
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "{\n\t\"auths\": {\n\t\t\"example.com\": {\n\t\t\t\"auth\": \"bWU6aHVudGVyMg==\"\n\t\t}\n\t}\n}\n"
    );
    assert_eq!(told(&home.credentials(), "example.com"), "me:hunter2");
    assert_eq!(
        forget(&home, "example.com").unwrap(),
        Some(Kept::File(path.clone()))
    );
    assert_eq!(told(&home.credentials(), "example.com"), "nobody");
    assert_eq!(forget(&home, "example.com").unwrap(), None);
    assert!(matches!(
        keep(&home, "example.com/path"),
        Err(Error::Registry { .. })
    ));
}

#[test]
fn everything_else_in_the_file_stays_as_it_is() {
    let home = Home::new();
    let others = r#""HttpHeaders": { "z": [1 , 2], "a": 12345678901234567890123.10 }"#;
    let path = home.write(
        "real/config.json",
        &format!(
            "{{\n\t{others},\n\t\"auths\": {{\"b.example.com\": {{ \"auth\" :\"x\", \"new\": null}}, \"docker.io\": {{}}}},\n\t\"zz\": true\n}}"
        ),
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::create_dir(home.path(".docker")).unwrap();
    let link = home.path(".docker/config.json");
    std::os::unix::fs::symlink("../real/config.json", &link).unwrap();
    keep(&home, "docker.io").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(mode(&path), 0o600);
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        format!(
            "{{\n\t{others},\n\t\"auths\": {{\n\t\t\"b.example.com\": {{ \"auth\" :\"x\", \"new\": null}},\n\t\t\"https://index.docker.io/v1/\": {{\n\t\t\t\"auth\": \"bWU6aHVudGVyMg==\"\n\t\t}}\n\t}},\n\t\"zz\": true\n}}\n"
        )
    );
    forget(&home, "index.docker.io").unwrap().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains(others) && !text.contains("docker.io") && text.contains("b.example.com"),
        "{text}"
    );
}

#[test]
fn a_link_to_nothing_yet_is_followed() {
    let home = Home::new();
    fs::create_dir(home.path(".docker")).unwrap();
    let link = home.path(".docker/config.json");
    std::os::unix::fs::symlink("../later/config.json", &link).unwrap();
    keep(&home, "example.com").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(mode(&home.path("later/config.json")), 0o600);
}

#[test]
fn helpers_keep_and_forget() {
    let home = Home::new();
    home.helper("keeps", KEEPS);
    let path = home.write(
        ".docker/config.json",
        r#"{"auths": {"kept.example.com": {"auth": "b2xkOm9sZA=="}}, "credHelpers": {"kept.example.com": "keeps"}, "credsStore": "absent"}"#,
    );
    let kept = keep(&home, "kept.example.com").unwrap();
    assert!(matches!(&kept, Kept::Helper(helper) if helper.program() == "docker-credential-keeps"));
    let entry = fs::read_to_string(home.path("bin/entry")).unwrap();
    let entry: serde_json::Value = serde_json::from_str(&entry).unwrap();
    assert_eq!(
        entry,
        serde_json::json!({"ServerURL": "kept.example.com", "Username": "me", "Secret": "hunter2"})
    );
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        !text.contains("b2xkOm9sZA") && !text.contains("hunter2"),
        "{text}"
    );
    assert_eq!(told(&home.credentials(), "kept.example.com"), "me:hunter2");
    assert_eq!(forget(&home, "kept.example.com").unwrap(), Some(kept));
    assert_eq!(
        fs::read_to_string(home.path("bin/erased")).unwrap(),
        "kept.example.com\n"
    );
    assert_eq!(forget(&home, "kept.example.com").unwrap(), None);
    let error = keep(&home, "other.example.com").unwrap_err().to_string();
    assert_eq!(error, "docker-credential-absent cannot be started");
}

#[test]
fn a_file_that_cannot_be_read_is_not_replaced() {
    let home = Home::new();
    let path = home.write(".docker/config.json", "{\"auths\": hunter2");
    for error in [
        keep(&home, "example.com").unwrap_err(),
        forget(&home, "example.com").unwrap_err(),
    ] {
        let shown = format!("{error}{error:?}");
        assert!(
            shown.contains("is not a file of credentials") && !shown.contains("hunter2"),
            "{shown}"
        );
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"auths\": hunter2");
}
