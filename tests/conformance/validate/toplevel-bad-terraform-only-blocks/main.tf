action "x" "y" {}
list "x" "y" {}
