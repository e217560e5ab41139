# Sends the requests of a machine in Godot 4, with HTTPRequest. Everything happens in `_process`.
extends Node

# Emitted for each output that is neither a request nor a wake-up time.
signal told(output: Dictionary)

const PLATFORM := preload("platform.gd")
# Milliseconds until a response counts as lost, in addition to the time for which Muster may hold it.
const ANSWER_MS := 10000.0
const METHODS := {
	"GET": HTTPClient.METHOD_GET,
	"POST": HTTPClient.METHOD_POST,
	"PUT": HTTPClient.METHOD_PUT,
	"PATCH": HTTPClient.METHOD_PATCH,
	"DELETE": HTTPClient.METHOD_DELETE,
}

var machine: Variant
var url := ""
# Returns the token. Called before each request.
var token := Callable()
# Whether a response without JSON keeps its status. A server reports a proxy on the way as a problem, while a client
# repeats the request.
var keeps_status := false
# Whether the machine gets an input when the computer's wall clock was set.
var tells_clock := false
var _told_ahead_ms := 0.0
var _inputs: Array[Dictionary] = []
var _under_way := {}
var _wake_at := -1.0
# Epoch milliseconds at the start of the engine, to which a monotonic time is added. So setting the computer's clock
# changes no wait. Times in tokens are compared with Muster's clock, whose time is in Muster's responses.
var _began := Time.get_unix_time_from_system() * 1000.0 - Time.get_ticks_msec()


func _init() -> void:
	process_mode = Node.PROCESS_MODE_ALWAYS


func put(input: Dictionary) -> void:
	_inputs.append(input)


# Tells the machine how far the computer's wall clock is ahead of that time, because it was set or the computer slept.
func _tell_clock(now: float) -> void:
	var ahead := Time.get_unix_time_from_system() * 1000.0 - now
	if abs(ahead - _told_ahead_ms) >= 1000.0:
		_told_ahead_ms = ahead
		put({"do": "clock", "aheadMs": ahead})


func _process(_delta: float) -> void:
	var now := _began + Time.get_ticks_msec()
	if tells_clock:
		_tell_clock(now)
	if _wake_at >= 0.0 and _wake_at <= now:
		# Handle the wake-up first, because a response may change the time of the next one.
		_inputs.push_front({"wake": true})
	# A listener may issue a command, or free this node.
	while not _inputs.is_empty() and not is_queued_for_deletion():
		for output: Dictionary in machine.step(_inputs.pop_front(), now):
			if not is_queued_for_deletion():
				_carry_out(output)


func _carry_out(output: Dictionary) -> void:
	if output.has("request"):
		_send(output)
	elif output.has("abort"):
		var request: HTTPRequest = _under_way.get(output.abort)
		if request != null:
			_under_way.erase(output.abort)
			request.cancel_request()
			request.queue_free()
	elif output.has("wakeAt"):
		_wake_at = -1.0 if output.wakeAt == null else float(output.wakeAt)
	else:
		told.emit(output)


func _send(output: Dictionary) -> void:
	var request := HTTPRequest.new()
	request.timeout = (output.waitMs + ANSWER_MS) / 1000.0
	# Godot would send the token to the target of a redirect, even at another host.
	request.max_redirects = 0
	add_child(request)
	_under_way[output.request] = request
	var headers := PackedStringArray()
	# A machine with its own token sends it instead of the player's.
	var secret: Variant = output.token if output.has("token") else token.call() if token.is_valid() else null
	# Without a token yet, the request fails, and is repeated later.
	if secret is String and secret != "":
		headers.append("Authorization: Bearer " + secret)
	var body := ""
	if output.has("body"):
		headers.append("Content-Type: application/json")
		body = JSON.stringify(output.body)
	elif output.method == "POST":
		# Godot omits Content-Length, and proxies may refuse such a request.
		headers.append("Content-Length: 0")
	request.request_completed.connect(_on_completed.bind(output.request))
	var path: String = output.path
	if request.request(url.rstrip("/") + path, headers, METHODS[output.method], body) != OK:
		_on_completed(HTTPRequest.RESULT_CANT_CONNECT, 0, PackedStringArray(), PackedByteArray(), output.request)


func _on_completed(
	result: int, status: int, headers: PackedStringArray, bytes: PackedByteArray, number: int
) -> void:
	if not _under_way.has(number):
		return
	_under_way[number].queue_free()
	_under_way.erase(number)
	var is_answered := result == HTTPRequest.RESULT_SUCCESS or result == HTTPRequest.RESULT_REDIRECT_LIMIT_REACHED
	var answer := {"answer": number, "status": status if is_answered else 0}
	var body: Variant = PLATFORM.new().parse(bytes)
	if body is Dictionary or body is Array:
		answer["body"] = body
	elif not keeps_status and status != 204 and status != 401:
		answer["status"] = 0
	for header in headers:
		var value := header.substr(header.find(":") + 1).strip_edges()
		if header.to_lower().begins_with("retry-after:") and value.to_float() > 0.0:
			answer["retryAfterMs"] = value.to_float() * 1000.0
		elif header.to_lower().begins_with("date:"):
			answer["date"] = value
	put(answer)
