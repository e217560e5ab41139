# Replays a transcript in Godot 3: `godot3-server -s test/replay.gd client transcript.jsonl`, or with `server` and
# `server-transcript.jsonl`. Prints the number of replayed lines. A server wakes up by itself between the lines, which
# do not contain that.
extends SceneTree

const PLATFORM = preload("platform.gd")
const VALUES = preload("res://addons/muster/values.gd")
const ENVIRONMENT = preload("res://addons/muster/environment.gd")
const MACHINES = {
	"client": "res://addons/muster/machine.gd",
	"server": "res://addons/muster/server_machine.gd",
}

var machine = null
var outputs = []
var wakes_itself = false
var wake_at = null


func _init():
	var given = OS.get_cmdline_args()
	var kind = given[given.size() - 2]
	wakes_itself = kind == "server"
	var fault = replay(load(MACHINES[kind]), given[given.size() - 1])
	if fault != "":
		printerr(fault)
	OS.exit_code = 0 if fault == "" else 1
	quit()


func step(input, at):
	for output in machine.step(input, at):
		if wakes_itself and output.has("wakeAt"):
			wake_at = output.wakeAt
		else:
			outputs.append(output)


# Returns a server's variables in the form in which `muster_server.gd` finds them: those of ports by name.
func found(input):
	if not input.has("environment"):
		return input
	var given = input.environment
	var text = ""
	for variable in given:
		text += variable + "=" + given[variable] + "\n"
	var prefix = ENVIRONMENT.prefix_in(given)
	var names = ["MUSTER_SERVICE_PREFIX", "SERVICE_REQUEST_ID", "ARBITRIUM_REQUEST_ID"]
	for ending in ["ENROL_KEY", "SERVER_NAME", "SERVER_ADDRESS", "SERVER_PORTS"]:
		names.append("MUSTER_" + ending)
	for ending in ["_REQUEST_ID", "_DELETE_URL", "_PORTS_MAPPING"]:
		names.append(prefix + ending)
	var environment = {}
	for variable in names + ENVIRONMENT.port_variables_in(text, prefix):
		if given.has(variable):
			environment[variable] = given[variable]
	var made = input.duplicate()
	made["environment"] = environment
	return made


func replay(script, path):
	var file = File.new()
	if file.open(path, File.READ) != OK:
		return "no such file: " + path
	var nth = 0
	while not file.eof_reached():
		var text = file.get_line()
		if text == "":
			continue
		nth += 1
		var line = parse_json(text)
		if line.has("session"):
			if outputs.size() > 0:
				return "before line %d the machine did %s" % [nth, to_json(outputs[0])]
			machine = script.new(PLATFORM.new())
			wake_at = null
			continue
		while wake_at != null and wake_at <= line.at and outputs.size() == 0:
			step({"wake": true}, wake_at)
		if line.has("in"):
			if outputs.size() > 0:
				return "before line %d the machine did %s" % [nth, to_json(outputs[0])]
			step(found(line["in"]), line.at)
			continue
		var done = outputs.pop_front()
		if not VALUES.same(done, line.out):
			return "line %d: the machine did %s; wanted %s" % [nth, to_json(done), to_json(line.out)]
	if nth == 0 or outputs.size() > 0:
		return "at the end, line %d, the machine did %s" % [nth, to_json(outputs)]
	print(nth)
	return ""
