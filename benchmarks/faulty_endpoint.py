"""A chat-completions endpoint that plays faults, each drawn from a seed, and remembers what it played.

`python benchmarks/faulty_endpoint.py SEED` prints its port. A prompt is `Case RUN/NUMBER?`. `GET /RUN` tells what
was played in a run: case → one word a call: `right` and `wrong` for whole answers, `again` for what may be tried
again, `broken` for what may not.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import socket
import struct
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

TIMEOUT_S = 4.0  # of the client
RIGHT, WRONG = "The answer is yes.", "The answer is no."


@dataclass
class Call:
    """One request, and what its answer goes out by."""

    writer: asyncio.StreamWriter
    chance: random.Random

    async def reply(self, body: bytes, status: int = 200, headers: str = "") -> None:
        """A whole answer."""
        length = f"Content-Length: {len(body)}\r\n"
        self.writer.write(f"HTTP/1.1 {status} X\r\n{length}{headers}\r\n".encode() + body)
        await self.writer.drain()

    def reset(self) -> None:
        """Ends the connection with RST."""
        connection = self.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


def completion(text: str | None) -> bytes:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return json.dumps(
        {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage}
    ).encode()


async def right(call: Call) -> None:
    await call.reply(completion(RIGHT))


async def right_packed(call: Call) -> None:
    await call.reply(gzip.compress(completion(RIGHT)), headers="Content-Encoding: gzip\r\n")


async def right_large(call: Call) -> None:
    await call.reply(completion(RIGHT + " " * 3_000_000))


async def right_slow(call: Call) -> None:
    """In pieces, and in time."""
    body = completion(RIGHT)
    call.writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode())
    for start in range(0, len(body), 100):
        await asyncio.sleep(0.1)
        call.writer.write(body[start : start + 100])
        await call.writer.drain()


async def right_and_gone(call: Call) -> None:
    """The connection seems to be kept, and is not."""
    await call.reply(completion(RIGHT))
    call.writer.close()


async def wrong(call: Call) -> None:
    await call.reply(completion(call.chance.choice([WRONG, "", "\n", "\0", "\ud800", "😀" * 1000])))


async def reset(call: Call) -> None:
    call.reset()


async def reset_within(call: Call) -> None:
    call.writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + completion(RIGHT)[:50])
    await call.writer.drain()
    await asyncio.sleep(0.05)
    call.reset()


async def closed(call: Call) -> None:
    call.writer.close()


async def half(call: Call) -> None:
    body = completion(RIGHT)
    call.writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body[: len(body) // 2])
    await call.writer.drain()
    call.writer.close()


async def half_chunked(call: Call) -> None:
    body = completion(RIGHT)
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    call.writer.write(head + f"{len(body):x}\r\n".encode() + body + b"\r\n")
    await call.writer.drain()
    call.writer.close()


async def half_without_length(call: Call) -> None:
    """Nobody can tell that something is missing."""
    call.writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + completion(RIGHT)[:100])
    await call.writer.drain()
    call.writer.close()


async def no_http(call: Call) -> None:
    call.writer.write(
        call.chance.choice([b"\0" * 100, b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n"])
    )
    await call.writer.drain()
    call.writer.close()


async def dripping(call: Call) -> None:
    """A byte now and then, for ever: every read is in time."""
    status = call.chance.choice(["200 OK", "500 X"])
    call.writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 100000\r\n\r\n".encode())
    for byte in completion(RIGHT) * 100:
        await asyncio.sleep(0.5)
        call.writer.write(bytes([byte]))
        await call.writer.drain()


async def dripping_head(call: Call) -> None:
    call.writer.write(b"HTTP/1.1 200 OK\r\n")
    while not call.writer.is_closing():
        await asyncio.sleep(0.5)
        call.writer.write(b"X-More: 1\r\n")
        await call.writer.drain()


async def silent(_: Call) -> None:
    await asyncio.sleep(3600)


async def late(call: Call) -> None:
    """The right answer, when nobody waits for it any more."""
    await asyncio.sleep(TIMEOUT_S + call.chance.uniform(0.5, 3.0))
    await call.reply(completion(RIGHT))


async def unwell(call: Call) -> None:
    status = call.chance.choice([408, 409, 500, 502, 503, 504, 529])
    body = call.chance.choice([b"", b"<html>", b'{"error": {"message": "busy"}}', b'{"error": 5}', b"[" * 100_000])
    await call.reply(body, status, call.chance.choice(["", "Retry-After: 0\r\n", "Retry-After: soon\r\n"]))


async def limited(call: Call) -> None:
    wait = call.chance.choice(["", "Retry-After: 0\r\n", "Retry-After: 1\r\n", "Retry-After: -5\r\n"])
    await call.reply(b'{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}', 429, wait)


async def large_error(call: Call) -> None:
    await call.reply(b"x" * call.chance.randint(20_000_000, 40_000_000), 500)


async def refused(call: Call) -> None:
    await call.reply(b'{"error": {"message": "no"}}', call.chance.choice([400, 404, 413, 422]))


async def no_json(call: Call) -> None:
    whole = completion(RIGHT)
    await call.reply(
        call.chance.choice([b"", b"yes", b"<html>", whole[:-1], whole * 2, b"\xff\xfe", b"[" * 100_000])
    )


async def another_shape(call: Call) -> None:
    shapes: list[object] = [
        *(None, True, 5, "yes", [], {}, {"error": {"message": "no"}}, {"choices": None}, {"choices": []}),
        *({"choices": {}}, {"choices": ["yes"]}, {"choices": [{}]}, {"choices": [{"message": "yes"}]}),
        *({"choices": [{"message": {"content": content}}]} for content in (None, 5, ["yes"], {"text": "yes"})),
        {"choices": [{"message": {"content": "yes", "tool_calls": "search"}}]},
        {"choices": [{"message": {"content": "yes", "tool_calls": [{"id": 1, "function": None}]}}]},
        {"choices": [{"message": {"content": "yes"}}], "model": ["m"]},
    ]
    await call.reply(json.dumps(call.chance.choice(shapes)).encode())


async def huge(call: Call) -> None:
    """Right, and larger than anybody reads."""
    body = completion(RIGHT + " " * call.chance.randint(20_000_000, 40_000_000))
    packed = call.chance.random() < 0.5
    await call.reply(gzip.compress(body, 1) if packed else body, headers="Content-Encoding: gzip\r\n" * packed)


PLAYED: dict[str, list[tuple[int, Callable[[Call], Awaitable[None]]]]] = {
    "right": [(40, right), (2, right_packed), (1, right_large), (3, right_slow), (4, right_and_gone)],
    "wrong": [(10, wrong)],
    "again": [
        *((2, reset), (2, reset_within), (2, closed), (2, half), (2, half_chunked), (2, no_http)),
        *(
            (1, dripping),
            (1, dripping_head),
            (1, silent),
            (1, late),
            (6, unwell),
            (5, limited),
            (0.3, large_error),
        ),
    ],
    "broken": [(2, refused), (4, no_json), (4, another_shape), (1, half_without_length), (0.5, huge)],
}
ACTS = [(weight, word, act) for word, acts in PLAYED.items() for weight, act in acts]


class Endpoint:
    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._ledger: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
                body = await reader.readexactly(int(length or 0))
                if head.startswith(b"GET /"):
                    run = head[5:].split(b" ")[0].decode()
                    await Call(writer, random.Random()).reply(json.dumps(self._ledger.pop(run, {})).encode())
                else:
                    await self._play(json.loads(body)["messages"][-1]["content"], writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _play(self, prompt: str, writer: asyncio.StreamWriter) -> None:
        case = prompt.removeprefix("Case ").removesuffix("?")
        calls = self._ledger[case.partition("/")[0]][case]
        chance = random.Random(f"{self._seed} {case} {len(calls)}")
        [(_, word, act)] = chance.choices(ACTS, [weight for weight, _, _ in ACTS])
        calls.append(f"{word} {act.__name__}")
        await act(Call(writer, chance))


async def main() -> None:
    server = await asyncio.start_server(Endpoint(sys.argv[1]).connected, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
