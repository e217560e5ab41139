# What both machines do with values of JSON. This file is right for Godot 3 and 4.


# The later of two times; `max` of Godot 3 has not the digits for one.
static func later(one, other):
	return one if one > other else other


# Whether two values say the same; dictionaries of Godot 3 are compared by identity.
static func same(one, other):
	return to_text(one) == to_text(other)


# A text that two values have in common only if they say the same.
static func to_text(value):
	var parts = []
	if value is Dictionary:
		var names = value.keys()
		names.sort()
		for name in names:
			parts.append(to_text(name) + ":" + to_text(value[name]))
		return "{" + joined(parts) + "}"
	if value is Array:
		for item in value:
			parts.append(to_text(item))
		return "[" + joined(parts) + "]"
	if value is String:
		return quoted(value)
	if value == null:
		return "null"
	if value is bool:
		return "true" if value else "false"
	return number(value)


# A member of a dictionary that is a text; null if it is none.
static func text_in(given, name):
	var value = given.get(name)
	return value if value is String else null


static func quoted(text):
	return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""


# A whole number has no fraction.
static func number(value):
	return "%d" % value if value == floor(value) else "%.6f" % value


static func joined(parts):
	var text = ""
	for part in parts:
		text += part if text == "" else "," + part
	return text
