// Command terraform-provider-fixsdk is the fixture on terraform-plugin-sdk/v2; it speaks protocol 5, or 6 if asked.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/hashicorp/terraform-plugin-mux/tf5muxserver"
	"github.com/hashicorp/terraform-plugin-mux/tf5to6server"
	"github.com/hashicorp/terraform-plugin-mux/tf6to5server"

	"groma.dev/fixtures/framework"
	"groma.dev/fixtures/raw"
	"groma.dev/fixtures/sdk"
	"groma.dev/fixtures/serve"
)

const address = "groma/fixsdk"

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	modern := &framework.Fixture{Prefix: "fixsdk", Modern: "modern"}
	lowered, err := tf6to5server.DowngradeServer(ctx, raw.New("fixsdk"))
	if err != nil {
		return err
	}
	mux, err := tf5muxserver.NewMuxServer(ctx,
		sdk.New().GRPCProvider,
		providerserver.NewProtocol5(modern),
		func() tfprotov5.ProviderServer { return lowered },
	)
	if err != nil {
		return err
	}
	lifted, err := tf5to6server.UpgradeServer(ctx, mux.ProviderServer)
	if err != nil {
		return err
	}
	serve.Main(address, map[int]plugin.PluginSet{
		5: {"provider": &tf5server.GRPCProviderPlugin{Name: address, GRPCProvider: mux.ProviderServer}},
		6: {"provider": &tf6server.GRPCProviderPlugin{
			Name:         address,
			GRPCProvider: func() tfprotov6.ProviderServer { return lifted },
		}},
	})
	return nil
}
