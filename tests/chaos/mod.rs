//! What is left when a run does not end as it should.
//!
//! A run is killed at each of its system calls, meets others that want the same, finds the disk full or closed, or is asked to
//! stop. Afterwards a reader sees what was there before or what the run was for, and nothing between; the same run again
//! finishes, and leaves the same files as a run that was not interrupted.

/// Directories that may be read but not written to.
mod closed;
/// Several at once.
mod crowd;
/// Runs that write nothing.
mod dry_run;
/// Disks that are full or broken.
mod full;
/// Killed at every system call that leaves a trace on disk.
mod killed;
/// A release, the commands that move it, and what can be seen of it.
mod layout_scene;
/// SIGINT and SIGTERM.
mod stopped;
/// System calls that fail or kill.
pub mod tracer;
/// A run that something happens to, and what must hold afterwards.
mod victim;
