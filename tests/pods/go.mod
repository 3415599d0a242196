module groma.dev/tests/pods

go 1.26
