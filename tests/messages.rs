//! Every error that a user can see, word for word.
//!
//! A case is a command that cannot be carried out, and what it prints. Each says what is so and of which provider, version and
//! platform; what was expected and received where two things differ; and in a hint what can be done, where something can.

mod census;
mod form;
