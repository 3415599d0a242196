terraform {
  encryption {
    method "unencrypted" "a" {}
    method "unencrypted" "a" {}
  }
}
