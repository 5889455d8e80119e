"""The gRPC server of a dish, with server reflection."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import grpc
from grpc_reflection.v1alpha import reflection

from leobench.emulation.dish import protocol

if TYPE_CHECKING:
    from leobench.emulation.dish.answers import Answers

# Clients that are served at a time.
_WORKERS = 4


def serve(address: str, messages: protocol.Protocol, answers: Answers) -> grpc.Server:
    """Starts to serve.

    Raises:
        OSError: If the address cannot be had.
    """
    server = grpc.server(ThreadPoolExecutor(_WORKERS))
    method = grpc.unary_unary_rpc_method_handler(
        lambda request, context: _handled(request, context, messages, answers),
        request_deserializer=messages["Request"].FromString,
        response_serializer=messages["Response"].SerializeToString,
    )
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(protocol.SERVICE, {"Handle": method}),)
    )
    names = (protocol.SERVICE, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server, messages.pool)
    try:
        server.add_insecure_port(address)
    except RuntimeError as error:
        raise OSError(f"{address}: {error}") from None
    server.start()
    return server


def _handled(
    request: Any, context: grpc.ServicerContext, messages: protocol.Protocol, answers: Answers
) -> Any:
    """The response to a request."""
    response = messages["Response"](id=request.id)
    asked = request.WhichOneof("request")
    if asked == "get_status":
        response.dish_get_status.CopyFrom(answers.status())
    elif asked == "get_history":
        response.dish_get_history.CopyFrom(answers.history())
    elif asked == "get_device_info":
        response.get_device_info.device_info.CopyFrom(answers.device_info())
    elif asked == "dish_get_obstruction_map" and (known := answers.obstruction_map()) is not None:
        response.dish_get_obstruction_map.CopyFrom(known)
    else:
        served = (
            "get_status, get_history, get_device_info, dish_get_obstruction_map (of a terminal with a place)"
        )
        context.abort(grpc.StatusCode.UNIMPLEMENTED, f"leobench's dish answers {served}")
    return response
