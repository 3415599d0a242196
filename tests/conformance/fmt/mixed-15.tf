module "a" {
  source = "./child"
  conf   = { list = [{ name = "a" }] }
}

terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = "correct-horse-battery-staple"
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
      fallback {
    state {
      method   = method.aes_gcm.m
      enforced = true
    }
    plan {
      method = method.aes_gcm.m
    }
        method = method.unencrypted.migrate
      }
    }
    method "unencrypted" "migrate" {}
  }
}
