//! Turns the `.proto` files of `groma-provider` into Rust: `protogen PROTO_DIR OUT_DIR`. Not part of any build.

use std::path::PathBuf;

use anyhow::Context as _;

const FILES: [&str; 2] = ["tfplugin5.proto", "goplugin.proto"];

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(protos), Some(out)) = (args.next(), args.next()) else {
        anyhow::bail!("usage: protogen PROTO_DIR OUT_DIR");
    };
    // Packages of the same name must be compiled in one call, or the later file overwrites the earlier one.
    let descriptors = protox::compile(FILES, [&protos]).context("reading the .proto files")?;
    std::fs::create_dir_all(&out)?;
    tonic_prost_build::configure()
        .build_server(false)
        .build_transport(false)
        .bytes(".")
        .out_dir(&out)
        .compile_fds(descriptors)
        .context("writing Rust")
}
