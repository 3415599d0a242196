locals {
  a = foo( 1,2 , 3 )
  b = foo (1)
  c = foo(
  1,
  2
  )
  d = foo(bar(baz( 1 )))
  f = foo(x...)
  g = core::upper( "x" )
  i = foo()
  j = foo( )
  k = foo(1, [2,
    3], {
    a = 1
  })
}
