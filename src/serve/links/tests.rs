use super::*;

const LIFETIME: Duration = Duration::from_secs(900);
const PATH: &str = "/mirror/registry.acme.test/acme/demo/demo.zip";

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn signature(links: &Links) -> String {
    let prefix = links.prefix("", PATH, at(1_000)).unwrap();
    prefix.strip_prefix("signed/").unwrap().to_owned()
}

#[test]
fn a_link_is_valid_for_its_path_until_it_expires() {
    let links = Links::of_this_process(LIFETIME).unwrap();
    let signature = signature(&links);
    let is_valid =
        |links: &Links, signature: &str| links.remaining(signature, "", PATH, at(1_000)).is_some();
    for (now, left) in [
        (1_000, Some(LIFETIME)),
        (1_899, Some(Duration::from_secs(1))),
        // The clock is behind that of the replica that signed.
        (0, Some(Duration::from_secs(1_900))),
        (1_930, Some(Duration::ZERO)),
        (1_931, None),
    ] {
        assert_eq!(
            links.remaining(&signature, "", PATH, at(now)),
            left,
            "{now}"
        );
    }
    let other = "/mirror/registry.acme.test/acme/other/demo.zip";
    assert_eq!(links.remaining(&signature, "", other, at(1_000)), None);
    let later = signature.replacen("1900", "9900", 1);
    assert!(!is_valid(&links, &later));
    for broken in [
        "",
        "1900",
        "1900.x.y",
        "..",
        &format!("{signature}x"),
        signature.strip_suffix(|_: char| true).unwrap(),
    ] {
        assert!(!is_valid(&links, broken), "{broken}");
    }
    assert!(!is_valid(
        &Links::of_this_process(LIFETIME).unwrap(),
        &signature
    ));
}

#[test]
fn a_wrong_key_is_named_by_its_line() {
    let links = |text: &str| Links::parse(text, LIFETIME);
    let key = STANDARD.encode([1; 32]);
    assert_eq!(links("").err(), Some(FileError::keys(1)));
    let short = format!("{key}\nc2hvcnQ=");
    assert_eq!(links(&short).err(), Some(FileError::keys(2)));
    let token = Digest::of(b"token").hex().to_owned();
    for hex in [token.to_uppercase(), token.repeat(2), token] {
        assert_eq!(links(&hex).err(), Some(FileError::keys(1)), "{hex}");
    }
}

#[test]
fn no_signature_is_shown_wherever_it_stands() {
    let links = Links::of_this_process(LIFETIME).unwrap();
    let signature = signature(&links);
    let (_, mac) = signature.rsplit_once('.').unwrap();
    for path in [
        format!("//signed/{signature}/a"),
        format!("/signed%2f{signature}%25252Fmirror"),
        format!("/signed%5c{signature}.zip;x"),
        format!("/signed/{}", signature.replace('.', "%252e")),
    ] {
        let shown = without_signatures(&path);
        assert!(
            shown.contains("SIGNATURE") && !shown.contains(mac),
            "{shown}"
        );
    }
    let path = "/mirror/a.example/b/terraform-provider-a-name-of-more-than-forty-letters_1.0.0.zip";
    assert_eq!(without_signatures(path), path);
}
