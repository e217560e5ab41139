# Verifies join tokens (docs/servers.md, Who connects?) that are signed with HS256. This file works with Godot 3 and
# 4.

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
const SHAPES = preload("shapes.gd")
const SENTENCES = {
	"malformed": "Not a valid join token.",
	"forged": "The join token was signed by another key.",
	"expired": "The join token has expired. Get a new one with GET /me.",
	"other-server": "The join token is for another server.",
	"other-match": "The join token is for a match or a seat that this server does not have.",
	"used": "The join token was used before. Get a new one with GET /me.",
}

# Has `hmac_sha256(key, text)` and `from_base64(text)`, both with bytes, and `parse(bytes)`, which returns null if the
# bytes are not JSON.
var _platform
var _alg
var _key
# Id of the server, which is the audience of its tokens.
var _server


# `registered`: the response to `POST /servers`.
func _init(platform, registered):
	_platform = platform
	_alg = registered.alg
	_key = _bytes(registered.key)
	_server = registered.id


# Verifies a token with the server's algorithm, whatever the token's header says. `EdDSA` tokens are refused. `now`:
# epoch milliseconds by Muster's clock. The result has `claims`, or `refused` with the reason.
func read(token, now):
	var parts = token.split(".")
	if parts.size() != 3 or token.length() > 2048:
		return {"refused": "malformed"}
	for part in parts:
		if not _is_base64url(part):
			return {"refused": "malformed"}
	var header = _platform.parse(_bytes(parts[0]))
	# Comparing values of different types would be a script error.
	if not header is Dictionary or not header.get("alg") is String or header.alg != _alg:
		return {"refused": "malformed"}
	var wanted = _platform.hmac_sha256(_key, parts[0] + "." + parts[1])
	if _alg != "HS256" or not _same_bytes(wanted, _bytes(parts[2])):
		return {"refused": "forged"}
	var claims = _platform.parse(_bytes(parts[1]))
	if not SHAPES.fits("claims", claims):
		return {"refused": "malformed"}
	if claims.aud != _server:
		return {"refused": "other-server"}
	if claims.exp * 1000 <= now:
		return {"refused": "expired"}
	return {"claims": claims}


static func _is_base64url(text):
	for one in text:
		if not one in LETTERS:
			return false
	return text != "" and text.length() % 4 != 1


func _bytes(text):
	var padded = text.replace("-", "+").replace("_", "/")
	while padded.length() % 4 != 0:
		padded += "="
	return _platform.from_base64(padded)


# Takes the same time wherever the bytes differ.
static func _same_bytes(one, other):
	if one.size() != other.size():
		return false
	var difference = 0
	for nth in range(one.size()):
		difference = difference | (one[nth] ^ other[nth])
	return difference == 0
