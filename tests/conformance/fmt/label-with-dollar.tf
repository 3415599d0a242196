variable "a$b" {
type=string
}
resource "terraform_data" "x" {
input="$"
}
