//! Hints about the notes of a version that was accepted. They follow the warning on its line.

use tfoci::authentication::Note;

/// Suggests how to publish the version without this note.
pub(in crate::cli) fn of(note: Note) -> Option<&'static str> {
    match note {
        Note::MissingProviderManifest => Some("Copy terraform-registry-manifest.json there"),
        _ => None,
    }
}
