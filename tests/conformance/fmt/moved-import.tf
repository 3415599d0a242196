moved{
from=a.b
to=a.c
}
import{
to=a.b["x"]
id="y"
}
removed {
from = a.b
lifecycle{
destroy=false
}
}
check "x" {
assert {
condition=a.b!=null
error_message="x"
}
}
