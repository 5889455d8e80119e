"""The part of the user terminal's public protocol that a dish answers, as messages of protobuf.

Names and numbers are those that user terminals tell by server reflection, as published in
https://github.com/clarkzjw/starlink-grpc-golang (`proto/spacex_api/device`, version 2026.06.12). Only the
fields that are served are here, and all of `DishAlerts` and `DishOutage.Cause`, whose names clients list.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "SpaceX.API.Device"
SERVICE = f"{PACKAGE}.Device"
_FILE = "leobench/dish.proto"

# By name of a message: its fields, each with type and number. A star stands for several values.
_MESSAGES: dict[str, dict[str, tuple[str, int]]] = {
    "GetStatusRequest": {},
    "GetHistoryRequest": {},
    "GetDeviceInfoRequest": {},
    "DishGetObstructionMapRequest": {},
    "Request": {
        "id": ("uint64", 1),
        "get_status": ("GetStatusRequest", 1004),
        "get_history": ("GetHistoryRequest", 1007),
        "get_device_info": ("GetDeviceInfoRequest", 1008),
        "dish_get_obstruction_map": ("DishGetObstructionMapRequest", 2008),
    },
    "DeviceInfo": {
        "id": ("string", 1),
        "hardware_version": ("string", 2),
        "software_version": ("string", 3),
    },
    "DeviceState": {"uptime_s": ("uint64", 1)},
    "DishAlerts": {
        name: ("bool", number)
        for name, number in {
            "motors_stuck": 1,
            "thermal_shutdown": 2,
            "thermal_throttle": 3,
            "unexpected_location": 4,
            "mast_not_near_vertical": 5,
            "slow_ethernet_speeds": 6,
            "roaming": 7,
            "install_pending": 8,
            "is_heating": 9,
            "power_supply_thermal_throttle": 10,
            "is_power_save_idle": 11,
            "dbf_telem_stale": 14,
            "low_motor_current": 16,
            "lower_signal_than_predicted": 17,
            "slow_ethernet_speeds_100": 18,
            "obstruction_map_reset": 19,
            "dish_water_detected": 20,
            "router_water_detected": 21,
            "upsu_router_port_slow": 22,
            "no_ethernet_link": 23,
        }.items()
    },
    "DishOutage": {
        "cause": ("DishOutage.Cause", 1),
        "start_timestamp_ns": ("int64", 2),
        "duration_ns": ("uint64", 3),
        "did_switch": ("bool", 4),
    },
    "DishObstructionStats": {
        "fraction_obstructed": ("float", 1),
        "valid_s": ("float", 4),
        "patches_valid": ("uint32", 10),
    },
    "GetDeviceInfoResponse": {"device_info": ("DeviceInfo", 1)},
    "DishGetStatusResponse": {
        "device_info": ("DeviceInfo", 1),
        "device_state": ("DeviceState", 2),
        "seconds_to_first_nonempty_slot": ("float", 1002),
        "pop_ping_drop_rate": ("float", 1003),
        "obstruction_stats": ("DishObstructionStats", 1004),
        "alerts": ("DishAlerts", 1005),
        "downlink_throughput_bps": ("float", 1007),
        "uplink_throughput_bps": ("float", 1008),
        "pop_ping_latency_ms": ("float", 1009),
        "boresight_azimuth_deg": ("float", 1011),
        "boresight_elevation_deg": ("float", 1012),
        "outage": ("DishOutage", 1014),
    },
    "DishGetHistoryResponse": {
        "current": ("uint64", 1),
        "pop_ping_drop_rate": ("float*", 1001),
        "pop_ping_latency_ms": ("float*", 1002),
        "downlink_throughput_bps": ("float*", 1003),
        "uplink_throughput_bps": ("float*", 1004),
        "outages": ("DishOutage*", 1009),
    },
    "DishGetObstructionMapResponse": {
        "num_rows": ("uint32", 1),
        "num_cols": ("uint32", 2),
        "snr": ("float*", 3),
        "min_elevation_deg": ("float", 4),
        "max_theta_deg": ("float", 5),
        "map_reference_frame": ("ObstructionMapReferenceFrame", 6),
    },
    "Response": {
        "id": ("uint64", 1),
        "get_device_info": ("GetDeviceInfoResponse", 1004),
        "dish_get_status": ("DishGetStatusResponse", 2004),
        "dish_get_history": ("DishGetHistoryResponse", 2006),
        "dish_get_obstruction_map": ("DishGetObstructionMapResponse", 2008),
    },
}
# Messages of which one field that is itself a message is set, and the name of that choice.
_CHOICES = {"Request": "request", "Response": "response"}
_CAUSES = {
    "UNKNOWN": 0,
    "BOOTING": 1,
    "STOWED": 2,
    "THERMAL_SHUTDOWN": 3,
    "NO_SCHEDULE": 4,
    "NO_SATS": 5,
    "OBSTRUCTED": 6,
    "NO_DOWNLINK": 7,
    "NO_PINGS": 8,
    "ACTUATOR_ACTIVITY": 9,
    "CABLE_TEST": 10,
    "SLEEPING": 11,
    "SKY_SEARCH": 13,
    "INHIBIT_RF": 14,
}
_FRAMES = {"FRAME_UNKNOWN": 0, "FRAME_EARTH": 1, "FRAME_UT": 2}
_ENUMS = ("DishOutage.Cause", "ObstructionMapReferenceFrame")


class Protocol:
    """The classes of all messages, by name.

    Attributes:
        pool: What server reflection tells.
    """

    def __init__(self) -> None:
        self.pool = descriptor_pool.DescriptorPool()
        self.pool.AddSerializedFile(_file().SerializeToString())
        self._classes: dict[str, Any] = {
            name: message_factory.GetMessageClass(self.pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
            for name in _MESSAGES
        }

    def __getitem__(self, name: str) -> Any:
        return self._classes[name]


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name=_FILE, package=PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        if name in _CHOICES:
            message.oneof_decl.add(name=_CHOICES[name])
        for field, (kind, number) in fields.items():
            _add_field(message, field, kind, number)
        if name == "DishOutage":
            _add_values(message.enum_type.add(name="Cause"), _CAUSES)
    _add_values(file.enum_type.add(name="ObstructionMapReferenceFrame"), _FRAMES)
    service = file.service.add(name="Device")
    service.method.add(name="Handle", input_type=_full("Request"), output_type=_full("Response"))
    return file


def _add_field(message: descriptor_pb2.DescriptorProto, name: str, kind: str, number: int) -> None:
    known = descriptor_pb2.FieldDescriptorProto
    field = message.field.add(name=name, number=number, label=known.LABEL_OPTIONAL)
    if kind.endswith("*"):
        kind = kind.removesuffix("*")
        field.label = known.LABEL_REPEATED
    if kind in _MESSAGES:
        field.type, field.type_name = known.TYPE_MESSAGE, _full(kind)
        if message.name in _CHOICES:
            field.oneof_index = 0
    elif kind in _ENUMS:
        field.type, field.type_name = known.TYPE_ENUM, _full(kind)
    else:
        field.type = getattr(known, f"TYPE_{kind.upper()}")


def _add_values(enum: descriptor_pb2.EnumDescriptorProto, values: dict[str, int]) -> None:
    for name, number in values.items():
        enum.value.add(name=name, number=number)


def _full(name: str) -> str:
    return f".{PACKAGE}.{name}"
