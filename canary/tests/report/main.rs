//! Everything that happens with evidence after it was collected.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod commands;
mod damage;
mod gate;
mod html;
mod judging;
mod sample;
mod tdb;
mod truth;
mod verify;
