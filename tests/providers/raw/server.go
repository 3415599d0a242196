// Package raw is a provider without a library between it and the wire: it can send what no library would. It has one
// resource whose answers its configuration dictates, and, if the environment asks, very large schemas.
package raw

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// server answers what a multiplexer asks of each of its providers; other calls never get here.
type server struct {
	tfprotov6.ProviderServer
	schemas map[string]*tfprotov6.Schema
}

// New makes the part of a provider whose types begin with the prefix.
func New(prefix string) func() tfprotov6.ProviderServer {
	schemas := map[string]*tfprotov6.Schema{prefix + "_raw": rawSchema()}
	if width := number("FIXTURE_WIDE"); width > 0 {
		schemas[prefix+"_wide"] = wideSchema(width)
	}
	for index := range number("FIXTURE_TYPES") {
		schemas[fmt.Sprintf("%s_type_%05d", prefix, index)] = wideSchema(20)
	}
	return func() tfprotov6.ProviderServer { return &server{schemas: schemas} }
}

func number(variable string) int {
	value, _ := strconv.Atoi(os.Getenv(variable))
	return value
}

func (s *server) GetMetadata(context.Context, *tfprotov6.GetMetadataRequest) (*tfprotov6.GetMetadataResponse, error) {
	resp := &tfprotov6.GetMetadataResponse{ServerCapabilities: capabilities()}
	for name := range s.schemas {
		resp.Resources = append(resp.Resources, tfprotov6.ResourceMetadata{TypeName: name})
	}
	return resp, nil
}

func (s *server) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	return &tfprotov6.GetProviderSchemaResponse{ServerCapabilities: capabilities(), ResourceSchemas: s.schemas}, nil
}

func capabilities() *tfprotov6.ServerCapabilities {
	return &tfprotov6.ServerCapabilities{
		GetProviderSchemaOptional: true, MoveResourceState: true, PlanDestroy: true, GenerateResourceConfig: true,
	}
}

func (s *server) GetResourceIdentitySchemas(context.Context, *tfprotov6.GetResourceIdentitySchemasRequest) (*tfprotov6.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov6.GetResourceIdentitySchemasResponse{}, nil
}

func (s *server) GetFunctions(context.Context, *tfprotov6.GetFunctionsRequest) (*tfprotov6.GetFunctionsResponse, error) {
	return &tfprotov6.GetFunctionsResponse{}, nil
}

func (s *server) ValidateProviderConfig(_ context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: req.Config}, nil
}

func (s *server) ConfigureProvider(context.Context, *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	return &tfprotov6.ConfigureProviderResponse{}, nil
}

func (s *server) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	return &tfprotov6.StopProviderResponse{}, nil
}

func (s *server) typeOf(name string) tftypes.Type {
	return s.schemas[name].ValueType()
}
