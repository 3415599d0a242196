locals {
  streams = "${path.module}/../../dag/streams"
}

resource "rest_object" "shopify_to_lake" {
  path      = "/connections"
  id_path   = "connectionId"
  id_member = "connectionId"

  body = {
    name          = "Shopify to lake"
    sourceId      = rest_object.shopify.id
    destinationId = rest_object.lake.id
    status        = "active"
    scheduleType  = "cron"
    scheduleData = {
      cron = {
        cronExpression = "0 0 4 * * ?"
        cronTimeZone   = "UTC"
      }
    }
    syncCatalog = jsondecode(file("${local.streams}/shopify/_catalog.json"))
  }

  # Airbyte answers in the order and with the names that it likes.
  loose_names = true
  array_keys  = { "syncCatalog.streams" = "stream.name" }
  replace_on  = ["sourceId", "destinationId"]

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

resource "rest_object" "klaviyo_to_lake" {
  path      = "/connections"
  id_path   = "connectionId"
  id_member = "connectionId"

  body = {
    name          = "Klaviyo to lake"
    sourceId      = rest_object.klaviyo.id
    destinationId = rest_object.lake.id
    status        = "active"
    scheduleType  = "basic"
    scheduleData = {
      basicSchedule = {
        timeUnit = "hours"
        units    = 24
      }
    }
    syncCatalog = jsondecode(file("${local.streams}/klaviyo/_catalog.json"))
  }

  loose_names = true
  array_keys  = { "syncCatalog.streams" = "stream.name" }
  replace_on  = ["sourceId", "destinationId"]

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
