terraform {
  required_version = "not a version"
}
