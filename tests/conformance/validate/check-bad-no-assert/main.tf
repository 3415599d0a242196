check "c" {}
