resource "rest_object" "lake" {
  path      = "/destinations"
  id_path   = "destinationId"
  id_member = "destinationId"

  body = {
    name                    = "Lake"
    destinationDefinitionId = local.definitions.lake
    workspaceId             = var.workspace_id
    connectionConfiguration = {
      access_key_id     = var.lake_access_key_id
      secret_access_key = var.lake_secret_access_key
      s3_bucket_name    = var.lake_bucket
      # Airbyte fills these in, and not Terraform.
      s3_path_format = "$${NAMESPACE}/$${STREAM_NAME}/$${YEAR}_$${MONTH}"
      format         = jsondecode(<<-JSON
        {
          "format_type": "Parquet",
          "compression_codec": "SNAPPY"
        }
      JSON
      )
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
