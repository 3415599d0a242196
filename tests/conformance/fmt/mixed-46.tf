terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = "correct-horse-battery-staple"
    } # tail
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    state {
      method 	 = method.aes_gcm.m
      enforced = true
    }
    plan {
      method = method.aes_gcm.m
      fallback {
        method = method.unencrypted.migrate
      }
    }
    method "unencrypted" "migrate" {}
  }
}

locals {
  a = terraform_data
  b = terraform_data["x"]
}
