resource "terraform_data" "a" {
  input = self.id
}
