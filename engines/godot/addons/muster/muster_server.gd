# A game server that serves matches of Muster, for Godot 4. Add it as a node. It reads MUSTER_URL and
# MUSTER_SERVER_TOKEN. Without a token, MUSTER_ENROL_KEY enrols the process in a pool: docs/own-machines.md.
#
#	server.match_started.connect(func(one): server.open(one.id))
#	server.finished.connect(get_tree().quit)
#	server.start({"build": "1.0"})
#	var admitted := await server.admit(join_token)
extends Node

# Emitted when a match should be played. Respond with `open` or `refuse`. `one` has `id`, `queue`, `attributes` and
# `teams`.
signal match_started(one: Dictionary)
# Emitted when players join a match that has requested them with `seats`.
signal joined(match_id: String, players: Array)
# Emitted when a match is over, by your call of `over` or by Muster's order.
signal ended(match_id: String, reason: String)
# Emitted when no more matches will come. Running matches continue to their end.
signal draining(reason: String)
# Emitted when the process should end. Call `stopped` before this time in epoch milliseconds.
signal stop_requested(reason: String, until: float)
# Emitted when Muster has the last report. End the process.
signal finished
# Emitted with a sentence about a problem, e.g. 'Muster does not answer'.
signal problem(sentence: String)
signal _settled(command: int, outcome: Dictionary)

const MACHINE := preload("server_machine.gd")
const PLATFORM := preload("platform.gd")
const DRIVER := preload("driver.gd")
const ENVIRONMENT := preload("environment.gd")
const SHAPES := preload("shapes.gd")
# Length of each knock of Muster in bytes.
const KNOCK_BYTES := 43

# The deployment's ports by name, with `internal` (where to listen), `external` and `protocol`. Godot cannot list the
# variables of its process. On Linux they are read from /proc. On other systems, ports come only from _PORTS_MAPPING.
var ports: Dictionary:
	get:
		return ENVIRONMENT.ports_in(_environment(), PLATFORM.new())

var _driver: Node
var _commands := 0


# Registers the server. Call it once assets are loaded, because matches may come afterwards. `registration`: `build`,
# `matches` (1 to 64), `attributes`.
func start(registration := {}) -> void:
	_driver = DRIVER.new()
	_driver.machine = MACHINE.new(PLATFORM.new())
	_driver.url = OS.get_environment("MUSTER_URL")
	_driver.token = OS.get_environment.bind("MUSTER_ENROL_KEY" if _enrols() else "MUSTER_SERVER_TOKEN")
	_driver.keeps_status = true
	_driver.tells_clock = true
	_driver.told.connect(_on_told)
	add_child(_driver)
	# `instance` distinguishes this process from others with the same token.
	var instance := Crypto.new().generate_random_bytes(16).hex_encode()
	var start := {"do": "start", "instance": instance, "registration": registration, "environment": _environment()}
	_driver.put(start)
	if OS.get_environment("MUSTER_VERIFY_URL") != "":
		_obey_verifier(OS.get_environment("MUSTER_VERIFY_URL"))


# Reports that players may connect to the match. If Muster gets no such report within 3 s, it gives the match to
# another server.
func open(match_id: String) -> void:
	_driver.put({"do": "open", "match": match_id})


# Gives the match to another server. This server is then drained.
func refuse(match_id: String) -> void:
	_driver.put({"do": "refuse", "match": match_id})


# Ends a match. `result`: `ranking` (arrays of ids, the best first) and `data`, together at most 8 KiB of JSON.
# Returns an empty dictionary once Muster has the result, or `error`.
func over(match_id: String, result := {}) -> Dictionary:
	var input := {"do": "over", "match": match_id}
	if not result.is_empty():
		input["result"] = result.duplicate(true)
	return await _ask(input)


# Requests more players, or stops requesting them. `teams`: number of players by team. Without it: one player for each
# one who has left.
func seats(match_id: String, is_open: bool, teams := {}) -> void:
	var input := {"do": "seats", "match": match_id, "open": is_open, "command": 0}
	if not teams.is_empty():
		input["teams"] = teams
	_driver.put(input)


# Admits the player who sent this token. The result has `player`, or `refused` with a reason such as `expired` or
# `used`. Waits up to 2 s for a seat that Muster has just assigned.
func admit(token: String) -> Dictionary:
	return await _ask({"do": "admit", "token": token})


# Reports that a player has left or never came. Their seat becomes free at once, or after so many milliseconds.
func left(player_id: String, may_return_ms := 0) -> void:
	_driver.put({"do": "left", "player": player_id, "mayReturnMs": may_return_ms})


# Sets the server's health. After three reports in a row with `false`, the server is drained and replaced.
func healthy(is_healthy: bool) -> void:
	_driver.put({"do": "healthy", "isHealthy": is_healthy})


# Accepts no more matches.
func drain(reason := "own wish") -> void:
	_driver.put({"do": "drain", "reason": reason})


# Drains and stops the server. Call it when the process gets a signal.
func stop(reason: String) -> void:
	_driver.put({"do": "stop", "reason": reason})


# Reports that everything is saved, in response to `stop_requested`.
func stopped() -> void:
	_driver.put({"do": "stopped"})


# Returns true if a datagram on the game's socket is a knock of Muster. Such a datagram is not for the game. Call it
# for each datagram if the key of the pool has `knock` by UDP: docs/own-machines.md.
func knocked(datagram: PackedByteArray) -> bool:
	if datagram.size() != KNOCK_BYTES:
		return false
	var text := datagram.get_string_from_ascii()
	if not text.begins_with("muster-knock-"):
		return false
	_driver.put({"do": "knock", "text": text})
	return true


# Returns true if the server enrols. A server that Muster has started has a token instead.
func _enrols() -> bool:
	return OS.get_environment("MUSTER_SERVER_TOKEN") == "" and OS.get_environment("MUSTER_ENROL_KEY") != ""


# Acts for players while `muster verify-server` tests the server (docs/game-server.md, Verify it). Runs the verifier's
# commands one after another.
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


# Returns the machine and the slot: MUSTER_SERVER_NAME, or else the host name and the first port (or the process id).
# Godot does not know its host's name. On Linux it is read from /proc.
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


# Returns the variables of the process, one NAME=value per line. Empty if there is no /proc.
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
