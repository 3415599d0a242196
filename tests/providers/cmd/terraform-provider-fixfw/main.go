// Command terraform-provider-fixfw is the fixture on terraform-plugin-framework; it speaks protocol 6.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/hashicorp/terraform-plugin-mux/tf6muxserver"

	"groma.dev/fixtures/framework"
	"groma.dev/fixtures/raw"
	"groma.dev/fixtures/serve"
)

const address = "groma/fixfw"

func main() {
	provider := &framework.Fixture{Prefix: "fixfw", Modern: "thing", Nested: true}
	mux, err := tf6muxserver.NewMuxServer(context.Background(), providerserver.NewProtocol6(provider), raw.New("fixfw"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	serve.Main(address, map[int]plugin.PluginSet{
		6: {"provider": &tf6server.GRPCProviderPlugin{
			Name:         address,
			GRPCProvider: func() tfprotov6.ProviderServer { return mux.ProviderServer() },
		}},
	})
}
