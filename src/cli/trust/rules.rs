//! The rules of an entry as lines of text.

use tfoci::trust::rule::{Expired, Unsigned, Weak};

use crate::cli::printer::Printer;

/// Prints what happens to a release without a signature. `signers` are the pinned keys, if some are. `commands` names the commands, if others
/// treat it differently.
pub(super) fn print_unsigned(
    signers: Option<&str>,
    unsigned: Unsigned,
    commands: Option<&str>,
    printer: &Printer,
) {
    let by = commands.map(|commands| format!(" by {commands}"));
    let by = by.unwrap_or_default();
    match (signers, unsigned) {
        (Some(signers), _) => printer.result(&format!(
            "unsigned  refused: a release needs a signature by {signers}"
        )),
        (None, Unsigned::Refuse) => printer.result(&format!(
            "unsigned  refused{by}: a release needs a signature, by any key"
        )),
        (None, Unsigned::Allow) => printer.result(&format!(
            "unsigned  accepted{by}: a release without a signature is shown as `checksum` or `unverified`"
        )),
    }
}

/// Prints what happens to signatures by expired keys and over weak digests.
pub(super) fn print_doubtful(expired: Expired, weak: Weak, printer: &Printer) {
    const NOTED: &str = "accepted, with a note";
    let expired = match expired {
        Expired::Warn => NOTED,
        Expired::Refuse => "refused",
    };
    printer.result(&format!(
        "expired   a signature by an expired key is {expired}"
    ));
    let weak = match weak {
        Weak::Warn => NOTED,
        Weak::Refuse => "refused",
    };
    printer.result(&format!("weak      a signature with SHA-1 is {weak}"));
}
