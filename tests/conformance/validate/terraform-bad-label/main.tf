terraform "x" {}
