//! Bodies decoded against small schemas.
