terraform {
  required_providers {}
}
terraform {
  required_providers {}
}
