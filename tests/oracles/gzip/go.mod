module gzip-oracle

go 1.24
