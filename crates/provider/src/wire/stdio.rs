//! What a plugin prints once it serves: go-plugin catches it and offers it as a stream. Nobody else reads it, and a plugin
//! whose output is not read stands still when the pipe is full.

use tokio::io::{AsyncWriteExt as _, DuplexStream};
use tonic::transport::Channel;

use super::calls;
use super::generated::plugin::{Empty, StdioData, stdio_data};
use super::log::{self, Output};

/// The call that gives the stream.
const STREAM: &str = "/plugin.GRPCStdio/StreamStdio";

/// So much may wait to be split into lines.
const BUFFER: usize = 64 << 10;

/// Reads what the plugin prints for as long as it lives. Plugins without that service print nowhere.
pub(super) fn follow(channel: Channel, provider: String, output: Output) {
    tokio::spawn(async move {
        let (printed, stdout) = tokio::io::duplex(BUFFER);
        let (complained, stderr) = tokio::io::duplex(BUFFER);
        tokio::join!(
            copy(channel, printed, complained),
            log::relay(provider.clone(), stdout, output.clone()),
            log::relay(provider, stderr, output),
        );
    });
}

async fn copy(channel: Channel, mut stdout: DuplexStream, mut stderr: DuplexStream) {
    let Ok(mut stream) = calls::streaming::<Empty, StdioData>(&channel, STREAM, Empty {}).await else { return };
    while let Ok(Some(Ok(part))) = stream.message().await {
        let to = if part.channel() == stdio_data::Channel::Stderr { &mut stderr } else { &mut stdout };
        if to.write_all(&part.data).await.is_err() {
            return;
        }
    }
}
