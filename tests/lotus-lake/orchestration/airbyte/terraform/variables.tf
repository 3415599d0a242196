variable "airbyte_url" {
  description = "Where Airbyte is, without a path."
}

variable "airbyte_username" {
  description = "Who asks."
}

variable "airbyte_password" {
  description = "What they say to be let in."
  sensitive   = true
}

variable "workspace_id" {
  description = "The workspace that everything is in."
}

variable "shopify_shop" {
  description = "Name of the shop."
}

variable "shopify_api_password" {
  description = "Password of the private app of the shop."
  sensitive   = true
}

variable "klaviyo_api_key" {
  description = "Private key of the account."
  sensitive   = true
}

variable "lake_access_key_id" {
  description = "Who writes to the lake."
}

variable "lake_secret_access_key" {
  description = "What they say to be let in."
  sensitive   = true
}

variable "lake_bucket" {
  description = "The bucket that the lake is in."
  default     = "lotus-lake"
}
