locals {
  a = "%{ while true }x%{ endwhile }"
}
