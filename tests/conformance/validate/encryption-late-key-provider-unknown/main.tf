terraform {
  encryption {
    key_provider "nope" "x" {}
    method "aes_gcm" "m" {
      keys = key_provider.nope.x
    }
    state {
      method = method.aes_gcm.m
    }
  }
}
