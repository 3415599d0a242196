module groma.dev/tests/oracles/number

go 1.26

require github.com/zclconf/go-cty v1.18.0

require (
	github.com/apparentlymart/go-textseg/v15 v15.0.0 // indirect
	golang.org/x/text v0.11.0 // indirect
)
