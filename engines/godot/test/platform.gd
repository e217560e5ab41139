# What the machine of Godot 3 asks of its platform in tests.


func random():
	return 0.5


func encode(text):
	return text.percent_encode()
