//! Zips, byte by byte
