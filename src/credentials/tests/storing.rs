//! Storing and erasing.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::*;

/// Stores its input in a file beside itself.
const STORES: &str = r#"cd "$(dirname "$0")"
case "$1" in
  store) cat > entry ;;
  get) read -r server; if [ "$server" = kept.example.com ] && [ -e entry ]; then cat entry; else echo 'credentials not found in native keychain'; exit 1; fi ;;
  erase) read -r server; echo "$server" >> erased; rm entry ;;
esac"#;

fn store(home: &HomeDirectory, host: &str) -> Result<Location, Error> {
    let store = CredentialStore::new(&home.locations(), host)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(store.store("me", &"hunter2".into()))
}

fn erase(home: &HomeDirectory, host: &str) -> Result<Option<Location>, Error> {
    let store = CredentialStore::new(&home.locations(), host)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(store.erase())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_stored_password_is_found_and_then_erased() {
    let home = HomeDirectory::new();
    let path = home.path(".docker/config.json");
    assert_eq!(erase(&home, "example.com").unwrap(), None);
    assert!(!path.exists());
    assert_eq!(
        store(&home, "example.com").unwrap(),
        Location::File(path.clone())
    );
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "{\n\t\"auths\": {\n\t\t\"example.com\": {\n\t\t\t\"auth\": \"bWU6aHVudGVyMg==\"\n\t\t}\n\t}\n}\n"
    );
    assert_eq!(found(&home.credentials(), "example.com"), "me:hunter2");
    assert_eq!(
        erase(&home, "example.com").unwrap(),
        Some(Location::File(path.clone()))
    );
    assert_eq!(found(&home.credentials(), "example.com"), "none");
    assert_eq!(erase(&home, "example.com").unwrap(), None);
    assert!(matches!(
        store(&home, "example.com/path"),
        Err(Error::NotARegistry { .. })
    ));
}

#[test]
fn everything_else_in_the_file_stays_as_it_is() {
    let home = HomeDirectory::new();
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
    store(&home, "docker.io").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(mode(&path), 0o600);
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        format!(
            "{{\n\t{others},\n\t\"auths\": {{\n\t\t\"b.example.com\": {{ \"auth\" :\"x\", \"new\": null}},\n\t\t\"https://index.docker.io/v1/\": {{\n\t\t\t\"auth\": \"bWU6aHVudGVyMg==\"\n\t\t}}\n\t}},\n\t\"zz\": true\n}}\n"
        )
    );
    erase(&home, "index.docker.io").unwrap().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains(others) && !text.contains("docker.io") && text.contains("b.example.com"),
        "{text}"
    );
}

#[test]
fn helpers_store_and_erase() {
    let home = HomeDirectory::new();
    home.helper("keeps", STORES);
    let path = home.write(
        ".docker/config.json",
        r#"{"auths": {"kept.example.com": {"auth": "b2xkOm9sZA=="}}, "credHelpers": {"kept.example.com": "keeps"}, "credsStore": "absent"}"#,
    );
    let stored = store(&home, "kept.example.com").unwrap();
    assert!(
        matches!(&stored, Location::Helper(helper) if helper.program() == "docker-credential-keeps")
    );
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
    assert_eq!(found(&home.credentials(), "kept.example.com"), "me:hunter2");
    assert_eq!(erase(&home, "kept.example.com").unwrap(), Some(stored));
    assert_eq!(
        fs::read_to_string(home.path("bin/erased")).unwrap(),
        "kept.example.com\n"
    );
    assert_eq!(erase(&home, "kept.example.com").unwrap(), None);
    let error = store(&home, "other.example.com").unwrap_err().to_string();
    assert_eq!(error, "docker-credential-absent cannot be started");
}

#[test]
fn a_file_that_cannot_be_read_is_not_replaced() {
    let home = HomeDirectory::new();
    let path = home.write(".docker/config.json", "{\"auths\": hunter2");
    for error in [
        store(&home, "example.com").unwrap_err(),
        erase(&home, "example.com").unwrap_err(),
    ] {
        let shown = format!("{error}{error:?}");
        assert!(
            shown.contains("is not a file of credentials") && !shown.contains("hunter2"),
            "{shown}"
        );
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"auths\": hunter2");
}
