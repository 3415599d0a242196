//! Turns the `.proto` files of `groma-provider` into Rust: `protogen PROTO_DIR OUT_DIR`. Not part of any build.
//!
//! Messages only. Calls are made and answered by path, because the two protocols differ in nothing but their names.

use std::path::PathBuf;

use anyhow::Context as _;

const FILES: [&str; 2] = ["tfplugin.proto", "goplugin.proto"];

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(protos), Some(out)) = (args.next(), args.next()) else {
        anyhow::bail!("usage: protogen PROTO_DIR OUT_DIR");
    };
    let descriptors = protox::compile(FILES, [&protos]).context("reading the .proto files")?;
    std::fs::create_dir_all(&out)?;
    let mut config = prost_build::Config::new();
    // Bytes are not copied out of a message, and maps keep one order.
    config.bytes(["."]).btree_map(["."]).out_dir(&out);
    config.compile_fds(descriptors).context("writing Rust")
}
