locals {
  e = foo(x ...)
  h = provider :: x :: y ( 1 )
}
