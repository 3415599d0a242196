# `for` and splat.

# --- lists-and-tuples ---
values = [for x in [1, 2, 3] : x * 2]
# = [
# :   2,
# :   4,
# :   6,
# : ]
keys   = [for i, x in ["a", "b"] : "${i}=${x}"]
# = [
# :   "0=a",
# :   "1=b",
# : ]
list   = [for x in tolist(["a"]) : upper(x)]
# = [
# :   "A",
# : ]
empty  = [for x in [] : x] # = []
filter = [for x in [1, 2, 3, 4] : x if x % 2 == 0]
# = [
# :   2,
# :   4,
# : ]
nested = [for row in [[1, 2], [3]] : [for x in row : -x]]
# = [
# :   [
# :     -1,
# :     -2,
# :   ],
# :   [
# :     -3,
# :   ],
# : ]
shadow = [for x in [1] : [for x in [2] : x]]
# = [
# :   [
# :     2,
# :   ],
# : ]

# --- other-collections ---
set        = [for x in toset(["b", "a"]) : x]
# = [
# :   "a",
# :   "b",
# : ]
set_keys   = [for k, v in toset(["b", "a"]) : k == v]
# = [
# :   true,
# :   true,
# : ]
map        = [for k, v in tomap({ b = "2", a = "1" }) : "${k}${v}"]
# = [
# :   "a1",
# :   "b2",
# : ]
object     = [for v in { b = 1, a = "x" } : v]
# = [
# :   "x",
# :   1,
# : ]
null       = [for x in null : x]
# Error: 1:24-28 Iteration over null value: A null value cannot be used as the collection in a 'for' expression.
text       = [for x in "abc" : x]
# Error: 1:24-29 Iteration over non-iterable value: A value of type string cannot be used as the collection in a 'for' expression.

# --- objects ---
object    = { for x in ["a", "b"] : x => upper(x) }
# = {
# :   "a" = "A"
# :   "b" = "B"
# : }
number    = { for i, x in ["a"] : i => x }
# = {
# :   "0" = "a"
# : }
duplicate = { for x in ["a", "a"] : x => 1 }
# Error: 1:37-38 Duplicate object key: Two different items produced the key "a" in this 'for' expression. If duplicates are expected, use the ellipsis (...) after the value expression to enable grouping by key.
group     = { for i, x in ["a", "b", "a"] : x => i... }
# = {
# :   "a" = [
# :     0,
# :     2,
# :   ]
# :   "b" = [
# :     1,
# :   ]
# : }
null_key  = { for x in [null] : x => 1 }
# Error: 1:33-34 Invalid object key: Key expression in 'for' expression must not produce a null value.
list_key  = { for x in [[]] : x => 1 }
# Error: 1:31-32 Invalid object key: The key expression produced an invalid result: string required, but have tuple.

# --- conditions ---
null      = [for x in [1] : x if null]
# Error: 1:34-38 Condition is null: The value of the 'if' clause must not be null.
text      = [for x in [1, 2] : x if "true"]
# = [
# :   1,
# :   2,
# : ]
number    = [for x in [1, 2] : x if 1]
# Error: 1:37-38 Invalid 'for' condition: The 'if' clause value is invalid: bool required, but have number.
sometimes = [for x in [true, null] : x if x]
# Error: 1:43-44 Invalid 'for' condition: The value of the 'if' clause must not be null.
error     = [for x in [1] : x if x.a]
# Error: 1:35-37 Unsupported attribute: Can't access attributes on a primitive-typed value (number).

# --- unknown ---
list      = [for x in given.list : x] # = (known after apply)
any       = [for x in given.any : x] # = (known after apply)
condition = [for x in [1, 2] : x if given.bool] # = (known after apply)
element   = [for x in [given.string] : x]
# = [
# :   (known after apply),
# : ]
key       = { for x in [given.string] : x => 1 } # = (known after apply)
value     = { for x in ["a"] : x => given.string }
# = {
# :   "a" = (known after apply)
# : }
error     = [for x in given.list : x if null]
# Error: 1:41-45 Condition is null: The value of the 'if' clause must not be null.

# --- marks ---
source    = [for x in sensitive([1, 2]) : x] # = (sensitive value)
element   = [for x in [sensitive(1), 2] : x]
# = [
# :   (sensitive value),
# :   2,
# : ]
condition = [for x in [1, 2] : x if sensitive(true)] # = (sensitive value)
key       = { for x in ["a"] : sensitive(x) => 1 } # = (sensitive value)
result    = [for x in [1] : sensitive(x)]
# = [
# :   (sensitive value),
# : ]

# --- splat ---
list      = [{ a = 1 }, { a = 2 }][*].a
# = [
# :   1,
# :   2,
# : ]
deep      = [{ a = { b = [1, 2] } }][*].a.b[0]
# = [
# :   1,
# : ]
nested    = [{ a = [{ b = 1 }, { b = 2 }] }][*].a[*].b
# = [
# :   [
# :     1,
# :     2,
# :   ],
# : ]
single    = { a = 1 }[*].a
# = [
# :   1,
# : ]
null      = null[*].a # = []
text      = "x"[*]
# = [
# :   "x",
# : ]
set       = toset(["b", "a"])[*]
# = tolist([
# :   "a",
# :   "b",
# : ])
attribute = [{ a = 1 }].*.a
# = [
# :   1,
# : ]
missing   = [{ a = 1 }, { b = 2 }][*].a
# Error: 1:38-40 Unsupported attribute: This object does not have an attribute named "a".
null_list = tolist(null)[*]
# Error: 1:13-25 Splat of null value: Splat expressions (with the * symbol) cannot be applied to null sequences.
typed     = tolist([{ a = 1 }])[*].a
# = tolist([
# :   1,
# : ])
empty     = tolist([])[*] # = tolist([])

# --- splat-of-unknowns ---
list    = given.list[*] # = (known after apply)
length  = length(given.short_list[*]) > 3 # = (known after apply)
any     = given.any[*].a # = (known after apply)
text    = given.string[*] # = (known after apply)
safe    = given.not_null[*]
# = [
# :   (known after apply),
# : ]
object  = given.object[*].a # = (known after apply)
missing = given.object[*].b
# Error: 1:26-28 Unsupported attribute: This object does not have an attribute named "b".
tuple   = type(given.tuple[*])
# = tuple([
# :     string,
# :     number,
# : ])
secret  = sensitive([{ a = 1 }])[*].a # = (sensitive value)
