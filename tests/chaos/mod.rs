//! The state of stores and directories after a run that failed or was interrupted.
//!
//! A run is killed at each of its system calls, competes with others, finds the disk full or read-only, or receives a signal to
//! stop. Afterwards a reader sees the state before the run or the finished state, and nothing in between. A second run
//! finishes and leaves the same files as an undisturbed run.

/// Directories that may be read but not written to.
mod closed;
/// Several runs at once.
mod crowd;
/// Runs that write nothing.
mod dry_run;
/// Disks that are full or broken.
mod full;
/// Killed at every system call that leaves a trace on disk.
mod killed;
/// A release, commands that push, copy and install it, and what readers see of it.
mod layout_scene;
/// SIGINT and SIGTERM.
mod stopped;
/// System calls that fail or kill.
pub mod tracer;
/// A run that is disturbed, and the invariants afterwards.
mod victim;
