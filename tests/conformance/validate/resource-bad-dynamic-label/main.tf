resource "terraform_data" "a" {
  dynamic {
    for_each = [1]
    content {}
  }
}
