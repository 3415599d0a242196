output "emacs" {
  value = 1
}
