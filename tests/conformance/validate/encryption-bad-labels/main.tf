terraform {
  encryption {
    key_provider "pbkdf2" {}
    method {}
  }
}
