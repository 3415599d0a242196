locals {
  a = "unterminated
}
