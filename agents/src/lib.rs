//! The table.
