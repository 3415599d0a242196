# Attributes and indexes.

# --- attributes ---
object  = { a = { b = 1 } }.a.b # = 1
map     = tomap({ a = "x" }).a # = "x"
missing = { a = 1 }.b
# Error: 1:20-22 Unsupported attribute: This object does not have an attribute named "b".
no_key  = tomap({ a = "x" }).b
# Error: 1:29-31 Missing map element: This map does not have an element with the key "b".
null    = null.a
# Error: 1:15-17 Attempt to get attribute from null value: This value is null, so it does not have any attributes.
text    = "x".a
# Error: 1:14-16 Unsupported attribute: Can't access attributes on a primitive-typed value (string).
number  = 1.5.a
# Error: 1:14-16 Unsupported attribute: Can't access attributes on a primitive-typed value (number).
list    = ["x"].a
# Error: 1:16-18 Unsupported attribute: This value does not have any attributes.
objects = tolist([{ a = 1 }]).a
# Error: 1:30-32 Unsupported attribute: Can't access attributes on a list of objects. Did you mean to access attribute "a" for a specific element of the list, or across all elements of the list?
other   = tolist([{ a = 1 }]).b
# Error: 1:30-32 Unsupported attribute: Can't access attributes on a list of objects. Did you mean to access an attribute for a specific element of the list, or across all elements of the list?
set     = toset([{ a = 1 }]).a
# Error: 1:29-31 Unsupported attribute: Can't access attributes on a set of objects. Did you mean to access an attribute across all elements of the set?

# --- indexes ---
tuple    = ["a", "b"][1] # = "b"
list     = tolist(["a", "b"])[0] # = "a"
text_key = ["a", "b"]["1"] # = "b"
map      = tomap({ a = "x" })["a"] # = "x"
object   = { a = 1 }["a"] # = 1
number   = { "1" = "x" }[1] # = "x"
computed = ["a", "b"][0 + 1] # = "b"
legacy   = ["a", "b"].1 # = "b"

# --- indexes-that-do-not-exist ---
end      = ["a"][1]
# Error: 1:17-20 Invalid index: The given key does not identify an element in this collection value: the given index is greater than or equal to the length of the collection.
beyond   = ["a"][5]
# Error: 1:17-20 Invalid index: The given key does not identify an element in this collection value.
negative = ["a"][-1]
# Error: 1:17-21 Invalid index: The given key does not identify an element in this collection value: a negative number is not a valid index for a sequence.
part     = ["a"][0.5]
# Error: 1:17-22 Invalid index: The given key does not identify an element in this collection value: indexing a sequence requires a whole number, but the given index has a fractional part.
empty    = [][0]
# Error: 1:14-17 Invalid index: The given key does not identify an element in this collection value: the collection has no elements.
key      = tomap({ a = "x" })["b"]
# Error: 1:30-35 Invalid index: The given key does not identify an element in this collection value.
name     = { a = 1 }["b"]
# Error: 1:21-26 Invalid index: The given key does not identify an element in this collection value.
position = { a = 1 }[0]
# Error: 1:21-24 Invalid index: The given key does not identify an element in this collection value. An object only supports looking up attributes by name, not by numeric index.
text     = ["a"]["x"]
# Error: 1:17-22 Invalid index: The given key does not identify an element in this collection value: a number is required.
object   = ["a"][{}]
# Error: 1:17-21 Invalid index: The given key does not identify an element in this collection value: number required, but have object.
null     = ["a"][null]
# Error: 1:17-23 Invalid index: Can't use a null value as an indexing key.
of_null  = null[0]
# Error: 1:16-19 Attempt to index null value: This value is null, so it does not have any indices.
set      = toset(["a"])[0]
# Error: 1:24-27 Invalid index: Elements of a set are identified only by their value and don't have any separate index or key to select with, so it's only possible to perform operations across all elements of the set.
string   = "abc"[0]
# Error: 1:17-20 Invalid index: This value does not have any indices.

# --- unknown ---
list     = given.list[0] # = (known after apply)
map      = given.map.a # = (known after apply)
any      = given.any.a[0] # = (known after apply)
object   = given.object.a # = (known after apply)
missing  = given.object.b
# Error: 1:24-26 Unsupported attribute: This object does not have an attribute named "b".
tuple    = type(given.tuple[1]) # = number
position = type(["a", 1][given.number]) # = dynamic
end      = given.tuple[2]
# Error: 1:23-26 Invalid index: The given key does not identify an element in this collection value: the given index is greater than or equal to the length of the collection.

# --- marks ---
object  = sensitive({ a = 1 }).a # = (sensitive value)
list    = sensitive(["a"])[0] # = (sensitive value)
key     = tomap({ a = "x" })[sensitive("a")] # = (sensitive value)
inside  = { a = sensitive(1), b = 2 }.b # = 2
