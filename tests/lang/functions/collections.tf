# Functions on lists, sets, maps and objects.

# --- element-and-index ---
element   = element(["a", "b"], 3) # = "b"
negative  = element(["a", "b"], -1) # = "b"
empty     = element([], 0)
# Error: 1:13-21 Error in function call: Call to function "element" failed: cannot use element function with an empty list.
index     = index(["a", "b"], "b") # = 1
absent    = index(["a"], "z")
# Error: 1:13-19 Error in function call: Call to function "index" failed: item not found.
contains  = contains(["a", "b"], "a") # = true
lookup    = lookup({ a = 1 }, "a", 2) # = 1
fallback  = lookup({ a = 1 }, "b", 2) # = 2
missing   = lookup({ a = 1 }, "b")
# Error: 1:20-21 Invalid function argument: Invalid value for "inputMap" parameter: the given object has no attribute "b".
one       = one(["a"]) # = "a"
none      = one([]) # = null
too_many  = one(["a", "b"])
# Error: 1:17-18 Invalid function argument: Invalid value for "list" parameter: must be a list, set, or tuple value with either zero or one elements.

# --- joining-and-cutting ---
concat   = concat(["a"], ["b"], [])
# = [
# :   "a",
# :   "b",
# : ]
flatten  = flatten([["a", ["b"]], [], "c"])
# = [
# :   "a",
# :   "b",
# :   "c",
# : ]
slice    = slice(["a", "b", "c"], 1, 3)
# = [
# :   "b",
# :   "c",
# : ]
chunks   = chunklist(["a", "b", "c"], 2)
# = tolist([
# :   tolist([
# :     "a",
# :     "b",
# :   ]),
# :   tolist([
# :     "c",
# :   ]),
# : ])
distinct = distinct(["a", "b", "a"])
# = tolist([
# :   "a",
# :   "b",
# : ])
compact  = compact(["a", "", null])
# = tolist([
# :   "a",
# : ])
reverse  = reverse([1, 2])
# = [
# :   2,
# :   1,
# : ]
sort     = sort(["b", "a", "C"])
# = tolist([
# :   "C",
# :   "a",
# :   "b",
# : ])
range    = range(1, 6, 2)
# = tolist([
# :   1,
# :   3,
# :   5,
# : ])
length   = length({ a = 1, b = 2 }) # = 2
text     = length("añ👨‍👩‍👧") # = 3

# --- maps ---
merge    = merge({ a = 1 }, { b = 2 }, { a = 3 })
# = {
# :   "a" = 3
# :   "b" = 2
# : }
keys     = keys({ b = 1, a = 2 })
# = [
# :   "a",
# :   "b",
# : ]
values   = values({ b = 1, a = 2 })
# = [
# :   2,
# :   1,
# : ]
zip      = zipmap(["a", "b"], [1, 2])
# = {
# :   "a" = 1
# :   "b" = 2
# : }
flip     = transpose({ a = ["x", "y"], b = ["x"] })
# = tomap({
# :   "x" = tolist([
# :     "a",
# :     "b",
# :   ])
# :   "y" = tolist([
# :     "a",
# :   ])
# : })
pick     = matchkeys(["a", "b"], [1, 2], [2])
# = tolist([
# :   "b",
# : ])

# --- sets ---
union        = setunion(["a"], ["b", "a"])
# = toset([
# :   "a",
# :   "b",
# : ])
intersection = setintersection(["a", "b"], ["b"])
# = toset([
# :   "b",
# : ])
difference   = setsubtract(["a", "b"], ["b"])
# = toset([
# :   "a",
# : ])
product      = setproduct(["a", "b"], [1, 2])
# = tolist([
# :   [
# :     "a",
# :     1,
# :   ],
# :   [
# :     "a",
# :     2,
# :   ],
# :   [
# :     "b",
# :     1,
# :   ],
# :   [
# :     "b",
# :     2,
# :   ],
# : ])
as_list      = tolist(toset(["c", "a", "b"]))
# = tolist([
# :   "a",
# :   "b",
# :   "c",
# : ])

# --- deciding ---
coalesce      = coalesce(null, "", "a") # = "a"
nothing       = coalesce(null)
# Error: 1:17-26 Error in function call: Call to function "coalesce" failed: no non-null, non-empty-string arguments.
coalescelist  = coalescelist([], ["a"])
# = [
# :   "a",
# : ]
all           = alltrue([true, "true"]) # = true
any           = anytrue([]) # = false
sum           = sum([1, 2.5]) # = 3.5
no_sum        = sum([])
# Error: 1:21-22 Invalid function argument: Invalid value for "list" parameter: cannot sum an empty list.
largest       = max(1, 3, 2) # = 3
smallest      = min(1, 3, 2) # = 1

# --- unknowns ---
contains = contains([given.string], "a") # = (known after apply)
length   = length([given.string]) # = 1
merge    = merge({ a = 1 }, given.map) # = (known after apply)
concat   = concat(["a"], given.list) # = (known after apply)
all      = alltrue([given.bool, false]) # = (known after apply)
coalesce = coalesce(given.not_null, "a") # = (known after apply)
