rum "x" {}
