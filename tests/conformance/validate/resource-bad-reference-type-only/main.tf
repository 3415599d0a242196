locals {
  a = terraform_data
  b = terraform_data["x"]
}
