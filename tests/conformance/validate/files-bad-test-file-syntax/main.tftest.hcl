run "x" {
  command = 
}
