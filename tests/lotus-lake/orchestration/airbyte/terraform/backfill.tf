# A stream that says so in its file is copied anew, from the beginning: once, when it begins to say so.

locals {
  backfill = {
    for shop in ["shopify", "klaviyo"] : shop => anytrue([
      for name in fileset("${local.streams}/${shop}", "*.json") :
      try(jsondecode(file("${local.streams}/${shop}/${name}")).backfill, false)
    ])
  }
}

resource "rest_object" "shopify_backfill" {
  count   = local.backfill.shopify ? 1 : 0
  path    = "/connections/reset"
  id_path = "job.id"
  body    = { connectionId = rest_object.shopify_to_lake.id }

  # It is not an object, but something to be done: there is nothing to read, and nothing to take back.
  read {
    method = "none"
  }
  update {
    method = "none"
  }
  delete {
    method = "none"
  }
}

# The same as people had it before, with a program.
resource "null_resource" "klaviyo_backfill" {
  count = local.backfill.klaviyo ? 1 : 0

  triggers = {
    connection = rest_object.klaviyo_to_lake.id
  }

  provisioner "local-exec" {
    command = "curl --fail --silent --show-error --user \"$AIRBYTE_USER\" --json \"$AIRBYTE_BODY\" \"$AIRBYTE_URL/api/v1/connections/reset\""
    environment = {
      AIRBYTE_URL  = var.airbyte_url
      AIRBYTE_USER = "${var.airbyte_username}:${var.airbyte_password}"
      AIRBYTE_BODY = jsonencode({ connectionId = rest_object.klaviyo_to_lake.id })
    }
  }

  depends_on = [rest_object.klaviyo_to_lake]
}
