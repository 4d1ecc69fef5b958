use super::*;

#[test]
fn one_holder_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let places = [
        (directory.path().join("lock"), Kind::File),
        locked_for(directory.path()),
    ];
    for (path, kind) in places {
        let held = Lock::attempt(&path, kind).unwrap();
        assert!(held.is_some());
        assert!(Lock::attempt(&path, kind).unwrap().is_none());
        drop(held);
        assert!(Lock::attempt(&path, kind).unwrap().is_some());
    }
}

#[cfg(unix)]
#[test]
fn a_lock_is_a_file_and_no_link() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let attempt = |name: &str| Lock::attempt(&path(name), Kind::File);
    std::os::unix::fs::symlink("elsewhere", path("link")).unwrap();
    assert!(attempt("link").is_err());
    assert!(!path("elsewhere").exists());
    let made = std::process::Command::new("mkfifo")
        .arg(path("pipe"))
        .status();
    assert!(made.unwrap().success());
    assert!(attempt("pipe").is_err());
    // The pipe can be opened because it has a reader.
    let mut reader = OpenOptions::new();
    reader.read(true);
    let _reader = non_blocking(&mut reader).open(path("pipe")).unwrap();
    assert!(matches!(attempt("pipe"), Err(Error::Special { .. })));
    assert!(attempt("file").unwrap().is_some());
}
