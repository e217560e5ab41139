# Finds a match for a player, for Godot 4: the autoload `Muster`. It sends nothing before the first command.
#
#	Muster.setup("https://play.example.com/matchmaking", func(): return token)
#	var played := await Muster.play("duel")
#	if not played.has("error"): connect_to(Muster.state.assignment.ports.game.link)
#
# A command returns an empty dictionary once it is done, or a dictionary with `error`, `status`, `code` and `message`.
extends Node

# Emitted with a dictionary that has `phase` (`idle`, `gathering`, `searching`, `found`, `assigned` or `ended`) and
# the fields of that phase.
signal changed(state: Dictionary)
signal _settled(command: int, outcome: Dictionary)

const MACHINE := preload("machine.gd")
const PLATFORM := preload("platform.gd")
const DRIVER := preload("driver.gd")

var state := {"phase": "idle"}
var _driver: Node
var _commands := 0
# Numbers of the commands without an outcome yet.
var _pending := {}


# `token`: returns the player's token. Called before each request. Calling `setup` again changes the player: the
# earlier player's commands end with the error `closed`.
func setup(url: String, token: Callable) -> void:
	if _driver != null:
		_driver.told.disconnect(_on_told)
		_driver.queue_free()
	_driver = DRIVER.new()
	_driver.machine = MACHINE.new(PLATFORM.new())
	_driver.url = url
	_driver.token = token
	_driver.told.connect(_on_told)
	add_child(_driver)
	var left: Array = _pending.keys()
	if state.phase != "idle":
		state = {"phase": "idle"}
		changed.emit(state)
	for command: int in left:
		_settled.emit(command, {"error": {"status": 0, "code": "closed", "message": "The client was closed."}})


# Continues with the player's ticket, group or match, even one from another device. Call it when the game starts.
func resume() -> Dictionary:
	return await _command({"do": "resume"})


# Searches for a match, or continues with the player's present ticket, group or match. Returns once there is a server.
# `more`: `attributes`, `roles`, `profiles`.
func play(profile: String, more := {}) -> Dictionary:
	return await _command({"do": "play", "request": _request(profile, more)})


func accept() -> Dictionary:
	return await _command({"do": "accept"})


func decline() -> Dictionary:
	return await _command({"do": "decline"})


# Leaves the queue or the group. Fails if a server was assigned meanwhile.
func cancel() -> Dictionary:
	return await _command({"do": "cancel"})


# Creates a group, which others join by `state.group.id`.
func create_group(profile: String, more := {}) -> Dictionary:
	return await _command({"do": "group", "request": _request(profile, more)})


func join_group(group_id: String, profile: String, more := {}) -> Dictionary:
	return await _command({"do": "group", "request": _request(profile, more), "join": group_id})


# The search begins once all members are ready.
func set_ready(is_ready := true) -> Dictionary:
	return await _command({"do": "ready", "isReady": is_ready})


func _request(profile: String, more: Dictionary) -> Dictionary:
	var request := more.duplicate()
	request["profile"] = profile
	return request


func _command(input: Dictionary) -> Dictionary:
	_commands += 1
	var command := _commands
	input["command"] = command
	_pending[command] = true
	_driver.put(input)
	while true:
		var told: Array = await _settled
		if told[0] == command:
			_pending.erase(command)
			return told[1]
	return {}


func _on_told(output: Dictionary) -> void:
	if output.has("state"):
		state = output.state
		changed.emit(state)
	elif output.has("done"):
		_settled.emit(int(output.done), {})
	else:
		_settled.emit(int(output.failed), {"error": output.refusal})
