# Replays a transcript in Godot 3: `godot3-server --path engines/godot -s test/replay.gd client transcript.jsonl`.
# Prints how many lines were replayed.
extends SceneTree

const PLATFORM = preload("platform.gd")


func _init():
	var given = OS.get_cmdline_args()
	var script = {"client": "res://addons/muster/machine.gd"}[given[given.size() - 2]]
	var fault = replay(load(script), given[given.size() - 1])
	if fault != "":
		printerr(fault)
	OS.exit_code = 0 if fault == "" else 1
	quit()


func replay(script, path):
	var file = File.new()
	if file.open(path, File.READ) != OK:
		return "no such file: " + path
	var machine = null
	var outputs = []
	var nth = 0
	while not file.eof_reached():
		var text = file.get_line()
		if text == "":
			continue
		nth += 1
		var line = parse_json(text)
		if line.has("out"):
			var done = outputs.pop_front()
			if not script.same(done, line.out):
				return "line %d: the machine did %s; wanted %s" % [nth, to_json(done), to_json(line.out)]
			continue
		if outputs.size() > 0:
			return "before line %d the machine did %s" % [nth, to_json(outputs[0])]
		if line.has("session"):
			machine = script.new(PLATFORM.new())
		else:
			outputs = machine.step(line["in"], line.at)
	if nth == 0 or outputs.size() > 0:
		return "at the end, line %d, the machine did %s" % [nth, to_json(outputs)]
	print(nth)
	return ""
