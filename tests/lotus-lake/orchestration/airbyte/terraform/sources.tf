locals {
  # Kinds of connectors, as Airbyte numbers them.
  definitions = {
    shopify = "9da77001-af33-4bcd-be46-6252bf9342b9"
    klaviyo = "95e8cffd-b8c4-4039-968e-d32fb4a69bde"
    lake    = "716ca874-520b-4902-9f80-9fad66754b89"
  }
}

resource "rest_object" "shopify" {
  path      = "/sources"
  id_path   = "sourceId"
  id_member = "sourceId"

  body = {
    name               = "Shopify"
    sourceDefinitionId = local.definitions.shopify
    workspaceId        = var.workspace_id
    connectionConfiguration = {
      shop       = var.shopify_shop
      start_date = "2024-01-01"
      credentials = {
        auth_method  = "api_password"
        api_password = var.shopify_api_password
      }
    }
  }

  create {
    path = "{path}/create"
  }
  read {
    method = "POST"
    path   = "{path}/get"
  }
  update {
    method = "POST"
    path   = "{path}/update"
  }
  delete {
    method = "POST"
    path   = "{path}/delete"
  }
}

resource "rest_object" "klaviyo" {
  path      = "/sources"
  id_path   = "sourceId"
  id_member = "sourceId"

  body = {
    name               = "Klaviyo"
    sourceDefinitionId = local.definitions.klaviyo
    workspaceId        = var.workspace_id
    connectionConfiguration = {
      api_key    = var.klaviyo_api_key
      start_date = "2024-01-01T00:00:00Z"
    }
  }

  create {
    path = "{path}/create"
  }
  read {
    method = "POST"
    path   = "{path}/get"
  }
  update {
    method = "POST"
    path   = "{path}/update"
  }
  delete {
    method = "POST"
    path   = "{path}/delete"
  }
}
