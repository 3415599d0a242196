terraform {
  required_version = ">= 0.1"
  backend "local" {
    path = "x.tfstate"
  }
}
terraform {
  experiments = []
}
