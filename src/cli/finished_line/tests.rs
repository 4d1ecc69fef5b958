use super::*;
use tfoci::authentication::{Note, Status};

fn authentication(notes: Vec<Note>) -> Authentication {
    Authentication {
        status: Status::Signed,
        anchor: Some(Anchor::Pinned),
        fingerprint: "C874011F0AB405110D02105534365D9472D7468F".parse().ok(),
        signer: None,
        signed_at: None,
        notes,
    }
}

fn lines(notes: Vec<Note>, columns: &[usize]) -> Vec<String> {
    let authentication = authentication(notes);
    let subject = subject("demo", None);
    let line = FinishedLine {
        subject: &subject,
        count: "4 packages",
        size: Some("1.71 KiB".to_owned()),
        authentication: &authentication,
    };
    let widths = Widths::default();
    let lines = columns.iter().map(|columns| line.within(*columns, &widths));
    lines.collect()
}

fn subject(name: &str, destination: Option<&str>) -> Subject {
    let provider = format!("example.com/acme/{name}");
    Subject {
        destination: destination.map(str::to_owned),
        ..Subject::version(&provider.parse().unwrap(), &"1.0.0".parse().unwrap())
    }
}

#[test]
fn narrow_lines_keep_the_name_the_status_and_the_anchor() {
    assert_eq!(
        lines(Vec::new(), &[90, 84, 73, 66, 60, 53, 45, 30]),
        [
            "example.com/acme/demo 1.0.0   4 packages, 1.71 KiB      signed 34365D9472D7468F (pinned)",
            "example.com/acme/demo 1.0.0   4 packages   signed 34365D9472D7468F (pinned)",
            "example.com/acme/demo 1.0.0   signed (pinned)",
            "example.com/acme/demo 1.0.0   signed (pinned)",
            "example.com/acme/demo 1.0.0   signed (pinned)",
            "example.com/acme/demo 1.0.0   signed (pinned)",
            "example.com/acme/demo 1.0.0   signed (pinned)",
            "example.com/acme/demo 1.0.0   signed (pinned)",
        ]
    );
    assert_eq!(
        lines(vec![Note::ExpiredKey], &[60, 50]),
        [
            "example.com/acme/demo 1.0.0   signed (pinned) expired-key",
            "example.com/acme/demo 1.0.0   signed (pinned) expired-key",
        ]
    );
}

#[test]
fn the_store_has_a_column_of_its_own() {
    let widths = Widths::default();
    let line = |name, destination| {
        let subject = subject(name, Some(destination));
        let line = FinishedLine {
            subject: &subject,
            count: "1 package",
            size: None,
            authentication: &authentication(Vec::new()),
        };
        line.within(90, &widths)
    };
    assert_eq!(
        [
            line("random", "a.test:5000/providers/acme/random"),
            line("tls", "oci.b.test/example.com/acme/tls"),
            line("tls", "oci.b.test/acme-tls"),
        ],
        [
            "example.com/acme/random 1.0.0   a.test:5000/providers   signed (pinned)",
            "example.com/acme/tls 1.0.0      oci.b.test              signed (pinned)",
            "example.com/acme/tls 1.0.0      oci.b.test/acme-tls     signed (pinned)",
        ]
    );
}
