terraform {
  required_version = ">= 1.5"

  required_providers {
    rest = {
      source = "groma.dev/builtin/rest"
    }
    null = {
      source = "hashicorp/null"
    }
  }
}

provider "rest" {
  base_url = "${var.airbyte_url}/api/v1"

  auth {
    username = var.airbyte_username
    password = var.airbyte_password
  }
}
