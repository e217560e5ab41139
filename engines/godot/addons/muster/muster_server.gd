# A game server that takes matches of Muster, for Godot 4: add it as a node. It reads MUSTER_URL and
# MUSTER_SERVER_TOKEN. Without a token, MUSTER_ENROL_KEY adds the process to a pool: docs/own-machines.md.
#
#	server.match_started.connect(func(one): server.open(one.id))
#	server.finished.connect(get_tree().quit)
#	server.start({"build": "1.0"})
#	var admitted := await server.admit(join_token)
extends Node

# A match is to be played: answer by `open` or `refuse`. It has `id`, `queue`, `attributes` and `teams`.
signal match_started(one: Dictionary)
# Players have come to a match by `seats`.
signal joined(match_id: String, players: Array)
# The match is over, by your `over` or by Muster's order.
signal ended(match_id: String, reason: String)
# No match comes any more. Those that are played go on to their end.
signal draining(reason: String)
# The process is to end: call `stopped` before this time in epoch milliseconds.
signal stop_requested(reason: String, until: float)
# Muster has heard the last word: end the process.
signal finished
# A sentence such as 'Muster does not answer'.
signal problem(sentence: String)
signal _settled(command: int, outcome: Dictionary)

const MACHINE := preload("server_machine.gd")
const PLATFORM := preload("platform.gd")
const DRIVER := preload("driver.gd")
const ENVIRONMENT := preload("environment.gd")
const SHAPES := preload("shapes.gd")
# Of each knock of Muster.
const KNOCK_BYTES := 43

# The ports of the deployment, by name: `internal`, where to listen, `external` and `protocol`. Godot does not list the
# variables of its process: on Linux they are read from /proc. Elsewhere ports come from _PORTS_MAPPING alone.
var ports: Dictionary:
	get:
		return ENVIRONMENT.ports_in(_environment(), PLATFORM.new())

var _driver: Node
var _commands := 0


# Registers: the assets are loaded, and matches may come. What it says of itself: `build`, `matches` (1 to 64),
# `attributes`.
func start(registration := {}) -> void:
	_driver = DRIVER.new()
	_driver.machine = MACHINE.new(PLATFORM.new())
	_driver.url = OS.get_environment("MUSTER_URL")
	_driver.token = OS.get_environment.bind("MUSTER_ENROL_KEY" if _enrols() else "MUSTER_SERVER_TOKEN")
	_driver.keeps_status = true
	_driver.tells_clock = true
	_driver.told.connect(_on_told)
	add_child(_driver)
	# The instance tells this process from others with the same token.
	var instance := Crypto.new().generate_random_bytes(16).hex_encode()
	var start := {"do": "start", "instance": instance, "registration": registration, "environment": _environment()}
	_driver.put(start)
	if OS.get_environment("MUSTER_VERIFY_URL") != "":
		_obey_verifier(OS.get_environment("MUSTER_VERIFY_URL"))


# Players may come to the match. Muster sends it elsewhere if it hears nothing for 3 s.
func open(match_id: String) -> void:
	_driver.put({"do": "open", "match": match_id})


# The match goes to another server, and this one is drained.
func refuse(match_id: String) -> void:
	_driver.put({"do": "refuse", "match": match_id})


# Ends a match. Result: `ranking`, arrays of ids, the best first, and `data`; at most 8 KiB as JSON. Gives an empty
# dictionary once Muster has it, or `error`.
func over(match_id: String, result := {}) -> Dictionary:
	var input := {"do": "over", "match": match_id}
	if not result.is_empty():
		input["result"] = result
	return await _ask(input)


# Asks for more players, or for none any more. Teams: how many by team; without, as many as have left.
func seats(match_id: String, is_open: bool, teams := {}) -> void:
	var input := {"do": "seats", "match": match_id, "open": is_open, "command": 0}
	if not teams.is_empty():
		input["teams"] = teams
	_driver.put(input)


# Lets in the player who sent this token: `player`, or `refused`, such as `expired` or `used`. Waits up to 2 s for a
# seat that Muster has given a moment ago.
func admit(token: String) -> Dictionary:
	return await _ask({"do": "admit", "token": token})


# A player has left, or never came: their seat is free for others, at once or after so many milliseconds.
func left(player_id: String, may_return_ms := 0) -> void:
	_driver.put({"do": "left", "player": player_id, "mayReturnMs": may_return_ms})


# `false` in three reports in a row: the server is drained and replaced.
func healthy(is_healthy: bool) -> void:
	_driver.put({"do": "healthy", "isHealthy": is_healthy})


# Takes no match any more.
func drain(reason := "own wish") -> void:
	_driver.put({"do": "drain", "reason": reason})


# At a signal to the process: drains and stops.
func stop(reason: String) -> void:
	_driver.put({"do": "stop", "reason": reason})


# What was to be saved is saved, after `stop_requested`.
func stopped() -> void:
	_driver.put({"do": "stopped"})


# Hand it each datagram that comes to the game's socket. Gives whether it is a knock of Muster, and so not for the game.
# Needed where the key of the pool has `knock` by UDP: docs/own-machines.md.
func knocked(datagram: PackedByteArray) -> bool:
	if datagram.size() != KNOCK_BYTES:
		return false
	var text := datagram.get_string_from_ascii()
	if not text.begins_with("muster-knock-"):
		return false
	_driver.put({"do": "knock", "text": text})
	return true


# A server that Muster has started has a token.
func _enrols() -> bool:
	return OS.get_environment("MUSTER_SERVER_TOKEN") == "" and OS.get_environment("MUSTER_ENROL_KEY") != ""


# Stands in for players while `muster verify-server` plays the server (docs/game-server.md, Verify it): does what the
# verifier commands, one command after the other.
func _obey_verifier(url: String) -> void:
	var request := HTTPRequest.new()
	request.timeout = 20.0
	add_child(request)
	var status := 0
	while status != 410 and is_inside_tree():
		status = 0
		var command: Variant = null
		if request.request(url) == OK:
			var answer: Array = await request.request_completed
			status = answer[1]
			command = PLATFORM.new().parse(answer[3]) if status == 200 else null
		if SHAPES.fits("command", command):
			var result := JSON.stringify(await _result_of(command))
			if request.request(url, ["Content-Type: application/json"], HTTPClient.METHOD_POST, result) == OK:
				await request.request_completed
		elif status != 204:
			await get_tree().create_timer(0.5).timeout
	request.queue_free()


func _result_of(command: Dictionary) -> Dictionary:
	var result := {"id": command.id, "ok": true, "by": "library"}
	match command["do"]:
		"admit":
			var admitted := await admit(str(command.get("token")))
			if admitted.has("player"):
				result["player"] = admitted.player.id
			else:
				result["ok"] = false
				result["why"] = admitted.refused
		"leave":
			left(str(command.get("player")), int(command.get("mayReturnMs", 0)))
		"over":
			var ended := await over(str(command.get("match")), {"data": "verified"})
			result["ok"] = not ended.has("error")
	return result


func _environment() -> Dictionary:
	var made := {"MUSTER_SERVICE_PREFIX": OS.get_environment("MUSTER_SERVICE_PREFIX")}
	for known: String in ["SERVICE", "ARBITRIUM"]:
		made[known + "_REQUEST_ID"] = OS.get_environment(known + "_REQUEST_ID")
	var prefix: String = ENVIRONMENT.prefix_in(made)
	for name: String in ["_REQUEST_ID", "_DELETE_URL", "_PORTS_MAPPING"]:
		made[prefix + name] = OS.get_environment(prefix + name)
	for variable: String in ENVIRONMENT.port_variables_in(_variables(), prefix):
		made[variable] = OS.get_environment(variable)
	if _enrols():
		for name: String in ["ENROL_KEY", "SERVER_ADDRESS", "SERVER_PORTS"]:
			made["MUSTER_" + name] = OS.get_environment("MUSTER_" + name)
		made["MUSTER_SERVER_NAME"] = _name_in(made)
	return made


# The machine and the slot: MUSTER_SERVER_NAME, otherwise the name of the host and the first port, or the process id
# without one. Godot does not know the name of its host: on Linux it is read from /proc.
func _name_in(environment: Dictionary) -> String:
	var given := OS.get_environment("MUSTER_SERVER_NAME")
	if given != "":
		return given
	var host := OS.get_environment("COMPUTERNAME")
	var file := FileAccess.open("/proc/sys/kernel/hostname", FileAccess.READ)
	if file != null:
		host = file.get_line()
	if host == "":
		host = OS.get_unique_id()
	var listed: Array = ENVIRONMENT.listed_ports_in(environment).ports.values()
	return "%s:%d" % [host, OS.get_process_id() if listed.is_empty() else int(listed[0].external)]


# The variables of the process, NAME=value, a line each; empty where there is no /proc.
func _variables() -> String:
	var file := FileAccess.open("/proc/self/environ", FileAccess.READ)
	if file == null:
		return ""
	var bytes := file.get_buffer(1048576)
	for at in bytes.size():
		if bytes[at] == 0:
			bytes[at] = 10
	return bytes.get_string_from_utf8()


func _ask(input: Dictionary) -> Dictionary:
	_commands += 1
	var command := _commands
	input["command"] = command
	_driver.put(input)
	while true:
		var told: Array = await _settled
		if told[0] == command:
			return told[1]
	return {}


func _on_told(output: Dictionary) -> void:
	match output:
		{"match": var one}:
			match_started.emit(one)
		{"joined": var match_id, "players": var players}:
			joined.emit(match_id, players)
		{"ended": var match_id, "reason": var reason}:
			ended.emit(match_id, reason)
		{"draining": var reason}:
			draining.emit(reason)
		{"stop": var reason, "until": var until}:
			if stop_requested.get_connections().is_empty():
				stopped()
			stop_requested.emit(reason, until)
		{"finished": true}:
			finished.emit()
		{"problem": var sentence}:
			problem.emit(sentence)
		{"admitted": var command, "player": var player}:
			_settled.emit(int(command), {"player": player})
		{"refused": var command, "code": var code, ..}:
			_settled.emit(int(command), {"refused": code})
		{"done": var command}:
			_settled.emit(int(command), {})
		{"failed": var command, "message": var message, ..}:
			if int(command) == 0:
				problem.emit(message)
			_settled.emit(int(command), {"error": message})
