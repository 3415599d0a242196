//go:build tools

// Package tools pins what `cargo xtask peers` builds: the import keeps go.mod complete.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
