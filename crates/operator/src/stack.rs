//! What becomes of a Stack: what it refers to is fetched, it is decided what to do next, that is done, and its status is written.
//!
//! Only [`decide`] decides, and it touches nothing; [`wanted`] says what is asked for, [`history`] what is kept.

pub mod conditions;
pub mod decide;
pub mod history;
pub mod reconcile;
mod reserved;
pub mod schedule;
pub mod wanted;
