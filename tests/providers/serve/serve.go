// Package serve runs a provider as a go-plugin process, with the fault layer in front of it.
package serve

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"groma.dev/fixtures/fault"
)

// messageSize is what the plugin libraries allow as well.
const messageSize = 256 << 20

// Main serves the versions of the protocol that the provider knows, until the client ends it.
func Main(address string, versions map[int]plugin.PluginSet) {
	debug := flag.Bool("debug", false, "serve until interrupted, and print what TF_REATTACH_PROVIDERS must be")
	flag.Parse()
	config := &plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			MagicCookieKey:   "TF_PLUGIN_MAGIC_COOKIE",
			MagicCookieValue: "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
		},
		VersionedPlugins: chosen(versions),
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			options = append(options, grpc.MaxRecvMsgSize(messageSize), grpc.MaxSendMsgSize(messageSize))
			return grpc.NewServer(append(options, fault.Options()...)...)
		},
	}
	if *debug {
		serveReattachable(address, config)
		return
	}
	if os.Getenv("FIXTURE_STUBBORN") != "" {
		signal.Ignore(os.Interrupt, stopSignal)
	}
	if os.Getenv(config.MagicCookieKey) == config.MagicCookieValue {
		takeOverStdout()
	}
	plugin.Serve(config)
}

// chosen are the versions that FIXTURE_PROTOCOL leaves; without it the lowest, as the library at hand serves it.
func chosen(versions map[int]plugin.PluginSet) map[int]plugin.PluginSet {
	wanted := strings.Split(os.Getenv("FIXTURE_PROTOCOL"), ",")
	result := map[int]plugin.PluginSet{}
	lowest := 0
	for version, set := range versions {
		if lowest == 0 || version < lowest {
			lowest = version
		}
		for _, name := range wanted {
			if name == fmt.Sprint(version) {
				result[version] = set
			}
		}
	}
	if len(result) == 0 {
		result[lowest] = versions[lowest]
	}
	return result
}

// serveReattachable serves without a handshake and tells how to attach.
func serveReattachable(address string, config *plugin.ServeConfig) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, stopSignal)
	defer stop()
	found, closed := make(chan *plugin.ReattachConfig), make(chan struct{})
	config.Test = &plugin.ServeTestConfig{Context: ctx, ReattachConfigCh: found, CloseCh: closed}
	go plugin.Serve(config)
	at := <-found
	type place struct{ Network, String string }
	text, err := json.Marshal(map[string]any{address: map[string]any{
		"Protocol": at.Protocol, "ProtocolVersion": at.ProtocolVersion, "Pid": at.Pid, "Test": true,
		"Addr": place{at.Addr.Network(), at.Addr.String()},
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("Provider started. To attach, set the environment variable:\n\n\tTF_REATTACH_PROVIDERS='%s'\n\n", text)
	<-closed
}
