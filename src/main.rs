//! tfoci
fn main() {}
