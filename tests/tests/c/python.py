"""Reads and writes NNRP through a library made of the C header.

Takes the path of the library. Each line of standard input is the bytes of a session_open in hexadecimal; for each it
prints the values as JSON, or the sentence of the fault. Then it prints the bytes of a session_open of its own.
"""

import ctypes
import json
import sys


class SessionOpen(ctypes.Structure):
    _fields_ = [
        ("requested_session_id", ctypes.c_uint32),
        ("profile_id", ctypes.c_uint16),
        ("priority_class", ctypes.c_uint8),
        ("session_flags", ctypes.c_uint8),
        ("schema_id", ctypes.c_uint32),
        ("schema_version", ctypes.c_uint32),
        ("default_deadline_ms", ctypes.c_uint32),
        ("max_in_flight_operations", ctypes.c_uint16),
        ("lease_ttl_hint_ms", ctypes.c_uint32),
        ("resume_token_bytes", ctypes.c_uint32),
        ("auth_bytes", ctypes.c_uint32),
        ("session_extension_bytes", ctypes.c_uint32),
        ("client_session_tag", ctypes.c_uint64),
    ]


class Fault(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int),
        ("layout", ctypes.c_uint32),
        ("field", ctypes.c_uint32),
        ("rule", ctypes.c_uint32),
        ("offset", ctypes.c_uint32),
        ("code", ctypes.c_uint32),
        ("ends_stream", ctypes.c_bool),
        ("reason", ctypes.c_char_p),
    ]


nnrp = ctypes.CDLL(sys.argv[1])
nnrp.decode_session_open.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
nnrp.encode_session_open.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p]
nnrp.fault_text.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
nnrp.fault_text.restype = ctypes.c_size_t


def sentence(fault):
    text = ctypes.create_string_buffer(256)
    nnrp.fault_text(ctypes.byref(fault), text, len(text))
    return text.value.decode()


def decode(data):
    value, fault = SessionOpen(), Fault()
    if nnrp.decode_session_open(data, len(data), ctypes.byref(value), ctypes.byref(fault)) != 0:
        raise ValueError(sentence(fault))
    return value


def encode(value):
    data, fault = ctypes.create_string_buffer(48), Fault()
    if nnrp.encode_session_open(ctypes.byref(value), data, len(data), ctypes.byref(fault)) != 0:
        raise ValueError(sentence(fault))
    return data.raw


for line in sys.stdin:
    try:
        value = decode(bytes.fromhex(line))
        print(json.dumps({name: getattr(value, name) for name, _ in SessionOpen._fields_}))
    except ValueError as problem:
        print(problem)

value = SessionOpen(requested_session_id=7, priority_class=2, schema_id=9, schema_version=1, client_session_tag=2**63)
print(encode(value).hex())
value.priority_class = 9
try:
    encode(value)
except ValueError as problem:
    print(problem)
