//! Rules for every text in a transcript.
