locals {
a = [{
b = 1
}, {
b = 2
}]
c = merge({
x = 1
}, {
y = 2
})
d = [[
1
],
[
2
]]
e = foo(bar(
1,
2
))
}
