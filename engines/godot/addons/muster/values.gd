# Functions for JSON values that both machines use. This file works with Godot 3 and 4.


# Returns the later of two times. `max` of Godot 3 has too few digits for times.
static func later(one, other):
	return one if one > other else other


# Returns true if two values have the same content. Godot 3 compares dictionaries by identity.
static func same(one, other):
	return to_text(one) == to_text(other)


# Returns a string that is equal for two values only if their content is equal.
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


# Returns a string member of a dictionary; null if it is no string.
static func text_in(given, name):
	var value = given.get(name)
	return value if value is String else null


static func quoted(text):
	return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""


# Converts a whole number to an integer, so that it is written without a fraction.
static func number(value):
	return "%d" % value if value == floor(value) else "%.6f" % value


static func joined(parts):
	var text = ""
	for part in parts:
		text += part if text == "" else "," + part
	return text
