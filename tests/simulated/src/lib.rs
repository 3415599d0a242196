//! A provider of clouds that do not exist. A description says what types of resources a cloud has and what it does not let happen; the
//! objects are in a file, so that several processes can work in one world.
//!
//! It knows nothing of orders, rules or the catalogue: what it is for is to find out what really happens.

pub mod constraints;
pub mod description;
mod fields;
mod planning;
pub mod provider;
pub mod world;
