# The functions that the machines need from Godot 3, for tests.


func random():
	return 0.5


func encode(text):
	return text.percent_encode()


func from_base64(text):
	return Marshalls.base64_to_raw(text)


func parse(bytes):
	var read = JSON.parse(bytes.get_string_from_utf8())
	return read.result if read.error == OK else null


func parse_text(text):
	return parse(text.to_utf8())


func json_bytes(value):
	return to_json(value).to_utf8().size()


# Godot 3.2 has no HMAC. The key has at most 64 bytes.
func hmac_sha256(key, text):
	var inner = PoolByteArray()
	var outer = PoolByteArray()
	for nth in range(64):
		var one = key[nth] if nth < key.size() else 0
		inner.append(one ^ 0x36)
		outer.append(one ^ 0x5c)
	inner.append_array(text.to_utf8())
	outer.append_array(_sha256(inner))
	return _sha256(outer)


func _sha256(bytes):
	var hashing = HashingContext.new()
	hashing.start(HashingContext.HASH_SHA256)
	hashing.update(bytes)
	return hashing.finish()
